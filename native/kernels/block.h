// A block: up to 64 queries, one per lane, with all that is kept of them between tiles of keys.
//
//   m      largest score so far, in units of log2; -inf before the first visible key
//   l      sum of 2^(s - m)
//   t      sum of 2^(s - m) * (s - m), for the entropy; never above 0, so nothing cancels
//   o      sum of 2^(s - m) * value
//   live   whether any key so far was visible: asked of the mask, never of the numbers
//   top    the k best scores so far and their keys
//
// Queries that no key of a tile is for take no part in it, a register of them at a time: `Lanes`
// are those that do. A register that no tile has reached yet is fresh, its sums not written.
#pragma once

#include "kernels/arrays.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kFar = int64_t{1} << 62;  // beyond any key

struct Lanes {  // of a block, whole registers
    int begin, end;
};

// Where the bands of the queries of one register begin and end.
struct Reach {
    int64_t low_min, low_max, high_min, high_max;
};

template <class T>
struct Block {
    int count, columns;                // queries, and registers that hold them
    const char* query[kRowsPerBlock];  // where each row of queries begins
    const char* bias[kRowsPerBlock];   // and the bias of each, if there is one, at key 0
    int64_t head[kRowsPerBlock], position[kRowsPerBlock];
    int64_t low[kRowsPerBlock], high[kRowsPerBlock];  // the band of keys of each query
    int64_t low_min, high_max;                        // of all queries that see something
    Reach reach[kRowsPerBlock / Vec<T>::kLanes];
    uint64_t fresh;  // bit c: no tile has reached register c
    bool thin;       // few queries: q holds rows [lane][d_k, padded] as they are
    T* turned;       // scratch for kThinRows of them, as thin.h reads them
    T *q, *o, *m, *l, *t, *decay;
    uint8_t* live;
    T *top_scores, *top_keys;  // [k][64], the keys carried in the bits of T
    int64_t* top_filled;       // for the heaps of long lists
};

// What is summed, of `rows` outputs; `top`: entries of the lists of all queries together.
template <class T>
void lay_out_sums(Block<T>& b, Arena& arena, const Request& r, int64_t rows, int64_t top) {
    b.o = arena.take<T>(round_up(r.d_v, Vec<T>::kLanes) * rows);
    b.m = arena.take<T>(kRowsPerBlock);
    b.l = arena.take<T>(kRowsPerBlock);
    b.t = arena.take<T>(kRowsPerBlock);
    b.live = arena.take<uint8_t>(kRowsPerBlock);
    b.top_scores = arena.take<T>(top);
    b.top_keys = arena.take<T>(top);
    b.top_filled = arena.take<int64_t>(kRowsPerBlock);
}

// What is needed beside the sums.
template <class T>
void lay_out_queries(Block<T>& b, Arena& arena, const Request& r, int64_t rows) {
    const int64_t width = round_up(r.d_k, 2 * Vec<T>::kLanes);
    b.q = arena.take<T>(width * rows);
    b.turned = arena.take<T>(width * kThinRows);
    b.decay = arena.take<T>(kRowsPerBlock);
}

CLEARHEAD_INLINE int64_t valid_queries(const Request& r, int64_t sample) {
    return r.mask.query_lengths ? r.mask.query_lengths[sample] : r.queries;
}

// Whether the queries of a sample that share their keys are so few that their scores are taken row
// by row. It follows from the sample alone, so that padding and batch change no bit.
CLEARHEAD_INLINE bool is_thin(const Request& r, int64_t sample) {
    return valid_queries(r, sample) * (r.heads / r.key_heads) <= kThinRows;
}

template <class T>
CLEARHEAD_INLINE Lanes all_lanes(const Block<T>& b) {
    return {0, b.columns * Vec<T>::kLanes};
}

template <class T>
CLEARHEAD_INLINE bool is_fresh(const Block<T>& b, int lane) {
    return b.fresh >> (lane / Vec<T>::kLanes) & 1;
}

// The first of `lanes` that are all fresh, or all not.
template <class T>
CLEARHEAD_INLINE Lanes next_run(const Block<T>& b, Lanes lanes) {
    int end = lanes.begin;
    while (end < lanes.end && is_fresh(b, end) == is_fresh(b, lanes.begin)) end += Vec<T>::kLanes;
    return {lanes.begin, end};
}

template <class T>
CLEARHEAD_INLINE void touch(Block<T>& b, Lanes lanes) {
    for (int at = lanes.begin; at < lanes.end; at += Vec<T>::kLanes)
        b.fresh &= ~(uint64_t{1} << (at / Vec<T>::kLanes));
}

// How many of the lanes are queries, from the first on.
template <class T>
CLEARHEAD_INLINE int queries_in(const Block<T>& b, Lanes lanes) {
    return (lanes.end < b.count ? lanes.end : b.count) - lanes.begin;
}

// Entries of a row of keys, and of queries that are not transposed, with their zeros.
template <class P>
CLEARHEAD_INLINE int64_t single_width(const Request& r) {
    return round_up(r.d_k, Vec<typename P::Sum>::kLanes * P::kStep);
}

