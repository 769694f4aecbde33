// What may be added to the scores of one tile, in this order, before the mask:
//
//   s = softcap * tanh(s / softcap)
//   s = s + bias[i][j]
//   s = s - slope * |i + anchor - j|          (alibi)
//   s = s * log2 e                            from natural units to those of 2^x
//
// Order: one sweep over the tile (it is in the L1 cache) for each that is asked for. Without any of
// them the log2 e is in the transposed queries already, and the tile is not touched. A finite bias
// is only a bias: the sum is kept above -3.4e38 / log2 e, or the last step would make it -inf.
#pragma once

#include "kernels/mask.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

CLEARHEAD_INLINE bool edits_scores(const Request& r) {
    return r.softcap != 0 || r.bias.data || r.slopes;
}

// The factor that goes into the queries.
template <class T>
CLEARHEAD_INLINE T query_factor(const Request& r) {
    return static_cast<T>(edits_scores(r) ? r.scale : r.scale * kLog2E);
}

// tile[j][lane] = bias[head of lane, position of lane, begin + j].
template <class T>
void read_bias(const Request& r, const Block<T>& b, int64_t sample, int64_t begin, int64_t keys,
               T* tile) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const Array& a = r.bias;
    const int64_t size = size_of(a.kind);
    for (int group = 0; group < b.columns * L; group += L) {
        const char* from[L];
        for (int i = 0; i < L; ++i) {
            const int lane = group + i < b.count ? group + i : b.count - 1;
            from[i] = place(r, a, sample, b.head[lane]) +
                      (b.position[lane] * a.row + begin * a.column) * size;
        }
        int64_t j = 0;
        if (a.kind == kind_of<T>() && a.column == 1) {
            for (; j + L <= keys; j += L) {
                typename V::Reg square[L];
                for (int i = 0; i < L; ++i)
                    square[i] = V::load(reinterpret_cast<const T*>(from[i]) + j);
                V::transpose(square);
                for (int i = 0; i < L; ++i)
                    V::store(tile + (j + i) * kRowsPerBlock + group, square[i]);
            }
        }
        for (; j < keys; ++j)
            for (int i = 0; i < L; ++i)
                tile[j * kRowsPerBlock + group + i] = read_one<T>(from[i], a.kind, j * a.column);
    }
}

template <class T>
void edit_scores(const Request& r, const Block<T>& b, int64_t sample, int64_t begin, int64_t keys,
                 const T* bias, T* s) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const int lanes = b.columns * L;
    if (r.softcap != 0) {
        const auto cap = V::all(static_cast<T>(r.softcap));
        const auto inverse = V::all(static_cast<T>(1 / r.softcap));
        for (int64_t j = 0; j < keys; ++j)
            for (int at = 0; at < lanes; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                V::store(to, V::mul(cap, tanh<T>(V::mul(V::load(to), inverse))));
            }
    }
    if (bias) {
        for (int64_t j = 0; j < keys; ++j)
            for (int at = 0; at < lanes; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                V::store(to, V::add(V::load(to), V::load(bias + j * kRowsPerBlock + at)));
            }
    }
    if (r.slopes) {
        T slope[kRowsPerBlock], place_of[kRowsPerBlock];
        for (int lane = 0; lane < lanes; ++lane) {
            const int from = lane < b.count ? lane : b.count - 1;
            slope[lane] = static_cast<T>(-r.slopes[b.head[from]]);
            place_of[lane] = static_cast<T>(b.position[from] + r.anchor[sample] - begin);
        }
        for (int64_t j = 0; j < keys; ++j)
            for (int at = 0; at < lanes; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                const auto gap = V::sub(V::load(place_of + at), V::all(static_cast<T>(j)));
                const auto size = V::max(gap, V::sub(V::zero(), gap));
                V::store(to, V::fma(V::load(slope + at), size, V::load(to)));
            }
    }
    constexpr T least = sizeof(T) == 4 ? static_cast<T>(-2.35e38) : static_cast<T>(-1.24e308);
    for (int64_t j = 0; j < keys; ++j)
        for (int at = 0; at < lanes; at += L) {
            T* to = s + j * kRowsPerBlock + at;
            V::store(to, V::mul(V::at_least(V::load(to), least), V::all(static_cast<T>(kLog2E))));
        }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
