// What both sweeps of the second pass share: the queries with what forward left of them, and a tile
// of scores that becomes weights.
//
//   p[i][j] = 2^(s[i][j] - m[i]) / Z[i]         with the scores s of forward, computed again
//
// The same numbers again instead of kept: keeping s would take N x M memory, and sums rescaled on
// the way would differ from the weights that rows show.
#pragma once

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
        lay_out(tile, arena);
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

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
