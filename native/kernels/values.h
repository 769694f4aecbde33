// Tiles of values as the mix reads them: rows of T where they lie or copied, or pairs of rows woven
//
//   v[j][c] = (value[2j][c], value[2j + 1][c])        0 beside the last of an odd number of keys
//
// Weaving costs two operations for 16 columns of two keys, once per tile of a task; the mix of the
// blocks of the task reads it 64 times and more.
#pragma once

#include "kernels/mix.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
struct Values {
    using T = typename P::Sum;
    Rows<T> rows;

    Values(const Request& r, int64_t sample, int64_t head, T* scratch)
        : rows(rows_of(r, r.value, sample, head, r.d_v, Vec<T>::kLanes, scratch)) {}

    static int64_t scratch(const Request& r) {
        return kKeysPerTile * round_up(r.d_v, Vec<T>::kLanes);
    }
    const T* tile(int64_t begin, int64_t end, int64_t* stride) {
        return rows.tile(begin, end, stride);
    }
    // From the first key of a tile to another one.
    static int64_t offset(int64_t keys, int64_t stride) { return keys * stride; }
    // Whether the values of a part of the tile, or all of it, are finite.
    bool finite(const T* part, int64_t stride, int64_t keys) const {
        return all_finite<P>(part, stride, keys, rows.padded);
    }
};

template <class T>
struct Values<Pairs<T>> {
    using V = Vec<T>;
    Rows<uint16_t> rows;
    bool direct;  // whether rows can be woven where they lie
    uint16_t *low, *high, *woven;
    int64_t keys = 0;
    int known = -1;  // whether the tile is finite; -1: not asked yet

    Values(const Request& r, int64_t sample, int64_t head, T* scratch)
        : rows(rows_of<uint16_t>(r, r.value, sample, head, r.d_v, V::kLanes, nullptr)),
          direct(rows.in_place),
          low(reinterpret_cast<uint16_t*>(scratch)),
          high(low + rows.padded),
          woven(high + rows.padded) {}

    static int64_t scratch(const Request& r) {
        return (kKeysPerTile + 3) * round_up(r.d_v, V::kLanes);
    }
    const uint16_t* tile(int64_t begin, int64_t end, int64_t* stride) {
        keys = end - begin;
        known = -1;
        *stride = 2 * rows.padded;
        for (int64_t j = 0; j < keys; j += 2) {
            const uint16_t* a = row(begin + j, low);
            const uint16_t* b = j + 1 < keys ? row(begin + j + 1, high) : zeros();
            for (int64_t c = 0; c < rows.padded; c += V::kLanes)
                V::store(reinterpret_cast<T*>(woven + j * rows.padded + 2 * c),
                         V::weave(a + c, b + c));
        }
        return woven;
    }
    static int64_t offset(int64_t keys, int64_t stride) { return keys / 2 * stride; }
    bool finite(const uint16_t*, int64_t stride, int64_t) {
        if (known < 0) known = all_finite<Pairs<T>>(woven, stride, keys, rows.padded);
        return known;
    }

  private:
    const uint16_t* row(int64_t j, uint16_t* copy) const {
        const char* from = rows.base + j * rows.row * 2;
        if (direct) return reinterpret_cast<const uint16_t*>(from);
        copy_row(copy, from, rows.kind, rows.column, rows.width, rows.padded);
        return copy;
    }
    const uint16_t* zeros() {
        std::memset(high, 0, static_cast<size_t>(rows.padded) * 2);
        return high;
    }
};

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
