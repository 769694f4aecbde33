// Long lists of strongest keys: one heap per query, its worst entry on top, sorted at the end.
//
//   parent not better than child;   a better than b: larger score, or the same and a smaller key
//
// One query at a time, as a heap has no lanes: fine for lists so long that moving all their ranks
// down would cost more. Keys ride in the bits of T, so entries are moved by memory.
#pragma once

#include "kernels/block.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// Whether entry a is worse than entry b.
template <class T>
CLEARHEAD_INLINE bool worse(const T* score, const T* key, int64_t a, int64_t b) {
    return score[a] < score[b] || (score[a] == score[b] && carried(key + a) > carried(key + b));
}

template <class T>
CLEARHEAD_INLINE void swap_entries(T* score, T* key, int64_t a, int64_t b) {
    const T s = score[a];
    score[a] = score[b];
    score[b] = s;
    T moved;  // by memory, so that no floating-point move can touch the bits of a key
    std::memcpy(&moved, key + a, sizeof(T));
    std::memcpy(key + a, key + b, sizeof(T));
    std::memcpy(key + b, &moved, sizeof(T));
}

template <class T>
void sift_down(T* score, T* key, int64_t at, int64_t size) {
    for (int64_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && worse(score, key, child + 1, child)) ++child;
        if (!worse(score, key, child, at)) return;
        swap_entries(score, key, at, child);
        at = child;
    }
}

// Enters a score with its key into the heap of a lane of `kept` entries at most, `stride` apart;
// of equal scores the one that came first stays.
template <class T>
CLEARHEAD_INLINE void heap_add(Block<T>& b, int lane, T x, const T* mine, int64_t kept,
                               int64_t stride) {
    T* score = b.top_scores + lane * stride;
    T* key = b.top_keys + lane * stride;
    int64_t& filled = b.top_filled[lane];
    if (filled < kept) {
        int64_t at = filled++;
        score[at] = x;
        std::memcpy(key + at, mine, sizeof(T));
        for (; at && worse(score, key, at, (at - 1) / 2); at = (at - 1) / 2)
            swap_entries(score, key, at, (at - 1) / 2);
    } else if (x > score[0]) {
        score[0] = x;
        std::memcpy(key, mine, sizeof(T));
        sift_down(score, key, 0, filled);
    }
}

// `kept` entries per lane at most, lane by lane.
template <class T>
void heap_tile(Block<T>& b, Lanes lanes, const T* s, int64_t begin, int64_t keys, int64_t kept,
               int64_t stride) {
    constexpr T least = -static_cast<T>(__builtin_inf());
    for (int lane = lanes.begin; lane < lanes.begin + queries_in(b, lanes); ++lane) {
        if (is_fresh(b, lane)) b.top_filled[lane] = 0;
        for (int64_t j = 0; j < keys; ++j) {
            const T x = s[j * kRowsPerBlock + lane];
            if (!(x > least)) continue;
            const T mine = carry<T>(begin + j);
            heap_add(b, lane, x, &mine, kept, stride);
        }
    }
}

// Best first, from a heap with the worst on top.
template <class T>
void sort_heap(T* score, T* key, int64_t size) {
    while (size > 1) {
        --size;
        swap_entries(score, key, 0, size);
        sift_down(score, key, 0, size);
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
