// What a task of a thin unit keeps, and where it reads: keys and values in place, if their rows are
// dense, of a kind that can be loaded and whole registers wide; else copied, tile by tile.
#pragma once

#include "kernels/finish.h"
#include "kernels/values.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
struct Thin {
    using T = typename P::Sum;
    Block<T> block;
    Tile<T> tile;
    T *packed, *most, *keys, *values, *selected, *line;
    Arena arena;

    Thin(const Request& r, void* scratch, void* sums) : arena{static_cast<char*>(scratch)} {
        constexpr int L = Vec<T>::kLanes;
        lay_out_queries(block, arena, r, kThinRows);
        if (sums) {
            take_sums(block, r, sums);
        } else {
            lay_out_sums(block, arena, r, kThinRows, entries_kept(r, kThinRows));
        }
        lay_out(tile, arena);
        packed = arena.take<T>(packed_size<T>());
        most = arena.take<T>(kRowsPerBlock);
        keys = arena.take<T>(kKeysPerTile * round_up(r.d_k, L));
        values = arena.take<T>(kKeysPerTile * round_up(r.d_v, L));
        selected = arena.take<T>(Values<P>::scratch(r));
        line = arena.take<T>(larger(L * r.d_k, round_up(r.d_v, L)));
    }

    static size_t take_sums(Block<T>& b, const Request& r, void* sums) {
        Arena arena{static_cast<char*>(sums)};
        lay_out_sums(b, arena, r, kThinRows, entries_kept(r, kThinRows));
        return arena.used;
    }
};

// The rows of keys or values of one head, where they lie if they can be read there, else copied.
template <class P>
struct Source {
    using Entry = typename P::Entry;
    Rows<Entry> rows;
    bool lies;

    explicit Source(const Rows<Entry>& of) : rows(of), lies(of.in_place) {
        const bool half = of.kind == Kind::kFloat16 || of.kind == Kind::kBFloat16;
        if (sizeof(Entry) == sizeof(float) && half)
            lies = (of.column == 1 || of.width == 1) && of.width == of.padded;
    }

    int64_t row_bytes() const { return rows.row * size_of(rows.kind); }
    Stream tile(int64_t begin, int64_t keys) const {
        if (lies) return {rows.base + begin * row_bytes(), rows.kind, row_bytes()};
        int64_t stride = 0;
        const Entry* copy = rows.tile(begin, begin + keys, &stride);
        return {reinterpret_cast<const char*>(copy), kind_of<Entry>(),
                stride * static_cast<int64_t>(sizeof(Entry))};
    }
    // Rows from `begin` on, or `otherwise` where there are none to be fetched.
    Ahead ahead(int64_t begin, bool any, const Stream& otherwise) const {
        if (!any || !lies) return {otherwise.data, otherwise.row};
        return {rows.base + begin * row_bytes(), row_bytes()};
    }
};

// Room for the packed scores of the register of queries that begins at lane `at`.
template <class T>
CLEARHEAD_INLINE T* packed_of(T* packed, int at) {
    return packed + at * (kKeysPerTile + Vec<T>::kLanes);
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
