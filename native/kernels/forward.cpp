// The first pass: out, and what can be seen of the weights while they go by.
//
//   out[i] = sum over tiles of (sum over j in tile of 2^(s[i][j] - m) v[j]) / Z[i]
//
// Order: a task is up to four blocks of 64 queries. Tiles of 66 keys outermost, from key 0 on, so
// that a tile is read once for all blocks while it is in cache; then the blocks; for each block the
// scores, the top lists, softmax, the mix of values. Only O(64 * (d_k + d_v + k)) numbers are kept
// per block, whatever the number of keys. Each query has lanes of its own throughout: its result
// does not depend on its neighbours. Observing reads the tile and changes nothing in it.
#include "kernels/entries.h"
#include "kernels/finish.h"
#include "kernels/values.h"
#if defined(CLEARHEAD_ISA_amx)
#include "kernels/tiles_mix.h"
#endif

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
struct Work {
    using T = typename P::Sum;
    Block<T> blocks[kBlocksPerTask];
    Tile<T> tile;
    T *keys, *values, *line, *turned;
    Arena arena;

    Work(const Request& r, int64_t rows, void* scratch) : arena{static_cast<char*>(scratch)} {
        constexpr int L = Vec<T>::kLanes;
        const int64_t entries = entries_kept(r, smaller(rows, kRowsPerBlock));
        for (int64_t i = 0; i * kRowsPerBlock < rows; ++i) {
            lay_out_queries(blocks[i], arena, r, kRowsPerBlock);
            lay_out_sums(blocks[i], arena, r, kRowsPerBlock, entries);
        }
        lay_out(tile, arena);
        keys = arena.take<T>(kKeysPerTile * round_up(r.d_k, L));
        values = arena.take<T>(Values<P>::scratch(r));
        line = arena.take<T>(larger(L * round_up(r.d_k, P::kStep), round_up(r.d_v, L)));
        turned = arena.take<T>(ByTiles<P> ? kRowsPerBlock * round_up(r.d_v, L) : 0);
    }
};

template <class P, bool entropy, class T = typename P::Sum>
void see_tile(Work<P>& w, Block<T>& b, const Request& r, int64_t sample, Values<P>& values,
              const typename P::Entry* v, int64_t stride) {
    Tile<T>& tile = w.tile;
    Lanes lanes = tile.lanes;
    const int64_t width = values.rows.padded;
    if (r.observe.top) see_top(b, lanes, r, tile.s, tile.largest, tile.begin, tile.keys);
    softmax_tile<P, entropy>(b, lanes, tile.largest, tile.panels, tile.begin, tile.keys, tile.s);
    const bool selected = tile.seen == Seen::kSome && !values.finite(v, stride, tile.keys);
    if (selected && !tile.bytes)
        read_visible<T>(r, b, lanes, sample, tile.begin, tile.keys, tile.masked, tile.visible);
    for (Lanes run = next_run(b, lanes); run.begin < run.end; run = next_run(b, lanes)) {
        const int at = run.begin, rows = queries_in(b, run);
        const bool fresh = is_fresh(b, at);
        const Reached reached{b.low + at, b.high + at, tile.begin};
        T* o = b.o + (ByTiles<P> ? at : at * width);
        if (selected)
            mix_selected<P>(tile.s + at, tile.visible + at, v, stride, tile.keys, b.decay + at,
                            fresh, o, width, rows);
        else
            mix_tile<P>(tile.s + at, v, stride, tile.keys, b.decay + at, fresh, o, width, rows,
                        tile.seen == Seen::kAll ? nullptr : &reached);
        lanes.begin = run.end;
    }
    touch(b, tile.lanes);
}

template <class P, bool entropy>
void run_task(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using T = typename P::Sum;
    Work<P> w(r, task.end - task.begin, scratch);
    [[maybe_unused]] typename P::Session session;
    const int64_t sample = task.sample;
    int blocks = 0;
    int64_t first = kFar, last = -1;  // the keys that any block reaches
    for (int64_t begin = task.begin; begin < task.end; begin += kRowsPerBlock) {
        Block<T>& b = w.blocks[blocks++];
        choose_rows(b, r, task, begin, smaller(begin + kRowsPerBlock, task.end), nullptr);
        std::memset(b.live, 0, kRowsPerBlock);
        first = smaller(first, b.low_min);
        last = larger(last, b.high_max);
        if (b.low_min <= b.high_max) read_queries<P>(b, r, query_factor<T>(r), w.line);
    }
    if (first <= last) {
        const int64_t head = task.first_head / (r.heads / r.key_heads);
        const auto keys = keys_of<P>(r, sample, head, w.keys);
        Values<P> values(r, sample, head, w.values);
        first = first / P::kWhole * P::kWhole;
        const int64_t whole = keys_per_tile(r);
        for (int64_t at = first / whole * whole; at <= last; at += whole) {
            const int64_t begin = larger(at, first);
            const int64_t end = smaller(at + whole, last + 1);
            int64_t k_stride = 0, v_stride = 0;
            const typename P::Entry *k = nullptr, *v = nullptr;
            for (Block<T>* b = w.blocks; b < w.blocks + blocks; ++b) {
                const auto score = [&] {
                    if (!k) {
                        k = keys.tile(begin, end, &k_stride);
                        v = values.tile(begin, end, &v_stride);
                    }
                    score_block<P>(w.tile, *b, r, k + (w.tile.begin - begin) * k_stride, k_stride);
                };
                if (!fill<P>(w.tile, *b, r, sample, begin, end, score)) continue;
                const int64_t skipped = values.offset(w.tile.begin - begin, v_stride);
                see_tile<P, entropy>(w, *b, r, sample, values, v + skipped, v_stride);
            }
        }
    }
    for (Block<T>* b = w.blocks; b < w.blocks + blocks; ++b) {
        if constexpr (ByTiles<P>) turn_outputs(*b, round_up(r.d_v, Vec<T>::kLanes), w.turned);
        finish(w.tile, w.line, *b, r, sample, n);
    }
}

}  // namespace

// Plain functions, since an instance of a template would be a weak symbol.
#if !defined(CLEARHEAD_BFLOAT16_ALONE)
size_t forward_scratch_float(const Request& r, int64_t rows) {
    return Work<Singles<float>>(r, rows, nullptr).arena.used;
}
size_t forward_scratch_double(const Request& r, int64_t rows) {
    return Work<Singles<double>>(r, rows, nullptr).arena.used;
}
void forward_float(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = Singles<float>;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}
void forward_double(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = Singles<double>;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}
#endif

size_t forward_scratch_bfloat(const Request& r, int64_t rows) {
    return Work<BFloats>(r, rows, nullptr).arena.used;
}
void forward_bfloat(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = BFloats;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}

}  // namespace clearhead::CLEARHEAD_ISA
