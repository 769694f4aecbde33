// Softmax and the mix of values of a thin block, over packed scores (thin.h), R queries at a time:
//
//   m, decay, p, t, l as in softmax.h
//   o[i][c] = o[i][c] * decay[i] + sum over j of p[j][i] * v[j][c]
//
// A lane of a register belongs to one query and every (kLanes / R)th key. The largest score of a
// query is found across its lanes in each tile; its sums stay apart, lane by lane, until the keys
// are through, and `unpack_sums` then adds them up. While the values are mixed the keys of the next
// tile are fetched.
//
// Pairs: two rows of values are woven in registers, 32 columns by two operations, in the order that
// is cheapest; the sums of a tile are put in order as they are added to o.
#pragma once

#include "kernels/softmax.h"
#include "kernels/thin.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// x over the lanes of each query, by `add` of two registers; all of them get the same.
template <class T, int R, class Add>
CLEARHEAD_INLINE typename Vec<T>::Reg over_lanes(typename Vec<T>::Reg x, Add add) {
    using V = Vec<T>;
    if constexpr (V::kLanes >= 16 && R < 16) x = add(x, V::template swap<8>(x));
    if constexpr (V::kLanes >= 8 && R < 8) x = add(x, V::template swap<4>(x));
    if constexpr (V::kLanes >= 4 && R < 4) x = add(x, V::template swap<2>(x));
    if constexpr (V::kLanes >= 2 && R < 2) x = add(x, V::template swap<1>(x));
    return x;
}

// Scores become weights, in place; pairs of them for Pairs, s[key / 2][R]. `at`: the register of
// queries, in lanes; `most`: the largest score of every lane.
template <class P, bool entropy, int R, class T = typename P::Sum>
void softmax_rows(Block<T>& b, int at, typename Vec<T>::Reg most, int64_t keys, T* s) {
    using V = Vec<T>;
    const bool fresh = is_fresh(b, at);
    const auto none = lowest<T>();
    most = over_lanes<T, R>(most, [](auto x, auto y) CLEARHEAD_INLINED { return V::max(x, y); });
    const auto before = fresh ? none : V::load(b.m + at);
    const auto m = V::max(before, most);
    V::store(b.m + at, m);
    const auto base = V::select(V::equal(m, none), V::zero(), m);
    auto sum = V::zero(), slope = V::zero();
    for (int64_t j = 0; j < keys * R; j += V::kLanes) {
        const auto x = cut<T>(V::sub(V::load(s + j), base));
        const auto p = exp2_cut<T>(x);
        sum = V::add(sum, p);
        if (entropy) slope = V::fma(p, x, slope);
        if constexpr (P::kStep == 1)
            V::store(s + j, p);
        else
            V::template store_pairs<R>(reinterpret_cast<uint16_t*>(s) + j, p);
    }
    keep_sums<entropy>(b, at, fresh, before, base, sum, slope);
}

// The sums of every query of the block, one per lane from here on.
template <class T>
void unpack_sums(Block<T>& b, bool entropy) {
    using V = Vec<T>;
    const auto add = [](auto x, auto y) CLEARHEAD_INLINED { return V::add(x, y); };
    for (int at = 0; at < b.columns * V::kLanes; at += V::kLanes) {
        if (is_fresh(b, at)) continue;
        by_rows<T>(b.count - at, [&](auto R) {
            V::store(b.l + at, over_lanes<T, R.value>(V::load(b.l + at), add));
            if (entropy) V::store(b.t + at, over_lanes<T, R.value>(V::load(b.t + at), add));
        });
    }
}

// One step of values: C registers of columns of a key, or of two.
template <class P, Kind kind, int C, class T = typename P::Sum>
CLEARHEAD_INLINE void load_columns(const char* a, const char* b, typename Vec<T>::Reg* to) {
    using V = Vec<T>;
    if constexpr (P::kStep == 1) {
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) to[i] = load_as<P, kind>(a, i * V::kLanes);
    } else if constexpr (C == 1) {
        to[0] =
            V::weave(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<const uint16_t*>(b));
    } else {
#pragma GCC unroll 4
        for (int i = 0; i < C; i += 2)
            V::weave_wide(load_as<P, kind>(a, i * V::kLanes), load_as<P, kind>(b, i * V::kLanes),
                          to + i);
    }
}

