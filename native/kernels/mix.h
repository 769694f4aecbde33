// The weighted sum of one tile of values:
//
//   o[i][c] = o[i][c] * decay[i] + sum over j of p[j][i] * v[j][c]       i < queries, c < width
//
// Order: kMixColumns registers of value columns outermost (the tile of p and that strip of v fit
// the L1 cache together), then panels of 6 queries, then the keys. The sum of a tile starts from
// zero in registers, so the rounding error grows with the number of tiles and not of keys. p is
// read transposed as softmax left it, one number to all lanes; v as it lies.
//
// mix_selected is for tiles with a NaN or Inf in a value while some queries may not look at its
// key: 0 * NaN is NaN, so such pairs are left out instead. Adding 0 * v changes no bit of a sum
// that starts from +0: both give the same output where all values are finite.
#pragma once

#include "kernels/scores.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T, int R, int C>
void mix_panel(const T* p, const T* v, int64_t stride, int64_t keys, const T* decay, bool first,
               T* o, int64_t width) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    typename V::Reg sum[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) sum[r][c] = V::zero();
    for (int64_t j = 0; j < keys; ++j) {
        typename V::Reg lanes[C];
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) lanes[c] = V::load(v + j * stride + c * L);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const auto weight = V::all(p[j * kRowsPerBlock + r]);
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) sum[r][c] = V::fma(weight, lanes[c], sum[r][c]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
        const auto factor = V::all(decay[r]);
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) {
            T* to = o + r * width + c * L;
            V::store(to, first ? sum[r][c] : V::fma(V::load(to), factor, sum[r][c]));
        }
    }
}

template <class T, int C>
void mix_columns(const T* p, const T* v, int64_t stride, int64_t keys, const T* decay, bool first,
                 T* o, int64_t width, int64_t queries) {
    for (int64_t i = 0; i < queries;) {
        const int rows = panel_rows(queries - i);
        T* to = o + i * width;
        switch (rows) {
            case 6:
                mix_panel<T, 6, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
            case 5:
                mix_panel<T, 5, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
            case 4:
                mix_panel<T, 4, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
            case 3:
                mix_panel<T, 3, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
            case 2:
                mix_panel<T, 2, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
            default:
                mix_panel<T, 1, C>(p + i, v, stride, keys, decay + i, first, to, width);
                break;
        }
        i += rows;
    }
}

// `width`: columns of o, a whole number of registers; v has as many.
template <class T>
void mix_tile(const T* p, const T* v, int64_t stride, int64_t keys, const T* decay, bool first,
              T* o, int64_t width, int64_t queries) {
    using V = Vec<T>;
    constexpr int L = V::kLanes, C = V::kMixColumns;
    for (int64_t c = 0; c < width;) {
        const int64_t left = (width - c) / L;
        if (left >= C) {
            mix_columns<T, C>(p, v + c, stride, keys, decay, first, o + c, width, queries);
            c += C * L;
        } else if (C > 3 && left == 3) {
            mix_columns<T, (C > 3 ? 3 : 1)>(p, v + c, stride, keys, decay, first, o + c, width,
                                            queries);
            c += 3 * L;
        } else if (C > 2 && left == 2) {
            mix_columns<T, (C > 2 ? 2 : 1)>(p, v + c, stride, keys, decay, first, o + c, width,
                                            queries);
            c += 2 * L;
        } else {
            mix_columns<T, 1>(p, v + c, stride, keys, decay, first, o + c, width, queries);
            c += L;
        }
    }
}

template <class T>
bool all_finite(const T* v, int64_t stride, int64_t keys, int64_t width) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    auto even = V::zero(), odd = V::zero();
    for (int64_t j = 0; j < keys; ++j) {
        int64_t c = 0;
        for (; c + 2 * L <= width; c += 2 * L) {  // 0 * NaN and 0 * Inf are NaN, and NaN stays
            even = V::fma(V::load(v + j * stride + c), V::zero(), even);
            odd = V::fma(V::load(v + j * stride + c + L), V::zero(), odd);
        }
        if (c < width) even = V::fma(V::load(v + j * stride + c), V::zero(), even);
    }
    return V::sum(V::add(even, odd)) == T(0);
}

// visible[j][i]: whether query i may look at key j.
template <class T>
void mix_selected(const T* p, const uint8_t* visible, const T* v, int64_t stride, int64_t keys,
                  const T* decay, bool first, T* o, int64_t width, int64_t queries) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    for (int64_t i = 0; i < queries; ++i) {
        for (int64_t c = 0; c < width; c += L) {
            auto sum = V::zero();
            for (int64_t j = 0; j < keys; ++j)
                if (visible[j * kRowsPerBlock + i])
                    sum =
                        V::fma(V::all(p[j * kRowsPerBlock + i]), V::load(v + j * stride + c), sum);
            T* to = o + i * width + c;
            V::store(to, first ? sum : V::fma(V::load(to), V::all(decay[i]), sum));
        }
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
