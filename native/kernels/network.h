// Sorted lists of scores with their keys, one list per lane, largest first, made without a branch:
//
//   sort_eight    8 rows in any order                     19 exchanges (Knuth 5.3.4, in 6 steps)
//   merge_eight   the best K of a list of K and one of 8  8 + K/2 log2 K (Batcher 1968)
//
// An exchange is one comparison for 16 queries. The second list is turned round: max(a[i], b[7 -
// i]) at the end of the first are the best K, falling and then rising, which log2 K steps put in
// order.
//
// Which of two equal scores comes first is left to chance here: `has_ties` tells where it mattered.
#pragma once

#include "kernels/vec.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int kEight = 8;
constexpr int kExchanges = 19;
constexpr int kSortEight[kExchanges][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6},
                                           {3, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {2, 4}, {3, 5},
                                           {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};

template <class T, int K>
struct Ranked {
    typename Vec<T>::Reg score[K], key[K];
};

// Puts a before b if it is not smaller.
template <class T, int K>
CLEARHEAD_INLINE void exchange(Ranked<T, K>& list, int a, int b) {
    using V = Vec<T>;
    const auto swap = V::less(list.score[a], list.score[b]);
    const auto score = list.score[a], key = list.key[a];
    list.score[a] = V::max(score, list.score[b]);
    list.score[b] = V::min(score, list.score[b]);
    list.key[a] = V::select(swap, list.key[b], key);
    list.key[b] = V::select(swap, key, list.key[b]);
}

template <class T>
CLEARHEAD_INLINE void sort_eight(Ranked<T, kEight>& list) {
#pragma GCC unroll 19
    for (int i = 0; i < kExchanges; ++i) exchange(list, kSortEight[i][0], kSortEight[i][1]);
}

// The best K of both lists into the first; returns the best score of what was left out.
template <class T, int K>
CLEARHEAD_INLINE typename Vec<T>::Reg merge_eight(Ranked<T, K>& list,
                                                  const Ranked<T, kEight>& more) {
    using V = Vec<T>;
    typename V::Reg left_out = V::zero();
#pragma GCC unroll 8
    for (int i = 0; i < kEight; ++i) {
        auto &score = list.score[K - kEight + i], &key = list.key[K - kEight + i];
        const auto other = more.score[kEight - 1 - i];
        const auto beats = V::less(score, other);
        const auto loser = V::min(score, other);
        left_out = i ? V::max(left_out, loser) : loser;
        score = V::max(score, other);
        key = V::select(beats, more.key[kEight - 1 - i], key);
    }
#pragma GCC unroll 8
    for (int step = K / 2; step > 0; step /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < K; ++i)
            if (!(i & step)) exchange(list, i, i + step);
    return left_out;
}

// Whether two scores of a list are the same in one of the lanes, or its last one and what was left
// out; -inf is no score.
template <class T, int K>
CLEARHEAD_INLINE bool has_ties(const Ranked<T, K>& list, typename Vec<T>::Reg left_out,
                               typename Vec<T>::Mask lanes) {
    using V = Vec<T>;
    auto same = V::equal(list.score[K - 1], left_out);
#pragma GCC unroll 16
    for (int i = 1; i < K; ++i) same = V::either(same, V::equal(list.score[i - 1], list.score[i]));
    if (__builtin_expect(!V::any(V::both(same, lanes)), 1)) return false;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    same = V::both(V::equal(list.score[K - 1], left_out), V::less(none, left_out));
#pragma GCC unroll 16
    for (int i = 1; i < K; ++i)
        same = V::either(same, V::both(V::equal(list.score[i - 1], list.score[i]),
                                       V::less(none, list.score[i])));
    return V::any(V::both(same, lanes));
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
