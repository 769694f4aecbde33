// The k keys of largest score of every query for k up to 16, kept while the tiles go by: sorted
// lists, [rank][lane], and up to 7 rows of scores that wait to be put into them.
//
// Order: a register of queries at a time. Its panels are held against the worst scores of its lists
// without a branch; of the panels that beat one of them only the rows that do are taken. Eight rows
// are sorted and merged in one go, whichever of the 16 queries each is for. While the lists fill
// almost every row is taken: such a tile goes through ranks.h where the machine has the words.
//
// Of equal scores the earlier key stays. A network does not see to that, so where it met equal
// scores the rows are put in one by one instead, strictly and in order. -inf takes a place only
// where nothing else is left, and write_top strikes its key out; NaN counts as -inf.
#pragma once

#include "kernels/block.h"
#include "kernels/ranks.h"
#include "kernels/scores.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kInRegisters = 16;
constexpr int64_t kMostWaiting = kEight - 1;  // of rows between two tiles
constexpr int64_t kRanked = 16;               // keys from which a tile is worth ranks
constexpr int kWorthMerging = 4;  // lanes from which sorting eight rows is faster than one by one

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

// Where the panels of a tile begin.
struct Panels {
    int count = 0;
    uint8_t begin[kMaxPanels + 1];

    explicit Panels(int64_t keys) {
        for (int64_t j = 0; j < keys; j += panel_rows(keys - j))
            begin[count++] = static_cast<uint8_t>(j);
        begin[count] = static_cast<uint8_t>(keys);
    }
};

// Bit p: the largest score of panel p beats the worst of some list.
template <class T>
CLEARHEAD_INLINE uint32_t panels_hit(typename Vec<T>::Reg worst, const T* largest, int panels) {
    using V = Vec<T>;
    uint32_t hits = 0;
#pragma GCC unroll 12
    for (int p = 0; p < kMaxPanels; ++p) {
        const bool hit = V::any(V::less(worst, V::load(largest + p * kRowsPerBlock)));
        hits |= static_cast<uint32_t>(hit) << p;
    }
    return hits & ((1u << panels) - 1);
}

// The rows of the panels `hits` of one register into its lists; up to 7 stay to wait.
template <class T, int K>
CLEARHEAD_INLINE void take_rows(const Lists<T>& to, typename Vec<T>::Reg worst, uint32_t hits,
                                const Panels& panels, const T* s, int64_t begin) {
    using V = Vec<T>;
    const T* row[kMostWaiting + kKeysPerTile + kMostWaiting];
    int32_t key[kMostWaiting + kKeysPerTile + 1];
    for (int i = 0; i < kMostWaiting; ++i) row[i] = to.waiting + i * kRowsPerBlock;
    std::memcpy(key, to.waiting_key, kMostWaiting * sizeof(int32_t));
    int64_t count = *to.count, first = 0;
    const auto take = [&](int64_t j) CLEARHEAD_INLINED {  // without a branch
        row[count] = s + j * kRowsPerBlock;
        key[count] = static_cast<int32_t>(begin + j);
        count += V::any(V::less(worst, V::load(s + j * kRowsPerBlock)));
    };
    for (; hits; hits &= hits - 1) {
        const int panel = __builtin_ctz(hits);
        const int64_t j = panels.begin[panel], end = panels.begin[panel + 1];
        if (end - j == kPanel)
#pragma GCC unroll 6
            for (int i = 0; i < kPanel; ++i) take(j + i);
        else
            for (int64_t i = j; i < end; ++i) take(i);
    }
    if constexpr (V::kLanes < kWorthMerging) {
        insert_rows<T, K>(to, row, key, count);
        return;
    }
    for (; count - first >= kEight; first += kEight) merge_rows<T, K>(to, row + first, key + first);
    *to.count = count - first;
    // All seven places, as a loop over those that are taken would be foretold badly.
    for (int i = 0; i < kMostWaiting; ++i) row[count + i] = s;
    for (int i = 0; i < kMostWaiting; ++i)
        V::store(to.waiting + i * kRowsPerBlock, V::load(row[first + i]));
    std::memcpy(to.waiting_key, key + first, kMostWaiting * sizeof(int32_t));
}

// A tile of which most rows are wanted; false where its scores leave the order open.
template <class T, int K>
CLEARHEAD_INLINE bool take_tile(const Lists<T>& to, bool fresh, const T* s, int64_t begin,
                                int64_t keys) {
    if constexpr (K == kEight && Ranks<T>::kThere) {
        Ranked<T, kEight> best;
        if (!best_of_tile(best, s, begin, keys, to.occupied)) return false;
        if (fresh) {
            store_list(to, best);
            return true;
        }
        merge_waiting<T, K>(to);
        Ranked<T, K> list = load_list<T, K>(to);
        const auto left_out = merge_eight(list, best);
        if (has_ties(list, left_out, to.occupied)) return false;
        store_list(to, list);
        return true;
    }
    return false;
}

template <class T, int K>
void top_tile(Block<T>& b, Lanes lanes, const T* s, const T* largest, int64_t begin, int64_t keys) {
    using V = Vec<T>;
    const Panels panels(keys);
    for (int at = lanes.begin; at < lanes.end; at += V::kLanes) {
        const Lists<T> lists = lists_of(b, at, K);
        const bool fresh = is_fresh(b, at);
        if (fresh) empty_lists(lists, K);
        const auto worst = V::select(lists.occupied, V::load(lists.score + (K - 1) * kRowsPerBlock),
                                     V::all(static_cast<T>(__builtin_inf())));
        const uint32_t hits = panels_hit(worst, largest + at, panels.count);
        if (!hits) continue;
        const bool most = keys >= kRanked && __builtin_popcount(hits) + 1 >= panels.count;
        if (most && take_tile<T, K>(lists, fresh, s + at, begin, keys)) continue;
        take_rows<T, K>(lists, worst, hits, panels, s + at, begin);
    }
}

// Puts in what still waits.
template <class T, int K>
void end_lists(Block<T>& b) {
    for (int at = 0; at < b.columns * Vec<T>::kLanes; at += Vec<T>::kLanes)
        merge_waiting<T, K>(lists_of(b, at, K));
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
