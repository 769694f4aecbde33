// A block: up to 64 queries, one per lane, with all that is kept of them between tiles of keys.
//
//   m      largest score so far, in units of log2; -inf before the first visible key
//   l      sum of 2^(s - m)
//   t      sum of 2^(s - m) * (s - m), for the entropy; never above 0, so nothing cancels
//   o      sum of 2^(s - m) * value
//   live   whether any key so far was visible: asked of the mask, never of the numbers
//   top    the k best scores so far and their keys
#pragma once

#include "kernels/arrays.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kFar = int64_t{1} << 62;  // beyond any key

template <class T>
struct Block {
    int count, columns;                // queries, and registers that hold them
    const char* query[kRowsPerBlock];  // where each row of queries begins
    int64_t head[kRowsPerBlock], position[kRowsPerBlock];
    int64_t low[kRowsPerBlock], high[kRowsPerBlock];  // the band of keys of each query
    int64_t low_min, low_max, high_min, high_max;
    bool first;   // no tile yet
    bool single;  // the sample has one valid query: q holds rows [lane][d_k, padded] as they are
    T *q, *o, *m, *l, *t, *decay;
    uint8_t* live;
    T *top_scores, *top_keys;  // [k][64], the keys carried in the bits of T
    int64_t* top_filled;       // for the heaps of long lists
};

// `top`: entries of the lists of all queries together.
template <class T>
void lay_out(Block<T>& b, Arena& arena, const Request& r, int64_t top, bool outputs) {
    constexpr int64_t L = Vec<T>::kLanes;
    b.q = arena.take<T>(round_up(r.d_k, 2 * L) * kRowsPerBlock);
    b.o = outputs ? arena.take<T>(round_up(r.d_v, L) * kRowsPerBlock) : nullptr;
    b.m = arena.take<T>(kRowsPerBlock);
    b.l = arena.take<T>(kRowsPerBlock);
    b.t = arena.take<T>(kRowsPerBlock);
    b.decay = arena.take<T>(kRowsPerBlock);
    b.live = arena.take<uint8_t>(kRowsPerBlock);
    b.top_scores = arena.take<T>(top);
    b.top_keys = arena.take<T>(top);
    b.top_filled = arena.take<int64_t>(kRowsPerBlock);
}

CLEARHEAD_INLINE int64_t valid_queries(const Request& r, int64_t sample) {
    return r.mask.query_lengths ? r.mask.query_lengths[sample] : r.queries;
}

CLEARHEAD_INLINE bool single_query(const Request& r, int64_t sample) {
    return valid_queries(r, sample) == 1;
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
    if (!b.single) {
        transpose_queries<P>(b.q, b.query, b.count, a.kind, a.column, r.d_k, factor,
                             reinterpret_cast<Entry*>(line));
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

// Fills in who the queries are and which keys their bands reach. `list` names queries of one head;
// without it row r is query r % N of head first_head + r / N.
template <class T>
void choose_rows(Block<T>& b, const Request& r, int64_t sample, int64_t first_head, int64_t begin,
                 int64_t end, const int64_t* list) {
    constexpr int L = Vec<T>::kLanes;
    b.count = static_cast<int>(end - begin);
    b.columns = (b.count + L - 1) / L;
    b.low_min = b.high_min = kFar;
    b.low_max = b.high_max = -kFar;
    b.first = true;
    b.single = single_query(r, sample);
    const int64_t keys = r.mask.key_lengths ? r.mask.key_lengths[sample] : r.keys;
    const int64_t valid = valid_queries(r, sample);
    const int64_t step = r.query.row * size_of(r.query.kind);
    int64_t head = list ? first_head : first_head + begin / r.queries;
    int64_t i = list ? 0 : begin % r.queries;
    const char* base = place(r, r.query, sample, head);
    for (int lane = 0; lane < b.count; ++lane, ++i) {
        if (list) {
            i = list[begin + lane];
        } else if (i == r.queries) {
            i = 0;
            base = place(r, r.query, sample, ++head);
        }
        b.head[lane] = head;
        b.position[lane] = i;
        b.query[lane] = base + i * step;
        int64_t low = 0, high = keys - 1;
        if (r.mask.low) {
            low = larger(low, i + r.mask.low[sample]);
            high = smaller(high, i + r.mask.high[sample]);
        }
        if (i >= valid || low > high) {  // sees nothing: a band that holds no key
            low = kFar;
            high = -kFar;
        } else {
            b.low_min = smaller(b.low_min, low);
            b.high_max = larger(b.high_max, high);
        }
        b.low_max = larger(b.low_max, low);
        b.high_min = smaller(b.high_min, high);
        b.low[lane] = low;
        b.high[lane] = high;
    }
    for (int lane = b.count; lane < b.columns * L; ++lane) {
        b.low[lane] = -kFar;  // beyond the last query: never masked, never read
        b.high[lane] = kFar;
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
