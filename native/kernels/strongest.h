// The k keys of largest score of every query for k up to 16, kept while the tiles go by.
//
// Order: a register of queries at a time. Its panels are held against the worst scores of its lists
// without a branch; of the panels that beat one of them only the rows that do are taken, and wait
// until they are eight: lists.h. While the lists fill almost every row is taken; such a tile goes
// through ranks.h where the machine has the words.
#pragma once

#include "kernels/lists.h"
#include "kernels/ranks.h"
#include "kernels/scores.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kRanked = 16;   // keys from which a tile is worth ranks
constexpr int kWorthMerging = 4;  // lanes from which sorting eight rows is faster than one by one

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
    const auto all = V::all(static_cast<T>(__builtin_inf()));
    uint32_t hits = 0;
#pragma GCC unroll 12
    for (int p = 0; p < kMaxPanels; ++p) {
        // NaN may hide a score behind it.
        const auto most = V::min(V::load(largest + p * kRowsPerBlock), all);
        const bool hit = V::any(V::less(worst, most));
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
        // The keys that a query of the register reaches.
        const Reach& reach = b.reach[at / V::kLanes];
        const int64_t from = larger(0, reach.low_min - begin);
        const int64_t rows = smaller(keys, reach.high_max + 1 - begin) - from;
        const bool most = rows >= kRanked && __builtin_popcount(hits) * kPanel >= rows;
        if (most &&
            take_tile<T, K>(lists, fresh, s + from * kRowsPerBlock + at, begin + from, rows))
            continue;
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
