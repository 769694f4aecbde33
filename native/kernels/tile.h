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

template <class P, class T = typename P::Sum>
void score_block(Tile<T>& tile, const Block<T>& b, const Request& r, const typename P::Entry* k,
                 int64_t stride) {
    using V = Vec<T>;
    const T factor = query_factor<T>(r);
    if (!b.single) {
        const int64_t steps = (r.d_k + P::kStep - 1) / P::kStep;
        score_tile<P>(k, stride, b.q, steps, tile.keys, b.columns, factor, tile.s, tile.largest);
        return;
    }
    for (int64_t j = 0; j < tile.keys; ++j)
        for (int c = 0; c < b.columns; ++c)
            V::store(tile.s + j * kRowsPerBlock + c * V::kLanes, V::zero());
    const int64_t width = single_width<P>(r);
    const auto* q = reinterpret_cast<const typename P::Entry*>(b.q);
    for (int lane = 0; lane < b.count; ++lane)
        if (b.low[lane] <= b.high[lane])  // the others see nothing
            score_single<P>(k, stride, q + lane * width, width, tile.keys, factor, tile.s + lane);
}

// The rows of keys that the blocks of one head read.
template <class P, class T = typename P::Sum>
Rows<typename P::Entry> keys_of(const Request& r, int64_t sample, int64_t head, T* copy) {
    const int64_t unit = single_query(r, sample) ? Vec<T>::kLanes * P::kStep : P::kStep;
    return rows_of(r, r.key, sample, head, r.d_k, unit, reinterpret_cast<typename P::Entry*>(copy));
}

// Fills the tile for keys [begin, end); `k` are the rows of keys from `begin`, `stride` apart.
// False where no query of the block may look at any of them: nothing was read then but the mask.
// The tile holds whole steps from `begin`, so it may have a key at either end that nobody sees.
template <class P, class T = typename P::Sum>
bool fill(Tile<T>& tile, Block<T>& b, const Request& r, int64_t sample, const typename P::Entry* k,
          int64_t stride, int64_t begin, int64_t end) {
    const int64_t reach = round_up(b.high_max + 1 - begin, P::kStep);
    const int64_t from = begin + larger(0, b.low_min - begin) / P::kStep * P::kStep;
    const int64_t to = smaller(end, begin + reach);
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
    score_block<P>(tile, b, r, k + (from - begin) * stride, stride);
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
