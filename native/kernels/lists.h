// Sorted lists of up to 16 scores with their keys for every query of a block, [rank][lane], and up
// to 7 rows of scores, [row][lane], that wait to be put into them.
//
// Eight rows are sorted and merged in one go, whichever of the queries of a register each is for.
// Of equal scores the earlier key stays. A network does not see to that, so where it met equal
// scores the rows are put in one by one instead, strictly and in order. -inf takes a place only
// where nothing else is left, and write_top strikes its key out; NaN counts as -inf.
#pragma once

#include "kernels/block.h"
#include "kernels/network.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kInRegisters = 16;          // the longest list
constexpr int64_t kMostWaiting = kEight - 1;  // of rows between two tiles

// The lists of one register of queries, where they lie.
template <class T>
struct Lists {
    T *score, *key, *waiting;        // [rank][64], [rank][64], [row][64]
    int32_t* waiting_key;            // [row]
    int64_t* count;                  // rows that wait
    typename Vec<T>::Mask occupied;  // lanes that hold a query
};

// Bytes of which the first `count` are 1.
CLEARHEAD_INLINE const uint8_t* ones(int64_t count) {
    struct Bytes {
        uint8_t at[2 * kRowsPerBlock];
    };
    static constexpr Bytes kBytes = [] {
        Bytes out{};
        for (int64_t i = 0; i < kRowsPerBlock; ++i) out.at[i] = 1;
        return out;
    }();
    return kBytes.at + kRowsPerBlock - count;
}

template <class T>
CLEARHEAD_INLINE Lists<T> lists_of(const Block<T>& b, int at, int64_t kept) {
    auto* keys = reinterpret_cast<int32_t*>(b.top_keys + kept * kRowsPerBlock);
    return {b.top_scores + at,
            b.top_keys + at,
            b.top_scores + kept * kRowsPerBlock + at,
            keys + at / Vec<T>::kLanes * kEight,
            b.top_filled + at,
            Vec<T>::load_mask(ones(b.count) + at)};
}

template <class T, int K>
CLEARHEAD_INLINE Ranked<T, K> load_list(const Lists<T>& from) {
    Ranked<T, K> list;
#pragma GCC unroll 16
    for (int k = 0; k < K; ++k) {
        list.score[k] = Vec<T>::load(from.score + k * kRowsPerBlock);
        list.key[k] = Vec<T>::load(from.key + k * kRowsPerBlock);
    }
    return list;
}

template <class T, int K>
CLEARHEAD_INLINE void store_list(const Lists<T>& to, const Ranked<T, K>& list) {
#pragma GCC unroll 16
    for (int k = 0; k < K; ++k) {
        Vec<T>::store(to.score + k * kRowsPerBlock, list.score[k]);
        Vec<T>::store(to.key + k * kRowsPerBlock, list.key[k]);
    }
}

template <class T>
CLEARHEAD_INLINE void empty_lists(const Lists<T>& to, int64_t kept) {
    using V = Vec<T>;
    *to.count = 0;
    for (int64_t k = 0; k < kept; ++k) {
        V::store(to.score + k * kRowsPerBlock, V::all(-static_cast<T>(__builtin_inf())));
        V::store(to.key + k * kRowsPerBlock, V::all(carry<T>(-1)));
    }
}

// One row after the other: below the place where a score belongs everything moves one down.
template <class T, int K>
__attribute__((noinline)) void insert_rows(const Lists<T>& to, const T* const* row,
                                           const int32_t* key, int64_t count) {
    using V = Vec<T>;
    Ranked<T, K> list = load_list<T, K>(to);
    for (int64_t i = 0; i < count; ++i) {
        const auto x = V::load(row[i]), mine = V::all(carry<T>(key[i]));
        auto beats = V::less(list.score[K - 1], x);
        if (!V::any(beats)) continue;
#pragma GCC unroll 16
        for (int k = K - 1; k > 0; --k) {
            const auto above = V::less(list.score[k - 1], x);
            list.score[k] = V::select(above, list.score[k - 1], V::select(beats, x, list.score[k]));
            list.key[k] = V::select(above, list.key[k - 1], V::select(beats, mine, list.key[k]));
            beats = above;
        }
        list.score[0] = V::select(beats, x, list.score[0]);
        list.key[0] = V::select(beats, mine, list.key[0]);
    }
    store_list(to, list);
}

// Eight rows, in order of their keys.
template <class T, int K>
CLEARHEAD_INLINE void merge_rows(const Lists<T>& to, const T* const* row, const int32_t* key) {
    using V = Vec<T>;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    Ranked<T, kEight> rows;
#pragma GCC unroll 8
    for (int i = 0; i < kEight; ++i) {
        rows.score[i] = V::max(V::load(row[i]), none);
        rows.key[i] = V::all(carry<T>(key[i]));
    }
    sort_eight(rows);
    Ranked<T, K> list = load_list<T, K>(to);
    const auto left_out = merge_eight(list, rows);
    if (__builtin_expect(has_ties(list, left_out, to.occupied), 0))
        insert_rows<T, K>(to, row, key, kEight);
    else
        store_list(to, list);
}

// The rows that wait, and rows of -inf to make them eight.
template <class T, int K>
void merge_waiting(const Lists<T>& to) {
    using V = Vec<T>;
    if (!*to.count) return;
    const T* row[kEight];
    T none[V::kLanes];
    V::store(none, V::all(-static_cast<T>(__builtin_inf())));
    for (int64_t i = 0; i < kEight; ++i)
        row[i] = i < *to.count ? to.waiting + i * kRowsPerBlock : none;
    merge_rows<T, K>(to, row, to.waiting_key);
    *to.count = 0;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
