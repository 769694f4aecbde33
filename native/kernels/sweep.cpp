// The second pass, only for what needs the final sums of every query: m and 1 / Z, left by forward.
//
//   p[i][j]     = 2^(s[i][j] - m[i]) / Z[i]         with the scores s of forward, computed again
//   received[j] = sum over counted i of p[i][j] / their number
//   map[I][J]   = sum over i in block I, j in block J of p[i][j] / live queries of I
//   rows[r][j]  = p[list[r]][j]
//
// The same numbers again instead of kept: keeping s would take N x M memory, and sums rescaled on
// the way would differ from the weights that rows show.
//
// Order of the key sweep: a task owns some keys of one head and goes through all queries, 64 at a
// time, from 0 on; nobody else adds to what it writes, so the sums are the same for any number of
// threads and need no partial copies. They are kept in double. The row sweep: a task owns up to 64
// chosen queries and goes through all keys.
#include "kernels/entries.h"
#include "kernels/tile.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
struct Sweep {
    using T = typename P::Sum;
    Block<T> block;
    Tile<T> tile;
    T *keys, *line, *inverse;
    double *received, *cells;
    int64_t* map_row;  // of each lane
    Arena arena;

    Sweep(const Request& r, void* scratch) : arena{static_cast<char*>(scratch)} {
        lay_out_queries(block, arena, r, kRowsPerBlock);
        block.m = arena.take<T>(kRowsPerBlock);
        block.live = arena.take<uint8_t>(kRowsPerBlock);
        lay_out(tile, arena, r);
        keys = arena.take<T>(kKeysPerTile * round_up(r.d_k, Vec<T>::kLanes));
        line = arena.take<T>(Vec<T>::kLanes * round_up(r.d_k, P::kStep));
        inverse = arena.take<T>(kRowsPerBlock);
        map_row = arena.take<int64_t>(kRowsPerBlock);
        received = arena.take<double>(r.observe.received ? most_keys(r) : 0);
        cells = arena.take<double>(r.observe.map ? map_rows(r) * most_keys(r) : 0);
    }

    static int64_t most_keys(const Request& r) {  // of one task, and so of its blocks of the map
        return r.observe.map ? larger(kSweepKeys, r.observe.map_keys) : kSweepKeys;
    }
    static int64_t map_rows(const Request& r) {
        return (r.queries + r.observe.map_queries - 1) / r.observe.map_queries;
    }
};

// Chooses the queries and brings in what forward left of them. False if none sees a key.
template <class P, class T = typename P::Sum>
bool take_queries(Sweep<P>& w, const Request& r, const Task& task, int64_t begin, int64_t end,
                  const int64_t* list, const Normalisers& n) {
    Block<T>& b = w.block;
    choose_rows(b, r, task, begin, end, list);
    if (b.low_min > b.high_max) return false;
    read_queries<P>(b, r, query_factor<T>(r), w.line);
    for (int lane = 0; lane < b.columns * Vec<T>::kLanes; ++lane) {
        const int from = lane < b.count ? lane : 0;
        const int64_t row = (task.sample * r.heads + b.head[from]) * r.queries + b.position[from];
        b.m[lane] = static_cast<const T*>(n.largest)[row];
        w.map_row[lane] = r.observe.map ? b.position[from] / r.observe.map_queries : 0;
        w.inverse[lane] = lane < b.count ? static_cast<const T*>(n.inverse)[row] : T(0);
    }
    return true;
}

// The tile of scores becomes weights; 0 where masked, whatever the query holds.
template <class P, class T = typename P::Sum>
void normalise(Sweep<P>& w) {
    using V = Vec<T>;
    const Block<T>& b = w.block;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    for (int at = w.tile.lanes.begin; at < w.tile.lanes.end; at += V::kLanes) {
        const auto m = V::load(b.m + at), inverse = V::load(w.inverse + at);
        for (int64_t j = 0; j < w.tile.keys; ++j) {
            T* to = w.tile.s + j * kRowsPerBlock + at;
            const auto s = V::load(to);
            const auto p = V::mul(exp2<T>(V::sub(s, m)), inverse);
            V::store(to, V::select(V::equal(s, none), V::zero(), p));
        }
    }
}

// Adds the tile to received, of the lanes with a 1 in `counted`.
template <class P, class T = typename P::Sum>
void add_received(Sweep<P>& w, const T* counted, int64_t first_key) {
    using V = Vec<T>;
    for (int64_t j = 0; j < w.tile.keys; ++j) {
        auto sum = V::zero();
        for (int at = w.tile.lanes.begin; at < w.tile.lanes.end; at += V::kLanes) {
            const auto counts = V::less(V::zero(), V::load(counted + at));
            const auto p = V::load(w.tile.s + j * kRowsPerBlock + at);
            sum = V::add(sum, V::select(counts, p, V::zero()));
        }
        w.received[w.tile.begin + j - first_key] += static_cast<double>(V::sum(sum));
    }
}

