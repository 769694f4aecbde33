// The weighted sum of one tile of values:
//
//   o[i][c] = o[i][c] * decay[i] + sum over j of p[j][i] * v[j][c]       i < queries, c < width
//
// j counts steps: keys, or pairs of keys (products.h, values.h).
//
// Order: kMixColumns registers of value columns outermost (the tile of p and that strip of v fit
// the L1 cache together), then panels of 6 queries, then the keys. The sum of a tile starts from
// zero in registers, so the rounding error grows with the number of tiles and not of keys. p is
// read transposed as softmax left it, one number to all lanes; v as it lies.
//
// Of a tile that is partly hidden each panel takes the keys that one of its queries reaches: p is 0
// at all others, and no bit of a sum that starts from +0 changes by adding 0 * v.
//
// mix_selected is for tiles with a NaN or Inf in a value while some queries may not look at its
// key: 0 * NaN is NaN, so such pairs are left out instead. Both give the same output where all
// values are finite.
#pragma once

#include "kernels/scores.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P, int R, int C, class T = typename P::Sum>
void mix_panel(const T* p, const typename P::Entry* v, int64_t stride, int64_t steps,
               const T* decay, bool first, T* o, int64_t width) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    typename V::Reg sum[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) sum[r][c] = V::zero();
    for (int64_t j = 0; j < steps; ++j) {
        typename V::Reg lanes[C];
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) lanes[c] = P::load(v + j * stride + c * L * P::kStep);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const auto weight = V::all(p[j * kRowsPerBlock + r]);
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) sum[r][c] = P::step(weight, lanes[c], sum[r][c]);
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

// The bands of the queries of a tile that begins at key `begin`.
struct Reached {
    const int64_t *low, *high;
    int64_t begin;

    // The steps, of `steps`, that hold the keys of queries [i, i + rows).
    template <int kStep>
    CLEARHEAD_INLINE void cut(int64_t i, int rows, int64_t steps, int64_t* from,
                              int64_t* to) const {
        int64_t least = low[i], most = high[i];
        for (int64_t k = i + 1; k < i + rows; ++k) {
            least = smaller(least, low[k]);
            most = larger(most, high[k]);
        }
        *from = smaller(steps, larger(0, least - begin) / kStep);
        *to = smaller(steps, larger(*from, (most - begin + kStep) / kStep));
    }
};

template <class P, int C, class T = typename P::Sum>
void mix_columns(const T* weights, const typename P::Entry* values, int64_t stride, int64_t all,
                 const T* decay, bool first, T* o, int64_t width, int64_t queries,
                 const Reached* reached) {
    for (int64_t i = 0; i < queries;) {
        const int rows = panel_rows(queries - i);
        T* to = o + i * width;
        int64_t from = 0, end = all;
        if (reached) reached->cut<P::kStep>(i, rows, all, &from, &end);
        const T* p = weights + from * kRowsPerBlock;
        const auto* v = values + from * stride;
        const int64_t steps = end - from;
        switch (rows) {
            case 6:
                mix_panel<P, 6, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
            case 5:
                mix_panel<P, 5, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
            case 4:
                mix_panel<P, 4, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
            case 3:
                mix_panel<P, 3, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
            case 2:
                mix_panel<P, 2, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
            default:
                mix_panel<P, 1, C>(p + i, v, stride, steps, decay + i, first, to, width);
                break;
        }
        i += rows;
    }
}

// `width`: columns of o, a whole number of registers; v has as many. `reached`: nullptr where every
// query may look at every key.
template <InRegisters P, class T = typename P::Sum>
void mix_tile(const T* p, const typename P::Entry* v, int64_t stride, int64_t keys, const T* decay,
              bool first, T* o, int64_t width, int64_t queries, const Reached* reached) {
    constexpr int L = Vec<T>::kLanes, C = Vec<T>::kMixColumns;
    const int64_t steps = (keys + P::kStep - 1) / P::kStep;
    for (int64_t c = 0; c < width;) {
        const int64_t left = (width - c) / L;
        const auto* from = v + c * P::kStep;
        if (C > 3 && (left == 3 || left == 5)) {  // 5 = 3 + 2: a single one waits for its own sums
            mix_columns<P, (C > 3 ? 3 : 1)>(p, from, stride, steps, decay, first, o + c, width,
                                            queries, reached);
            c += 3 * L;
        } else if (left >= C) {
            mix_columns<P, C>(p, from, stride, steps, decay, first, o + c, width, queries, reached);
            c += C * L;
        } else if (C > 2 && left == 2) {
            mix_columns<P, (C > 2 ? 2 : 1)>(p, from, stride, steps, decay, first, o + c, width,
                                            queries, reached);
            c += 2 * L;
        } else {
            mix_columns<P, 1>(p, from, stride, steps, decay, first, o + c, width, queries, reached);
            c += L;
        }
    }
}

template <class P>
bool all_finite(const typename P::Entry* v, int64_t stride, int64_t keys, int64_t width) {
    using V = Vec<typename P::Sum>;
    constexpr int L = V::kLanes;
    const int64_t steps = (keys + P::kStep - 1) / P::kStep;
    const auto zero = V::zero();
    auto even = zero, odd = zero;
    for (int64_t j = 0; j < steps; ++j) {
        const auto* row = v + j * stride;
        int64_t c = 0;
        for (; c + 2 * L <= width; c += 2 * L) {  // 0 * NaN and 0 * Inf are NaN, and NaN stays
            even = P::step(P::load(row + c * P::kStep), zero, even);
            odd = P::step(P::load(row + (c + L) * P::kStep), zero, odd);
        }
        if (c < width) even = P::step(P::load(row + c * P::kStep), zero, even);
    }
    return V::sum(V::add(even, odd)) == 0;
}

// One register of values for a step of which not all keys may be seen: 0 for those that may not.
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg seen_part(Singles<T>, const T* v, const uint8_t*, int64_t) {
    return Vec<T>::load(v);
}
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg seen_part(Pairs<T>, const uint16_t* v, const uint8_t* may,
                                                int64_t keys) {
    uint16_t part[2 * Vec<T>::kLanes];
    const bool low = may[0], high = keys > 1 && may[kRowsPerBlock];
    for (int i = 0; i < Vec<T>::kLanes; ++i) {
        part[2 * i] = low ? v[2 * i] : uint16_t(0);
        part[2 * i + 1] = high ? v[2 * i + 1] : uint16_t(0);
    }
    return Pairs<T>::load(part);
}

// visible[j][i]: whether query i may look at key j.
template <InRegisters P, class T = typename P::Sum>
void mix_selected(const T* p, const uint8_t* visible, const typename P::Entry* v, int64_t stride,
                  int64_t keys, const T* decay, bool first, T* o, int64_t width, int64_t queries) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    for (int64_t i = 0; i < queries; ++i) {
        for (int64_t c = 0; c < width; c += L) {
            auto sum = V::zero();
            for (int64_t j = 0; j < keys; j += P::kStep) {
                const uint8_t* may = visible + j * kRowsPerBlock + i;
                if (!may[0] && (P::kStep == 1 || j + 1 == keys || !may[kRowsPerBlock])) continue;
                const int64_t step = j / P::kStep;
                const auto part = seen_part(P(), v + step * stride + c * P::kStep, may, keys - j);
                sum = P::step(V::all(p[step * kRowsPerBlock + i]), part, sum);
            }
            T* to = o + i * width + c;
            V::store(to, first ? sum : V::fma(V::load(to), V::all(decay[i]), sum));
        }
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