// Reads the chosen queries; `line` is scratch for kLanes of them.
template <class P, class T = typename P::Sum>
void read_queries(Block<T>& b, const Request& r, T factor, T* line) {
    using V = Vec<T>;
    using Entry = typename P::Entry;
    const Array& a = r.query;
    if (!b.thin) {
        transpose_queries<P>(b.q, b.query, b.count, a.kind, a.column, r.d_k, factor,
                             reinterpret_cast<Entry*>(line));
        if constexpr (P::kStepsRead > 1) {
            const int64_t steps = (r.d_k + P::kStep - 1) / P::kStep;
            const int64_t missing = round_up(steps, P::kStepsRead) - steps;
            std::memset(b.q + steps * kRowsPerBlock, 0,
                        static_cast<size_t>(missing * kRowsPerBlock) * sizeof(T));
        }
        return;
    }
    const int64_t width = single_width<P>(r);
    for (int lane = 0; lane < b.count; ++lane) {
        Entry* to = reinterpret_cast<Entry*>(b.q) + lane * width;
        copy_row(to, b.query[lane], a.kind, a.column, r.d_k, width);
        for (int64_t e = 0; e < width; e += V::kLanes * P::kStep)
            V::store(reinterpret_cast<T*>(to + e), P::scale_query(P::load(to + e), V::all(factor)));
    }
}

// The keys that a description of `span` leaves to query i of a head, cut out of [*low, *high].
CLEARHEAD_INLINE void cut_to(const Span& span, int64_t sample, int64_t head, int64_t i,
                             int64_t* low, int64_t* high) {
    if (!span.low) return;
    const int64_t at = sample * span.sample + head * span.head + i * span.row;
    *low = larger(*low, span.low[at]);
    *high = smaller(*high, span.high[at]);
}

// Fills in who the rows [begin, end) of the task are and which keys they reach. `list` names
// queries of its first head instead.
template <class T>
void choose_rows(Block<T>& b, const Request& r, const Task& task, int64_t begin, int64_t end,
                 const int64_t* list) {
    constexpr int L = Vec<T>::kLanes;
    const int64_t sample = task.sample;
    b.count = static_cast<int>(end - begin);
    b.columns = (b.count + L - 1) / L;
    b.low_min = kFar;
    b.high_max = -kFar;
    b.fresh = ~uint64_t{0};
    b.thin = is_thin(r, sample);
    const int64_t keys = r.mask.key_lengths ? r.mask.key_lengths[sample] : r.keys;
    const int64_t valid = valid_queries(r, sample);
    const int64_t step = r.query.row * size_of(r.query.kind);
    int64_t head = list ? task.first_head : task.first_head + begin / task.queries;
    int64_t i = list ? 0 : task.first_query + begin % task.queries;
    const char *base = place(r, r.query, sample, head), *bias = nullptr;
    if (r.bias.data) bias = place(r, r.bias, sample, head);
    const int64_t bias_step = r.bias.row * size_of(r.bias.kind);
    Reach reach{};  // of the register at hand
    for (int lane = 0; lane < b.count; ++lane, ++i) {
        if (lane % L == 0) reach = {kFar, -kFar, kFar, -kFar};
        if (list) {
            i = list[begin + lane];
        } else if (i == task.first_query + task.queries) {
            i = task.first_query;
            base = place(r, r.query, sample, ++head);
            if (bias) bias = place(r, r.bias, sample, head);
        }
        b.head[lane] = head;
        b.position[lane] = i;
        b.query[lane] = base + i * step;
        b.bias[lane] = bias + i * bias_step;
        int64_t low = 0, high = keys - 1;
        if (r.mask.low) {
            low = larger(low, i + r.mask.low[sample]);
            high = smaller(high, i + r.mask.high[sample]);
        }
        cut_to(r.mask.of_segments, sample, head, i, &low, &high);
        cut_to(r.mask.of_allowed, sample, head, i, &low, &high);
        if (i >= valid || low > high) {  // sees nothing: a band that holds no key
            low = kFar;
            high = -kFar;
        } else {
            reach.low_min = smaller(reach.low_min, low);
            reach.high_max = larger(reach.high_max, high);
        }
        reach.low_max = larger(reach.low_max, low);
        reach.high_min = smaller(reach.high_min, high);
        b.low[lane] = low;
        b.high[lane] = high;
        if (lane % L == L - 1 || lane == b.count - 1) b.reach[lane / L] = reach;
    }
    for (int lane = b.count; lane < b.columns * L; ++lane) {
        b.low[lane] = -kFar;  // beyond the last query: never masked, never read
        b.high[lane] = kFar;
        b.bias[lane] = b.bias[b.count - 1];
    }
    for (int c = 0; c < b.columns; ++c) {
        b.low_min = smaller(b.low_min, b.reach[c].low_min);
        b.high_max = larger(b.high_max, b.reach[c].high_max);
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
