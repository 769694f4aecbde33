// The k keys of largest score of every query, kept while the tiles go by.
//
// Up to 16 keys: sorted lists, one per lane, [rank][lane], strongest.h. Up to 64 the same, row by
// row: a panel of scores is looked at only if its largest (it fell out of the scores) beats the
// worst in some list; then each row that still does is put into all lists at once, and below the
// place where it belongs everything moves one down, as far as some lane moves. The comparison is
// strict and keys come in increasing order, so ties stay with the smaller index. More: heap.h.
//
// Keys ride in the bits of T. A masked score is -inf, and -inf is no key.
#pragma once

#include "kernels/heap.h"
#include "kernels/strongest.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kLongestList = 64;

// How many ranks are kept for a request for `top`.
CLEARHEAD_INLINE int64_t ranks_kept(const Request& r) {
    const int64_t top = smaller(r.observe.top, r.keys);
    if (top <= 0) return 0;
    return top <= kEight ? kEight : round_up(top, 16);
}

// Entries of the lists of a block of `rows` queries: heaps lie query by query, lists lane by lane,
// short ones with the rows that wait.
CLEARHEAD_INLINE int64_t entries_kept(const Request& r, int64_t rows) {
    const int64_t kept = ranks_kept(r);
    if (!kept) return 0;
    if (kept > kLongestList) return kept * rows;
    return (kept + (kept > kInRegisters ? 0 : kEight)) * kRowsPerBlock;
}

// Lists of `kept` ranks in memory.
template <class T>
void list_tile(Block<T>& b, Lanes lanes, const T* s, const T* largest, int64_t begin, int64_t keys,
               int64_t kept) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    for (int at = lanes.begin; at < lanes.end; at += L) {
        T* scores = b.top_scores + at;
        T* places = b.top_keys + at;
        T* worst = scores + (kept - 1) * kRowsPerBlock;
        for (int64_t k = 0; is_fresh(b, at) && k < kept; ++k) {
            V::store(scores + k * kRowsPerBlock, V::all(-static_cast<T>(__builtin_inf())));
            V::store(places + k * kRowsPerBlock, V::all(carry<T>(-1)));
        }
        const auto all = V::all(static_cast<T>(__builtin_inf()));
        const T* most = largest + at;
        for (int64_t j = 0; j < keys; most += kRowsPerBlock) {
            const int64_t end = j + panel_rows(keys - j);
            if (!V::any(V::less(V::load(worst), V::min(V::load(most), all)))) j = end;
            for (; j < end; ++j) {
                const auto x = V::load(s + j * kRowsPerBlock + at);
                const auto mine = V::all(carry<T>(begin + j));
                auto beats = V::less(V::load(worst), x);
                for (int64_t k = kept - 1; V::any(beats); --k) {
                    T* score = scores + k * kRowsPerBlock;
                    T* place = places + k * kRowsPerBlock;
                    auto new_score = V::select(beats, x, V::load(score));
                    auto new_place = V::select(beats, mine, V::load(place));
                    if (k) {
                        const auto above = V::load(score - kRowsPerBlock);
                        beats = V::less(above, x);
                        new_score = V::select(beats, above, new_score);
                        new_place = V::select(beats, V::load(place - kRowsPerBlock), new_place);
                    }
                    V::store(score, new_score);
                    V::store(place, new_place);
                    if (!k) break;
                }
            }
        }
    }
}

template <class T>
void see_top(Block<T>& b, Lanes lanes, const Request& r, const T* s, const T* largest,
             int64_t begin, int64_t keys) {
    const int64_t kept = ranks_kept(r);
    if (kept == kEight) {
        top_tile<T, kEight>(b, lanes, s, largest, begin, keys);
    } else if (kept <= kInRegisters) {
        top_tile<T, kInRegisters>(b, lanes, s, largest, begin, keys);
    } else if (kept <= kLongestList) {
        list_tile(b, lanes, s, largest, begin, keys, kept);
    } else {
        heap_tile(b, lanes, s, begin, keys, smaller(r.observe.top, r.keys), kept);
    }
}

// Ends the lists: what waits is put in, and queries that no tile has reached get empty ones.
template <class T>
void end_top(Block<T>& b, const Request& r) {
    using V = Vec<T>;
    const int64_t kept = ranks_kept(r);
    for (int at = 0; at < b.columns * V::kLanes; at += V::kLanes) {
        if (!is_fresh(b, at)) continue;
        for (int lane = at; lane < at + V::kLanes; ++lane) b.top_filled[lane] = 0;
        for (int64_t k = 0; kept <= kLongestList && k < kept; ++k) {
            V::store(b.top_scores + k * kRowsPerBlock + at,
                     V::all(-static_cast<T>(__builtin_inf())));
            V::store(b.top_keys + k * kRowsPerBlock + at, V::all(carry<T>(-1)));
        }
    }
    if (kept == kEight)
        end_lists<T, kEight>(b);
    else if (kept == kInRegisters)
        end_lists<T, kInRegisters>(b);
}

