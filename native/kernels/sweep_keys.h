// The sweep over the keys of one head, for what is asked of each key.
//
//   received[j] = sum over counted i of p[i][j] / their number
//   map[I][J]   = sum over i in block I, j in block J of p[i][j] / live queries of I
//
// Order: a task owns some keys of one head and goes through all queries, 64 at a time, from 0 on;
// nobody else adds to what it writes, so the sums are the same for any number of threads and need
// no partial copies. They are kept in double.
#pragma once

#include "kernels/sweep.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

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

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
