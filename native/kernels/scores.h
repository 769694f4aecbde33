// One tile of scores, transposed, so that softmax needs no step across lanes:
//
//   s[j][lane] = sum over e of k[j][e] * q[e][lane]          j < keys, lane < 64, e < steps
//
// Order: panels of 6 keys by kScoreColumns registers of queries, each sum one accumulator in
// increasing e, stretch by stretch of kStretch steps and each stretch from zero: the error of one
// long sum grows with d. A step is that of products.h. The keys are read as they lie, one number to
// all lanes; the queries of the block (q, transposed once) stay in cache. Panels of 6 use all
// registers; a rest of 1 or 2 keys is avoided (7 = 4 + 3, 8 = 4 + 4), since thin panels wait for
// their own sums. The largest score of every panel falls out at its end: largest[panel][lane],
// NaN where that of its first key is.
#pragma once

#include "kernels/arrays.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int kPanel = 6;
constexpr int kMaxPanels = kKeysPerTile / kPanel + 1;

// How many of `left` rows the next panel takes.
CLEARHEAD_INLINE int panel_rows(int64_t left) {
    if (left >= kPanel + 3 || left == kPanel) return kPanel;
    if (left > kPanel) return 4;
    return static_cast<int>(left);
}

template <class P, int R, int C, class T = typename P::Sum>
void score_panel(const typename P::Entry* k, int64_t stride, const T* q, int64_t steps, T factor,
                 T* s, T* largest) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    typename V::Reg sum[R][C];
    for (int64_t e = 0;;) {
        const int64_t end = smaller(steps, e + P::kStretch);
        const bool first = e == 0;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) sum[r][c] = V::zero();
        for (; e < end; ++e) {
            typename V::Reg lanes[C];
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) lanes[c] = V::load(q + e * kRowsPerBlock + c * L);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                const auto numbers = P::all(k + r * stride + e * P::kStep);
#pragma GCC unroll 8
                for (int c = 0; c < C; ++c) sum[r][c] = P::step(numbers, lanes[c], sum[r][c]);
            }
        }
        if (!first)
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
                for (int c = 0; c < C; ++c)
                    sum[r][c] = V::add(sum[r][c], V::load(s + r * kRowsPerBlock + c * L));
        if (e >= steps) break;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
            for (int c = 0; c < C; ++c) V::store(s + r * kRowsPerBlock + c * L, sum[r][c]);
    }
    const auto scale = V::all(factor);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
        typename V::Reg most;
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const auto score = P::scale_sum(sum[r][c], scale);
            V::store(s + r * kRowsPerBlock + c * L, score);
            most = r ? V::max(score, most) : score;
        }
        V::store(largest + c * L, most);
    }
}

template <class P, int C, class T = typename P::Sum>
void score_columns(const typename P::Entry* k, int64_t stride, const T* q, int64_t steps,
                   int64_t keys, T factor, T* s, T* largest, const RowsAhead& ahead) {
    for (int64_t j = 0; j < keys;) {
        const int rows = panel_rows(keys - j);
        const typename P::Entry* from = k + j * stride;
        T* to = s + j * kRowsPerBlock;
        switch (rows) {
            case 6:
                score_panel<P, 6, C>(from, stride, q, steps, factor, to, largest);
                break;
            case 5:
                score_panel<P, 5, C>(from, stride, q, steps, factor, to, largest);
                break;
            case 4:
                score_panel<P, 4, C>(from, stride, q, steps, factor, to, largest);
                break;
            case 3:
                score_panel<P, 3, C>(from, stride, q, steps, factor, to, largest);
                break;
            case 2:
                score_panel<P, 2, C>(from, stride, q, steps, factor, to, largest);
                break;
            default:
                score_panel<P, 1, C>(from, stride, q, steps, factor, to, largest);
                break;
        }
        ahead.fetch(j, rows);
        j += rows;
        largest += kRowsPerBlock;
    }
}

// How many of `left` keys are scored at once where a tile is partly hidden.
template <InRegisters P>
CLEARHEAD_INLINE int keys_at_once(int64_t left) {
    return panel_rows(left);
}

// `columns`: registers of queries in use, 64 / kLanes at most.
template <InRegisters P, class T = typename P::Sum>
void score_tile(const typename P::Entry* k, int64_t stride, const T* q, int64_t steps, int64_t keys,
                int columns, T factor, T* s, T* largest, RowsAhead ahead) {
    using V = Vec<T>;
    constexpr int L = V::kLanes, C = V::kScoreColumns;
    for (int c = 0; c < columns; ahead.rows = 0) {
        const int left = columns - c;
        const int at = c * L;
        if (left >= C) {
            score_columns<P, C>(k, stride, q + at, steps, keys, factor, s + at, largest + at,
                                ahead);
            c += C;
        } else if (C > 3 && left == 3) {
            score_columns<P, (C > 3 ? 3 : 1)>(k, stride, q + at, steps, keys, factor, s + at,
                                              largest + at, ahead);
            c += 3;
        } else if (C > 2 && left == 2) {
            score_columns<P, (C > 2 ? 2 : 1)>(k, stride, q + at, steps, keys, factor, s + at,
                                              largest + at, ahead);
            c += 2;
        } else {
            score_columns<P, 1>(k, stride, q + at, steps, keys, factor, s + at, largest + at,
                                ahead);
            c += 1;
        }
    }
}

// The largest score of every panel again, after the tile was changed by a bias or a mask.
template <class T>
void panel_maxima(const T* s, int64_t keys, int columns, T* largest) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    for (int64_t j = 0; j < keys; largest += kRowsPerBlock) {
        const int rows = panel_rows(keys - j);
        for (int c = 0; c < columns; ++c) {
            auto most = V::load(s + j * kRowsPerBlock + c * L);
            for (int r = 1; r < rows; ++r)
                most = V::max(V::load(s + (j + r) * kRowsPerBlock + c * L), most);
            V::store(largest + c * L, most);
        }
        j += rows;
    }
}

CLEARHEAD_INLINE int panels_of(int64_t keys) {
    int panels = 0;
    for (int64_t j = 0; j < keys; ++panels) j += panel_rows(keys - j);
    return panels;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
