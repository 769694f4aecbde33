// The end of the lists of observe.h: keys that may be looked at, and whose score is -inf or NaN.
//
//   list[i] = (keys of largest score, sorted) (other visible keys, by index) (-1 where none is
//   left)
//
// Nothing is larger than NaN and nothing smaller than -inf, so such keys entered no list while the
// tiles went by. Their weight is 0, or NaN where the sum of the row is, as all its weights are.
//
// Order: the length of every list is held against the band of its query, which ends it for finite
// scores under bands alone. Only where some list is shorter the mask of the block is read again,
// tile by tile: once to count, and once to fill where the count says that keys are missing.
#pragma once

#include "kernels/observe.h"
#include "kernels/tile.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// What each query of a block may look at, for one tile after the other.
template <class T, class Body>
CLEARHEAD_INLINE void each_visible(Tile<T>& tile, const Block<T>& b, const Request& r,
                                   int64_t sample, Body body) {
    for (int64_t begin = b.low_min; begin <= b.high_max; begin += kKeysPerTile) {
        const int64_t keys = smaller(kKeysPerTile, b.high_max + 1 - begin);
        const bool bias = r.bias.data != nullptr;
        if (read_visible(r, b, all_lanes(b), sample, begin, keys, bias, tile.visible) ==
            Seen::kNone)
            continue;
        for (int64_t j = 0; j < keys; ++j) body(begin + j, tile.visible + j * kRowsPerBlock);
    }
}

// Lists as write_top left them in the outputs; `row` and `inverse` as there.
template <class T>
void list_the_rest(Tile<T>& tile, const Block<T>& b, const Request& r, int64_t sample,
                   const int64_t* row, const T* inverse) {
    const int64_t asked = r.observe.top, most = smaller(asked, r.keys);
    int64_t filled[kRowsPerBlock], listed[kRowsPerBlock], visible[kRowsPerBlock];
    int waiting[kRowsPerBlock], count = 0;  // lanes whose list may lack a key
    for (int lane = 0; lane < b.count; ++lane) {
        const int32_t* key = r.observe.top_keys + row[lane] * asked;
        if (!b.live[lane] || key[most - 1] != -1) continue;
        int64_t n = 0;
        while (key[n] != -1) ++n;
        visible[lane] = needs_bytes(r) ? 0 : b.high[lane] - b.low[lane] + 1;
        filled[lane] = listed[lane] = n;
        if (b.high[lane] - b.low[lane] + 1 > n) waiting[count++] = lane;
    }
    if (count && needs_bytes(r)) {
        each_visible(tile, b, r, sample, [&](int64_t, const uint8_t* may) {
            for (int i = 0; i < count; ++i) visible[waiting[i]] += may[waiting[i]];
        });
        int kept = 0;
        for (int i = 0; i < count; ++i)
            if (visible[waiting[i]] > filled[waiting[i]]) waiting[kept++] = waiting[i];
        count = kept;
    }
    if (!count) return;
    each_visible(tile, b, r, sample, [&](int64_t j, const uint8_t* may) {
        for (int i = 0; i < count; ++i) {
            const int lane = waiting[i];
            if (!may[lane] || filled[lane] == most) continue;
            int32_t* key = r.observe.top_keys + row[lane] * asked;
            int64_t at = 0;
            while (at < listed[lane] && key[at] != j) ++at;
            if (at < listed[lane]) continue;
            T* weight = static_cast<T*>(r.observe.top_weights) + row[lane] * asked;
            weight[filled[lane]] = inverse[lane] == inverse[lane] ? T(0) : inverse[lane];
            key[filled[lane]++] = static_cast<int32_t>(j);
        }
    });
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
