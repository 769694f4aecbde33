// Softmax over the keys, tile by tile, with the largest score so far taken away (Milakov and
// Gimelshein 2018), all in units of log2, one query per lane:
//
//   m'    = max(m, largest of the tile)          decay = 2^(m - m')
//   p[j]  = 2^(s[j] - m')                        in place of s
//   t     = decay * (t + l * (m - m')) + sum over j of p[j] * (s[j] - m')        for the entropy
//   l     = decay * l + sum over j of p[j]
//
// Order: a register of queries at a time, down the keys; each sum of a tile starts from zero. At
// the end forward.cpp makes of them, with Z = l + 2^(sink - m) and all weights p / Z,
//
//   lse = ln 2 * m + ln Z            entropy = (l * ln Z - ln 2 * t) / Z
//
// No term of t is above 0 and Z is at least 1, so no digit of the entropy is lost by cancellation.
// A masked score is -inf, its p exactly 0; where all scores so far are masked, m' is taken as 0.
// Pairs of p are written to row j / 2, rounded, with 0 beside the last of an odd number; the sums
// are of p as it was. Of keys that no query of a register reaches p is 0 without being computed.
#pragma once

#include "kernels/block.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
CLEARHEAD_INLINE typename P::Reg power(typename P::Reg x) {
    if constexpr (ByTiles<P>)
        return exp2_floor(x);
    else
        return exp2_cut<typename P::Sum>(x);
}

// `begin` is the first key of the tile, `panels` how many `largest` has.
// The sums of a tile to those of the tiles before it, for one register of queries whose largest
// score was `before` and is `base` now.
template <bool entropy, class T, class Reg = typename Vec<T>::Reg>
CLEARHEAD_INLINE void keep_sums(Block<T>& b, int at, bool fresh, Reg before, Reg base, Reg sum,
                                Reg slope) {
    using V = Vec<T>;
    if (fresh) {
        V::store(b.l + at, sum);
        if (entropy) V::store(b.t + at, slope);
        return;
    }
    const auto gap = cut<T>(V::sub(before, base));
    const auto decay = exp2_cut<T>(gap);
    V::store(b.decay + at, decay);
    const auto l = V::load(b.l + at);
    if (entropy) {
        const auto moved = V::fma(l, gap, V::load(b.t + at));
        V::store(b.t + at, V::fma(moved, decay, slope));
    }
    V::store(b.l + at, V::fma(l, decay, sum));
}

template <class P, bool entropy, class T = typename P::Sum>
void softmax_tile(Block<T>& b, Lanes lanes, const T* largest, int panels, int64_t begin,
                  int64_t keys, T* s) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    for (int at = lanes.begin; at < lanes.end; at += L) {
        const bool fresh = is_fresh(b, at);
        auto most = V::load(largest + at);
        for (int panel = 1; panel < panels; ++panel)
            most = V::max(most, V::load(largest + panel * kRowsPerBlock + at));
        const auto before = fresh ? none : V::load(b.m + at);
        const auto m = V::max(before, most);
        V::store(b.m + at, m);
        const auto base = V::select(V::equal(m, none), V::zero(), m);
        auto sum = V::zero(), slope = V::zero();
        const auto weigh = [&](int64_t j) CLEARHEAD_INLINED {
            const auto gap = V::sub(V::load(s + j * kRowsPerBlock + at), base);
            const auto x = entropy || !ByTiles<P> ? cut<T>(gap) : gap;
            const auto p = power<P>(x);
            sum = V::add(sum, p);
            if (entropy) slope = V::fma(p, x, slope);
            return p;
        };
        const Reach& reach = b.reach[at / L];
        const int64_t from = smaller(keys, larger(0, reach.low_min - begin)) / P::kStep * P::kStep;
        const int64_t to = smaller(keys, larger(from, reach.high_max + 1 - begin));
        int64_t j = 0;
        const auto put = [&](typename V::Reg p) CLEARHEAD_INLINED {
            V::store(s + j / P::kStep * kRowsPerBlock + at, p);
            j += P::kStep;
        };
        while (j < from) put(V::zero());
        if constexpr (P::kStep == 1) {
            while (j < to) put(weigh(j));
        } else {
            while (j + 2 <= to) {
                const auto low = weigh(j), high = weigh(j + 1);
                put(V::pair(low, high));
            }
            if (j < to) put(V::pair(weigh(j), V::zero()));
        }
        while (j < round_up(keys, P::kWhole)) put(V::zero());
        keep_sums<entropy>(b, at, fresh, before, base, sum, slope);
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