// Adds the tile to the blocks of the map, `columns` of them per row.
template <class P, class T = typename P::Sum>
void add_map(Sweep<P>& w, const Request& r, int64_t first_key, int64_t columns) {
    using V = Vec<T>;
    const Block<T>& b = w.block;
    const Tile<T>& tile = w.tile;
    const int64_t wide = r.observe.map_keys;
    T sums[kRowsPerBlock];
    for (int64_t j = 0; j < tile.keys;) {
        const int64_t column = (tile.begin + j - first_key) / wide;
        const int64_t end = smaller(tile.keys, first_key + (column + 1) * wide - tile.begin);
        for (int at = tile.lanes.begin; at < tile.lanes.end; at += V::kLanes) {
            auto sum = V::zero();
            for (int64_t i = j; i < end; ++i)
                sum = V::add(sum, V::load(tile.s + i * kRowsPerBlock + at));
            V::store(sums + at, sum);
        }
        for (int lane = tile.lanes.begin; lane < tile.lanes.begin + queries_in(b, tile.lanes);
             ++lane)
            w.cells[w.map_row[lane] * columns + column] += static_cast<double>(sums[lane]);
        j = end;
    }
}

// Queries that may look at something, of [begin, end).
CLEARHEAD_INLINE int64_t live_queries(const uint8_t* visible, int64_t begin, int64_t end) {
    int64_t live = 0;
    for (int64_t i = begin; i < end; ++i) live += visible[i];
    return live;
}

template <class P, class T = typename P::Sum>
void write_keys(Sweep<P>& w, const Request& r, const Task& task, int64_t first_counted,
                int64_t valid, int64_t columns) {
    const int64_t unit = task.sample * r.heads + task.first_head;
    const uint8_t* visible = r.observe.visible + unit * r.queries;
    if (r.observe.received) {
        const int64_t live = live_queries(visible, first_counted, valid);
        T* to = static_cast<T*>(r.observe.received) + unit * r.keys;
        for (int64_t j = task.begin; j < task.end; ++j)
            to[j] = live ? static_cast<T>(w.received[j - task.begin] / static_cast<double>(live))
                         : T(0);
    }
    if (!r.observe.map) return;
    const int64_t tall = r.observe.map_queries, wide = r.observe.map_keys;
    const int64_t across = (r.keys + wide - 1) / wide, down = Sweep<P>::map_rows(r);
    T* to = static_cast<T*>(r.observe.map) + unit * down * across + task.begin / wide;
    for (int64_t i = 0; i < down; ++i) {
        const int64_t live = live_queries(visible, i * tall, smaller(r.queries, (i + 1) * tall));
        for (int64_t j = 0; j < columns; ++j)
            to[i * across + j] =
                live ? static_cast<T>(w.cells[i * columns + j] / static_cast<double>(live)) : T(0);
    }
}

template <class P, class T = typename P::Sum>
void sweep_keys(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    Sweep<P> w(r, scratch);
    [[maybe_unused]] typename P::Session session;
    const int64_t sample = task.sample;
    const int64_t valid = valid_queries(r, sample);
    const int64_t last = r.observe.received_last;
    const int64_t first_counted = last < 0 ? 0 : larger(0, valid - last);
    const int64_t columns =
        r.observe.map ? (task.end - task.begin + r.observe.map_keys - 1) / r.observe.map_keys : 0;
    if (r.observe.received)
        std::memset(w.received, 0, static_cast<size_t>(task.end - task.begin) * sizeof(double));
    if (r.observe.map)
        std::memset(w.cells, 0,
                    static_cast<size_t>(Sweep<P>::map_rows(r) * columns) * sizeof(double));
    const int64_t head = task.first_head / (r.heads / r.key_heads);
    const auto keys = keys_of<P>(r, sample, head, w.keys);
    T counted[kRowsPerBlock];
    for (int64_t i = 0; i < r.queries; i += kRowsPerBlock) {
        const int64_t until = smaller(i + kRowsPerBlock, r.queries);
        if (!r.observe.map && until <= first_counted) continue;
        if (!take_queries(w, r, task, i, until, nullptr, n)) continue;
        for (int lane = 0; lane < kRowsPerBlock; ++lane)
            counted[lane] = i + lane >= first_counted && i + lane < valid;
        const int64_t stop = smaller(task.end, w.block.high_max + 1);
        for (int64_t begin = task.begin; begin < stop; begin += kKeysPerTile) {
            const int64_t end = smaller(begin + kKeysPerTile, stop);
            if (end <= w.block.low_min) continue;
            int64_t stride = 0;
            const auto* k = keys.tile(begin, end, &stride);
            const auto score = [&] {
                score_block<P>(w.tile, w.block, r, k + (w.tile.begin - begin) * stride, stride);
            };
            if (!fill<P>(w.tile, w.block, r, sample, begin, end, score)) continue;
            normalise(w);
            if (r.observe.received) add_received(w, counted, task.begin);
            if (r.observe.map) add_map(w, r, task.begin, columns);
        }
    }
    write_keys(w, r, task, first_counted, valid, columns);
}