// One query's list to its places in the outputs: `asked` of them, of which `filled` are real.
template <class T>
CLEARHEAD_INLINE void write_list(const Observe& see, int64_t row, const T* weight, const T* key,
                                 int64_t filled) {
    const int64_t asked = see.top;
    int32_t* to_key = see.top_keys + row * asked;
    T* to_weight = static_cast<T*>(see.top_weights) + row * asked;
    int64_t k = 0;
    if (sizeof(T) == sizeof(int32_t) && asked == 8 && filled == 8) {  // the usual request
        std::memcpy(to_weight, weight, 8 * sizeof(T));
        std::memcpy(to_key, key, 8 * sizeof(int32_t));
        return;
    }
    for (; k < filled; ++k) {
        to_key[k] = static_cast<int32_t>(carried(key + k));
        to_weight[k] = weight[k];
    }
    for (; k < asked; ++k) {
        to_key[k] = -1;
        to_weight[k] = 0;
    }
}

// The scores of a list become weights; an entry that was never filled, -inf, gets 0.
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg weight_of(typename Vec<T>::Reg score, typename Vec<T>::Reg m,
                                                typename Vec<T>::Reg inverse) {
    using V = Vec<T>;
    const auto p = V::mul(exp2<T>(V::sub(score, m)), inverse);
    const auto none = V::equal(score, V::all(-static_cast<T>(__builtin_inf())));
    return V::select(none, V::zero(), p);
}

// Lists of one register of queries, [rank][lane], turned to [lane][rank].
template <class T>
CLEARHEAD_INLINE void turn_lists(const T* from, int64_t kept, T* to) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    for (int64_t k = 0; k < kept; k += L) {
        typename V::Reg square[L];
        for (int i = 0; i < L; ++i)
            square[i] = k + i < kept ? V::load(from + (k + i) * kRowsPerBlock) : V::zero();
        V::transpose(square);
        for (int i = 0; i < L; ++i) V::store(to + i * kLongestList + k, square[i]);
    }
}

// The lists of the register at `at` to the outputs, scores as weights; whether a query has fewer
// keys than `real`.
template <class T>
CLEARHEAD_INLINE bool write_lists(Block<T>& b, const Request& r, int at, int64_t kept, int64_t real,
                                  const int64_t* row, const T* m, const T* inverse) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    const auto largest = V::load(m + at), part = V::load(inverse + at);
    T *const scores = b.top_scores + at, *const keys = b.top_keys + at;
    const bool lacks = V::any(V::both(V::equal(V::load(scores + (real - 1) * kRowsPerBlock), none),
                                      V::load_mask(ones(b.count) + at)));
    const auto weight = [&](int64_t k) CLEARHEAD_INLINED {
        return weight_of<T>(V::load(scores + k * kRowsPerBlock), largest, part);
    };
    const auto key = [&](int64_t k) CLEARHEAD_INLINED {  // -inf is no key
        const auto nobody = V::equal(V::load(scores + k * kRowsPerBlock), none);
        return V::select(nobody, V::all(carry<T>(-1)), V::load(keys + k * kRowsPerBlock));
    };
    T turned[2 * L * kLongestList];
    const T *weights = turned, *places = turned + L * kLongestList;
    int64_t stride = kLongestList;
    if (L == 2 * kEight && kept == kEight) {  // both in one square
        typename V::Reg square[L];
        for (int k = 0; k < L / 2; ++k) {
            square[k] = weight(k);
            square[L / 2 + k] = key(k);
        }
        V::transpose(square);
        for (int i = 0; i < L; ++i) V::store(turned + i * L, square[i]);
        places = turned + kEight;
        stride = L;
    } else {
        for (int64_t k = 0; k < real; ++k) {
            V::store(keys + k * kRowsPerBlock, key(k));
            V::store(scores + k * kRowsPerBlock, weight(k));
        }
        turn_lists(scores, kept, turned);
        turn_lists(keys, kept, turned + L * kLongestList);
    }
    for (int i = 0; i < L && at + i < b.count; ++i)
        write_list(r.observe, row[at + i], weights + i * stride, places + i * stride, real);
    return lacks;
}

// The lists of the block to the outputs, scores as weights; false where each is as long as it can
// be. `row` of each lane is its place in (B, H, N); m and inverse the normalisers.
template <class T>
bool write_top(Block<T>& b, const Request& r, const int64_t* row, const T* m, const T* inverse) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const int64_t kept = ranks_kept(r);
    const int64_t real = smaller(r.observe.top, r.keys);
    bool lacks = false;
    if (!real) {  // no key at all
        for (int lane = 0; lane < b.count; ++lane) write_list<T>(r.observe, row[lane], m, m, 0);
    } else if (kept <= kLongestList) {
        for (int at = 0; at < b.columns * L; at += L)
            lacks |= write_lists(b, r, at, kept, real, row, m, inverse);
    } else {
        for (int lane = 0; lane < b.count; ++lane) {
            T* score = b.top_scores + lane * kept;
            T* key = b.top_keys + lane * kept;
            const int64_t filled = b.top_filled[lane];
            sort_heap(score, key, filled);
            for (int64_t k = 0; k < filled; k += L)
                V::store(score + k,
                         weight_of<T>(V::load(score + k), V::all(m[lane]), V::all(inverse[lane])));
            write_list(r.observe, row[lane], score, key, filled);
            lacks |= filled < real;
        }
    }
    return lacks;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