// Columns [c, c + C registers) of R queries.
template <class P, Kind kind, int R, int C, class T = typename P::Sum>
void mix_rows(const T* p, const Stream& v, int64_t c, int64_t keys, const T* decay, bool first,
              T* o, int64_t width, const Ahead& ahead) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    typename V::Reg sum[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) sum[r][i] = V::zero();
    constexpr int kLines = static_cast<int>((C * L * size_of(kind) + 63) / 64);
    const int64_t row = v.row;
    const char* at = v.data + c * size_of(kind);
    const char* beside = ahead.data + c * size_of(kind);
    for (int64_t j = 0; j < keys;
         j += P::kStep, p += R, at += P::kStep * row, beside += P::kStep * ahead.row) {
        for (int i = 0; i < kLines; ++i) {
            __builtin_prefetch(beside + 64 * i, 0, 3);
            if (P::kStep == 2) __builtin_prefetch(beside + ahead.row + 64 * i, 0, 3);
        }
        typename V::Reg lanes[C];  // the weight of a key behind the last one is 0
        load_columns<P, kind, C>(at, P::kStep == 2 && j + 1 < keys ? at + row : at, lanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const auto weight = V::all(p[r]);
#pragma GCC unroll 8
            for (int i = 0; i < C; ++i) sum[r][i] = P::step(weight, lanes[i], sum[r][i]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
        if constexpr (P::kStep == 2 && C > 1) {
#pragma GCC unroll 4
            for (int i = 0; i < C; i += 2) V::in_order(sum[r] + i);
        }
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) {
            T* to = o + r * width + c + i * L;
            V::store(to, first ? sum[r][i] : V::fma(V::load(to), V::all(decay[r]), sum[r][i]));
        }
    }
}

// All columns from c on, C registers at a time, then half as many.
template <class P, Kind kind, int R, int C, class T = typename P::Sum>
void mix_strips(const T* p, const Stream& v, int64_t c, int64_t keys, const T* decay, bool first,
                T* o, int64_t width, const Ahead& ahead) {
    for (; c + C * Vec<T>::kLanes <= width; c += C * Vec<T>::kLanes)
        mix_rows<P, kind, R, C>(p, v, c, keys, decay, first, o, width, ahead);
    if constexpr (C > 1)
        if (c < width) mix_strips<P, kind, R, C / 2>(p, v, c, keys, decay, first, o, width, ahead);
}

// `width` columns of o and of v; o has rows for R queries.
template <class P, int R, class T = typename P::Sum>
void mix_thin(const T* p, const Stream& v, int64_t keys, const T* decay, bool first, T* o,
              int64_t width, const Ahead& ahead) {
    constexpr int most = 4 * Vec<T>::kMixColumns / R;  // a sum for every other register
    constexpr int C = most > 8 ? 8 : most < 1 ? 1 : most;
    by_kind<P>(v.kind, [&](auto kind) {
        mix_strips<P, kind.value, R, C>(p, v, 0, keys, decay, first, o, width, ahead);
    });
}

// Whether all values are finite: 0 * NaN and 0 * Inf are NaN, and NaN stays.
template <class P, class T = typename P::Sum>
bool finite_rows(const Stream& v, int64_t keys, int64_t width) {
    using V = Vec<T>;
    auto sum = V::zero();
    by_kind<P>(v.kind, [&](auto kind) {
        for (int64_t j = 0; j < keys; ++j)
            for (int64_t c = 0; c < width; c += V::kLanes)
                sum = V::fma(load_as<Singles<T>, kind.value>(v.at(j), c), V::zero(), sum);
    });
    return V::sum(sum) == 0;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
