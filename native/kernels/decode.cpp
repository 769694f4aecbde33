// The first pass of a thin unit: a few queries, many keys, as when a text is written word by word.
//
//   out[i] = sum over parts of 2^(m_part - m) * (sum over j in part of 2^(s[i][j] - m_part) v[j]) /
//   Z
//
// Order: a task owns one part of the keys and leaves m, l, t, o and the lists of its
// queries; where there are several parts, `join` adds them up from the first to the last. Parts
// begin at multiples of their size from key 0: what is summed with what depends on the keys in
// reach and on nothing else. Within a part the tiles, and for each tile the scores, the top
// lists, softmax and the mix, as in forward.cpp, over packed scores: thin.h, thin_mix.h. A tile
// that is edited, partly hidden or looked at is spread to the layout of other blocks for that, and
// gathered again: all that is summed is summed in one way, whatever is masked or observed.
#include "kernels/entries.h"
#include "kernels/join.h"
#include "kernels/thin_block.h"
#include "kernels/thin_mix.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P, class T = typename P::Sum>
void turn_queries(Block<T>& b, int64_t width) {
    using Entry = typename P::Entry;
    for (int at = 0; at < b.columns * Vec<T>::kLanes; at += Vec<T>::kLanes) {
        by_rows<T>(b.count - at, [&](auto R) {
            interleave<P, R.value>(reinterpret_cast<const Entry*>(b.q) + at * width, b.count - at,
                                   width, reinterpret_cast<Entry*>(b.turned) + at * width);
        });
    }
}

// Whether all may look at all of a tile and nobody edits or lists its scores: most tiles, of which
// `fill` would find out the same.
template <class T>
CLEARHEAD_INLINE bool is_plain(const Request& r, const Block<T>& b, int64_t begin, int64_t end) {
    return !edits_scores(r) && !r.observe.top && !needs_bytes(r) &&
           band_is_full(b, all_lanes(b), begin, end);
}

// The scores of a tile, packed, and spread where somebody needs them so.
template <class P, class T = typename P::Sum>
void score_packed(Thin<P>& w, const Request& r, const Stream& k, const Ahead& ahead) {
    const Block<T>& b = w.block;
    Tile<T>& tile = w.tile;
    tile.spread = edits_scores(r) || tile.seen != Seen::kAll || r.observe.top;
    const int64_t width = single_width<P>(r);
    for (int at = tile.lanes.begin; at < tile.lanes.end; at += Vec<T>::kLanes) {
        const auto* q = reinterpret_cast<const typename P::Entry*>(b.turned) + at * width;
        T* s = packed_of(w.packed, at);
        by_rows<T>(b.count - at, [&](auto R) {
            by_kind<P>(k.kind, [&](auto kind) {
                const auto most = score_rows<P, kind.value, R.value>(k, q, width, tile.keys,
                                                                     query_factor<T>(r), s, ahead);
                Vec<T>::store(w.most + at, most);
            });
            if (tile.spread) spread<R.value>(s, tile.keys, tile.s + at);
        });
    }
}

// The weights of the tile and the values they mix, where all values may be read.
template <class P, bool entropy, class T = typename P::Sum>
void see_tile(Thin<P>& w, const Request& r, int64_t sample, const Source<P>& values,
              Values<P>& woven, const Source<P>& keys, int64_t last) {
    Block<T>& b = w.block;
    Tile<T>& tile = w.tile;
    const int64_t width = values.rows.padded, next = tile.begin + tile.keys;
    const Stream v = values.tile(tile.begin, tile.keys);
    const Ahead ahead = keys.ahead(next, next <= last, v);
    const bool selected = tile.seen == Seen::kSome && !finite_rows<P>(v, tile.keys, width);
    int64_t stride = 0;
    const auto* part = selected ? woven.tile(tile.begin, tile.begin + tile.keys, &stride) : nullptr;
    if (selected && !tile.bytes)
        read_visible<T>(r, b, tile.lanes, sample, tile.begin, tile.keys, tile.masked, tile.visible);
    for (int at = tile.lanes.begin; at < tile.lanes.end; at += Vec<T>::kLanes) {
        T* s = packed_of(w.packed, at);
        T* o = b.o + at * width;
        const bool fresh = is_fresh(b, at);
        by_rows<T>(b.count - at, [&](auto R) {
            auto most = Vec<T>::load(w.most + at);
            if (edits_scores(r) || tile.seen != Seen::kAll)
                most = gather<R.value>(tile.s + at, tile.keys, s);
            softmax_rows<P, entropy, R.value>(b, at, most, tile.keys, s);
            if (!selected) {
                mix_thin<P, R.value>(s, v, tile.keys, b.decay + at, fresh, o, width, ahead);
                return;
            }
            spread<R.value>(s, (tile.keys + P::kStep - 1) / P::kStep, tile.s + at);
            const int rows = static_cast<int>(smaller(b.count - at, Vec<T>::kLanes));
            mix_selected<P>(tile.s + at, tile.visible + at, part, stride, tile.keys, b.decay + at,
                            fresh, o, width, rows);
        });
    }
    touch(b, tile.lanes);
}

