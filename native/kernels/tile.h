// The scores of one block against one tile of keys, edited and masked: what forward and the sweeps
// have in common. Every number here depends on its query and key alone, not on where tiles begin.
#pragma once

#include "kernels/bias.h"
#include "kernels/scores.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Tile {
    int64_t begin, keys;  // the range of keys, cut to what the block reaches
    Seen seen;
    bool bytes;  // whether `visible` holds the mask
    int panels;
    T *s, *largest, *bias;  // scratch: [keys][64], [panels][64], [keys][64]
    uint8_t* visible;       // scratch: [keys][64]
};

template <class T>
void lay_out(Tile<T>& tile, Arena& arena, const Request& r) {
    tile.s = arena.take<T>(kKeysPerTile * kRowsPerBlock);
    tile.largest = arena.take<T>(kMaxPanels * kRowsPerBlock);
    tile.bias = r.bias.data ? arena.take<T>(kKeysPerTile * kRowsPerBlock) : nullptr;
    tile.visible = arena.take<uint8_t>(kKeysPerTile * kRowsPerBlock);
}

template <class T>
void score_block(Tile<T>& tile, const Block<T>& b, const Request& r, const T* k, int64_t stride) {
    using V = Vec<T>;
    if (!b.single) {
        score_tile(k, stride, b.q, r.d_k, tile.keys, b.columns, tile.s, tile.largest);
        return;
    }
    for (int64_t j = 0; j < tile.keys; ++j)
        for (int c = 0; c < b.columns; ++c)
            V::store(tile.s + j * kRowsPerBlock + c * V::kLanes, V::zero());
    const int64_t width = round_up(r.d_k, V::kLanes);
    for (int lane = 0; lane < b.count; ++lane)
        if (b.low[lane] <= b.high[lane])  // the others see nothing
            score_single(k, stride, b.q + lane * width, width, tile.keys, tile.s + lane);
}

// The rows of keys that the blocks of one head read.
template <class T>
Rows<T> keys_of(const Request& r, int64_t sample, int64_t head, T* copy) {
    return rows_of(r, r.key, sample, head, r.d_k, single_query(r, sample) ? Vec<T>::kLanes : 1,
                   copy);
}

// Fills the tile for keys [begin, end); `k` are the rows of keys from `begin`, `stride` apart.
// False where no query of the block may look at any of them: nothing was read then but the mask.
template <class T>
bool fill(Tile<T>& tile, Block<T>& b, const Request& r, int64_t sample, const T* k, int64_t stride,
          int64_t begin, int64_t end) {
    const int64_t from = larger(begin, b.low_min);
    const int64_t to = smaller(end, b.high_max + 1);
    tile.seen = class_of(b, from, to);
    if (tile.seen == Seen::kNone) return false;
    tile.begin = from;
    tile.keys = to - from;
    tile.bytes = needs_bytes(r);
    const T* bias = nullptr;
    if (r.bias.data) {
        read_bias(r, b, sample, from, tile.keys, tile.bias);
        bias = tile.bias;
    }
    if (tile.bytes) {
        tile.seen = read_visible(r, b, sample, from, tile.keys, bias, tile.visible);
        if (tile.seen == Seen::kNone) return false;
    }
    score_block(tile, b, r, k + (from - begin) * stride, stride);
    tile.panels = panels_of(tile.keys);
    if (edits_scores(r)) edit_scores(r, b, sample, from, tile.keys, bias, tile.s);
    if (tile.seen == Seen::kAll) {
        std::memset(b.live, 1, kRowsPerBlock);
    } else if (tile.bytes) {
        mask_tile(b, tile.visible, tile.keys, tile.s);
    } else {
        mask_band(b, from, tile.keys, tile.s);
    }
    if (b.single || edits_scores(r) || tile.seen != Seen::kAll)
        panel_maxima(tile.s, tile.keys, b.columns, tile.largest);
    return true;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
