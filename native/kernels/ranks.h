// The best eight keys of a tile at a time when nearly all of its rows are wanted.
//
//   rank = (score as an integer of the same order, its last 7 bits the number of the row)
//
// One word holds a score and its place, so an exchange is a minimum and a maximum. The 7 bits of
// the score are missing: the eight best are looked up again by their rows, and where two of them,
// or the last and the best that was left out, agree in all other bits, the answer is no. The lists
// of strongest.h are then made of whole scores.
#pragma once

#include "kernels/network.h"
#include "kernels/table.h"
#include "kernels/vec_ranks.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
CLEARHEAD_INLINE void exchange_ranks(typename Ranks<T>::Reg& a, typename Ranks<T>::Reg& b) {
    const auto first = a;
    a = Ranks<T>::max(first, b);
    b = Ranks<T>::min(first, b);
}

// Rows j to j + 7, sorted.
template <class T>
CLEARHEAD_INLINE void sorted_ranks(typename Ranks<T>::Reg* rank, const T* s, int64_t j) {
#pragma GCC unroll 8
    for (int i = 0; i < kEight; ++i)
        rank[i] = Ranks<T>::of(Vec<T>::load(s + (j + i) * kRowsPerBlock), j + i);
#pragma GCC unroll 19
    for (int i = 0; i < kExchanges; ++i)
        exchange_ranks<T>(rank[kSortEight[i][0]], rank[kSortEight[i][1]]);
}

// The best eight of both into the first, and the best of all that was left out.
template <class T>
CLEARHEAD_INLINE void merge_ranks(typename Ranks<T>::Reg* rank, typename Ranks<T>::Reg* more,
                                  typename Ranks<T>::Reg& left_out) {
#pragma GCC unroll 8
    for (int i = 0; i < kEight; ++i) {
        exchange_ranks<T>(rank[i], more[kEight - 1 - i]);
        left_out = Ranks<T>::max(left_out, more[kEight - 1 - i]);
    }
#pragma GCC unroll 3
    for (int step = kEight / 2; step > 0; step /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < kEight; ++i)
            if (!(i & step)) exchange_ranks<T>(rank[i], rank[i + step]);
}

// Whether eight ranks and the best that was left out tell the order of their scores. Of -inf any
// order will do; NaN is above +inf, or below -inf.
template <class T>
CLEARHEAD_INLINE bool in_order(const typename Ranks<T>::Reg* rank, typename Ranks<T>::Reg left_out,
                               typename Vec<T>::Mask lanes) {
    using R = Ranks<T>;
    using V = Vec<T>;
    auto open = V::either(R::above_all(rank[0]), R::same(rank[kEight - 1], left_out));
#pragma GCC unroll 8
    for (int i = 1; i < kEight; ++i) open = V::either(open, R::same(rank[i - 1], rank[i]));
    if (__builtin_expect(!V::any(V::both(open, lanes)), 1)) return true;
    open = R::above_all(rank[0]);
    for (int i = 1; i <= kEight; ++i) {
        const auto next = i < kEight ? rank[i] : left_out;
        open = V::either(open, V::both(R::same(rank[i - 1], next), R::above_none(next)));
    }
    return !V::any(V::both(open, lanes));
}

// The best eight of a tile of eight keys at least, best first; false where that stays open.
template <class T>
CLEARHEAD_INLINE bool best_of_tile(Ranked<T, kEight>& best, const T* s, int64_t begin, int64_t keys,
                                   typename Vec<T>::Mask lanes) {
    using R = Ranks<T>;
    typename R::Reg rank[kEight], more[kEight];
    auto left_out = R::lowest();
    sorted_ranks<T>(rank, s, 0);
    int64_t j = kEight;
    for (; j + kEight <= keys; j += kEight) {
        sorted_ranks<T>(more, s, j);
        merge_ranks<T>(rank, more, left_out);
    }
    for (; j < keys; ++j) {  // down the list, one by one
        auto one = R::of(Vec<T>::load(s + j * kRowsPerBlock), j);
#pragma GCC unroll 8
        for (int i = 0; i < kEight; ++i) exchange_ranks<T>(rank[i], one);
        left_out = R::max(left_out, one);
    }
    if (!in_order<T>(rank, left_out, lanes)) return false;
#pragma GCC unroll 8
    for (int i = 0; i < kEight; ++i) {
        best.score[i] = R::look_up(s, rank[i]);
        best.key[i] = R::key(rank[i], begin);
    }
    return true;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