template <class P, bool entropy>
void run_part(const Request& r, const Task& task, const Part& part, const Normalisers& n,
              void* scratch) {
    using T = typename P::Sum;
    constexpr int L = Vec<T>::kLanes;
    Thin<P> w(r, scratch, part.sums);
    Block<T>& b = w.block;
    Tile<T>& tile = w.tile;
    const int64_t sample = task.sample;
    choose_rows(b, r, task, task.begin, task.end, nullptr);
    std::memset(b.live, 0, kRowsPerBlock);
    const int64_t first = larger(b.low_min, part.begin) / P::kStep * P::kStep;
    const int64_t last = smaller(b.high_max, part.end - 1);
    if (first <= last) {
        read_queries<P>(b, r, query_factor<T>(r), w.line);
        turn_queries<P>(b, single_width<P>(r));
        const int64_t head = task.first_head / (r.heads / r.key_heads);
        const Source<P> keys(keys_of<P>(r, sample, head, w.keys));
        const Source<P> values(rows_of(r, r.value, sample, head, r.d_v, L,
                                       reinterpret_cast<typename P::Entry*>(w.values)));
        Values<P> woven(r, sample, head, w.selected);
        for (int64_t at = first / kThinTile * kThinTile; at <= last; at += kThinTile) {
            const int64_t begin = larger(at, first);
            const int64_t end = smaller(at + kThinTile, last + 1);
            const auto score = [&] {
                const Stream k = keys.tile(tile.begin, tile.keys);
                score_packed(w, r, k, values.ahead(tile.begin, true, k));
            };
            if (is_plain(r, b, begin, end)) {
                tile.begin = begin;
                tile.keys = end - begin;
                tile.lanes = all_lanes(b);
                tile.seen = Seen::kAll;
                std::memset(b.live, 1, kRowsPerBlock);
                score();
            } else if (!fill<P>(tile, b, r, sample, begin, end, score)) {
                continue;
            }
            if (r.observe.top)
                see_top(b, tile.lanes, r, tile.s, tile.largest, tile.begin, tile.keys);
            see_tile<P, entropy>(w, r, sample, values, woven, keys, last);
        }
    }
    unpack_sums(b, entropy);
    if (!part.sums) {
        finish(tile, w.line, b, r, sample, n);
        return;
    }
    settle(b, r);
    const int64_t width = round_up(r.d_v, L);
    for (int lane = 0; lane < b.count; ++lane)
        if (is_fresh(b, lane))
            std::memset(b.o + lane * width, 0, static_cast<size_t>(width) * sizeof(T));
}

template <class P>
void join(const Request& r, const Task& task, void* sums, int64_t count, const Normalisers& n,
          void* scratch) {
    using T = typename P::Sum;
    Thin<P> w(r, scratch, sums);
    Block<T>& a = w.block;
    choose_rows(a, r, task, task.begin, task.end, nullptr);
    a.fresh = 0;
    Block<T> b;
    const size_t bytes = Thin<P>::take_sums(b, r, nullptr);
    for (int64_t i = 1; i < count; ++i) {
        Thin<P>::take_sums(b, r, static_cast<char*>(sums) + static_cast<size_t>(i) * bytes);
        join_sums(a, b, r);
        if (r.observe.top) join_top(a, b, r);
    }
    finish(w.tile, w.line, a, r, task.sample, n);
}

template <class P>
size_t scratch_of(const Request& r) {
    return Thin<P>(r, nullptr, nullptr).arena.used;
}

template <class P>
size_t size_of_sums(const Request& r) {
    Block<typename P::Sum> b;
    return Thin<P>::take_sums(b, r, nullptr);
}

template <class P>
void run(const Request& r, const Task& task, const Part& part, const Normalisers& n,
         void* scratch) {
    (r.observe.entropy ? run_part<P, true> : run_part<P, false>)(r, task, part, n, scratch);
}

}  // namespace

size_t thin_scratch_bfloat(const Request& r) {
    return scratch_of<ThinBFloats>(r);  // no less than join_float needs
}
void thin_bfloat(const Request& r, const Task& task, const Part& part, const Normalisers& n,
                 void* scratch) {
    run<ThinBFloats>(r, task, part, n, scratch);
}

size_t sums_size_float(const Request& r) {
    return size_of_sums<Singles<float>>(r);
}
void join_float(const Request& r, const Task& task, void* sums, int64_t count, const Normalisers& n,
                void* scratch) {
    join<Singles<float>>(r, task, sums, count, n, scratch);
}

#if !defined(CLEARHEAD_BFLOAT16_ALONE)
size_t thin_scratch_float(const Request& r) {
    return scratch_of<Singles<float>>(r);
}
void thin_float(const Request& r, const Task& task, const Part& part, const Normalisers& n,
                void* scratch) {
    run<Singles<float>>(r, task, part, n, scratch);
}

size_t thin_scratch_double(const Request& r) {
    return scratch_of<Singles<double>>(r);
}
void thin_double(const Request& r, const Task& task, const Part& part, const Normalisers& n,
                 void* scratch) {
    run<Singles<double>>(r, task, part, n, scratch);
}
size_t sums_size_double(const Request& r) {
    return size_of_sums<Singles<double>>(r);
}
void join_double(const Request& r, const Task& task, void* sums, int64_t count,
                 const Normalisers& n, void* scratch) {
    join<Singles<double>>(r, task, sums, count, n, scratch);
}
#endif

}  // namespace clearhead::CLEARHEAD_ISA