// to[lane][j] = weights of the tile, turned a square of registers at a time.
template <class P, class T = typename P::Sum>
void write_rows(const Sweep<P>& w, const Request& r, T* to) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const Block<T>& b = w.block;
    for (int lane = w.tile.lanes.begin; lane < smaller(w.tile.lanes.end, b.count); lane += L) {
        int64_t j = 0;
        for (; j + L <= w.tile.keys && lane + L <= b.count; j += L) {
            typename V::Reg square[L];
            for (int i = 0; i < L; ++i)
                square[i] = V::load(w.tile.s + (j + i) * kRowsPerBlock + lane);
            V::transpose(square);
            for (int i = 0; i < L; ++i) V::store(to + (lane + i) * r.keys + j, square[i]);
        }
        for (; j < w.tile.keys; ++j)
            for (int i = lane; i < lane + L && i < b.count; ++i)
                to[i * r.keys + j] = w.tile.s[j * kRowsPerBlock + i];
    }
}

template <class P, class T = typename P::Sum>
void sweep_rows(const Request& r, const Task& task, const Normalisers& n, const int64_t* list,
                void* out, int64_t rows, void* scratch) {
    Sweep<P> w(r, scratch);
    [[maybe_unused]] typename P::Session session;
    const int64_t sample = task.sample;
    const Block<T>& b = w.block;
    T* to =
        static_cast<T*>(out) + ((sample * r.heads + task.first_head) * rows + task.begin) * r.keys;
    std::memset(to, 0, static_cast<size_t>((task.end - task.begin) * r.keys) * sizeof(T));
    if (!take_queries(w, r, task, task.begin, task.end, list, n)) return;
    const int64_t head = task.first_head / (r.heads / r.key_heads);
    const auto keys = keys_of<P>(r, sample, head, w.keys);
    for (int64_t begin = b.low_min; begin <= b.high_max; begin += kKeysPerTile) {
        const int64_t end = smaller(begin + kKeysPerTile, b.high_max + 1);
        int64_t stride = 0;
        const auto* k = keys.tile(begin, end, &stride);
        const auto score = [&] {
            score_block<P>(w.tile, b, r, k + (w.tile.begin - begin) * stride, stride);
        };
        if (!fill<P>(w.tile, w.block, r, sample, begin, end, score)) continue;
        normalise(w);
        write_rows(w, r, to + w.tile.begin);
    }
}

}  // namespace

#if !defined(CLEARHEAD_BFLOAT16_ALONE)
size_t sweep_scratch_float(const Request& r) {
    return Sweep<Singles<float>>(r, nullptr).arena.used;
}
void sweep_keys_float(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    sweep_keys<Singles<float>>(r, task, n, scratch);
}
void sweep_rows_float(const Request& r, const Task& task, const Normalisers& n, const int64_t* list,
                      void* out, int64_t rows, void* scratch) {
    sweep_rows<Singles<float>>(r, task, n, list, out, rows, scratch);
}

size_t sweep_scratch_double(const Request& r) {
    return Sweep<Singles<double>>(r, nullptr).arena.used;
}
void sweep_keys_double(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    sweep_keys<Singles<double>>(r, task, n, scratch);
}
void sweep_rows_double(const Request& r, const Task& task, const Normalisers& n,
                       const int64_t* list, void* out, int64_t rows, void* scratch) {
    sweep_rows<Singles<double>>(r, task, n, list, out, rows, scratch);
}
#endif

size_t sweep_scratch_bfloat(const Request& r) {
    return static_cast<size_t>(
        larger(Sweep<BFloats>(r, nullptr).arena.used, Sweep<ThinBFloats>(r, nullptr).arena.used));
}
void sweep_keys_bfloat(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    const bool thin = is_thin(r, task.sample);
    (thin ? sweep_keys<ThinBFloats> : sweep_keys<BFloats>)(r, task, n, scratch);
}
void sweep_rows_bfloat(const Request& r, const Task& task, const Normalisers& n,
                       const int64_t* list, void* out, int64_t rows, void* scratch) {
    const bool thin = is_thin(r, task.sample);
    (thin ? sweep_rows<ThinBFloats> : sweep_rows<BFloats>)(r, task, n, list, out, rows, scratch);
}

}  // namespace clearhead::CLEARHEAD_ISA
