// The scores of one block against one tile of keys, edited and masked: what forward and the sweeps
// have in common. Every number here depends on its query and key alone, not on where tiles begin.
#pragma once

#include "kernels/bias.h"
#include "kernels/scores.h"
#include "kernels/thin.h"
#if defined(CLEARHEAD_ISA_amx)
#include "kernels/tiles.h"
#endif

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Tile {
    int64_t begin, keys;  // the range of keys, cut to what the block reaches
    Lanes lanes;          // the queries that have to do with it; nothing else of it is written
    Seen seen;
    bool bytes;          // whether `visible` holds the mask
    bool spread = true;  // whether s holds the scores: thin blocks keep what nobody edits elsewhere
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

// The scores of the tile by the transposed queries, or row by row. Of a tile that is partly hidden
// a panel of keys meets the registers that reach it; the other scores are left to the mask.
template <class P, class T = typename P::Sum>
void score_block(Tile<T>& tile, const Block<T>& b, const Request& r, const typename P::Entry* k,
                 int64_t stride) {
    if (!b.thin) {
        const int64_t steps = (r.d_k + P::kStep - 1) / P::kStep;
        const auto score = [&](int64_t j, int64_t keys, Lanes lanes, T* largest) {
            const int at = lanes.begin;
            score_tile<P>(k + j * stride, stride, b.q + at, steps, keys,
                          (lanes.end - at) / Vec<T>::kLanes, query_factor<T>(r),
                          tile.s + j * kRowsPerBlock + at, largest + at);
        };
        if (tile.seen == Seen::kAll) return score(0, tile.keys, tile.lanes, tile.largest);
        T* largest = tile.largest;
        for (int64_t j = 0; j < tile.keys; largest += kRowsPerBlock) {
            const int keys = keys_at_once<P>(tile.keys - j);
            const int64_t from = tile.begin + j;
            score(j, keys, lanes_reaching(b, from, from + keys), largest);
            j += keys;
        }
    } else if constexpr (InRegisters<P>) {
        std::memset(tile.s, 0, static_cast<size_t>(tile.keys * kRowsPerBlock) * sizeof(T));
        constexpr int64_t size = sizeof(typename P::Entry);
        const Stream keys{reinterpret_cast<const char*>(k), kind_of<typename P::Entry>(),
                          stride * size};
        score_thin<P>(b, tile.lanes, keys, single_width<P>(r), tile.keys, query_factor<T>(r),
                      b.turned, tile.s);
    }
}

// The rows of keys that the blocks of one head read.
template <InRegisters P, class T = typename P::Sum>
Rows<typename P::Entry> keys_of(const Request& r, int64_t sample, int64_t head, T* copy) {
    const int64_t unit = is_thin(r, sample) ? Vec<T>::kLanes * P::kStep : P::kStep;
    return rows_of(r, r.key, sample, head, r.d_k, unit, reinterpret_cast<typename P::Entry*>(copy));
}

// Fills the tile for keys [begin, end); `score()` makes its scores once it is clear which are
// wanted. False where no query of the block may look at any of them: nothing was read then but the
// mask. The tile is cut to whole steps from `begin`, so it may have keys at either end that nobody
// sees.
template <class P, class Score, class T = typename P::Sum>
bool fill(Tile<T>& tile, Block<T>& b, const Request& r, int64_t sample, int64_t begin, int64_t end,
          Score score) {
    const Lanes lanes = tile.lanes = lanes_reaching(b, begin, end);
    if (lanes.begin == lanes.end) return false;
    int64_t low = kFar, high = -kFar;
    for (int c = lanes.begin / Vec<T>::kLanes; c < lanes.end / Vec<T>::kLanes; ++c) {
        low = smaller(low, b.reach[c].low_min);
        high = larger(high, b.reach[c].high_max);
    }
    const int64_t from = begin + larger(0, low - begin) / P::kWhole * P::kWhole;
    const int64_t to = smaller(end, begin + round_up(high + 1 - begin, P::kWhole));
    tile.begin = from;
    tile.keys = to - from;
    const Seen allowed = class_of_allowed(r, b, lanes, sample, from, to);
    if (allowed == Seen::kNone) return false;
    const T* bias = nullptr;
    if (r.bias.data) {
        read_bias(r, b, lanes, sample, from, tile.keys, tile.bias);
        bias = tile.bias;
    }
    tile.bytes = allowed == Seen::kSome || (r.mask.key_segments && !r.mask.segments_whole) ||
                 (bias && bias_masks(lanes, tile.keys, bias));
    tile.seen = band_is_full(b, lanes, from, to) ? Seen::kAll : Seen::kSome;
    if (tile.bytes) {
        tile.seen = read_visible(r, b, lanes, sample, from, tile.keys, bias, tile.visible);
        if (tile.seen == Seen::kNone) return false;
    }
    score();
    tile.panels = panels_of(tile.keys);
    if (edits_scores(r)) edit_scores(r, b, lanes, sample, from, tile.keys, bias, tile.s);
    if (tile.seen == Seen::kAll) {
        std::memset(b.live + lanes.begin, 1, static_cast<size_t>(lanes.end - lanes.begin));
    } else if (tile.bytes) {
        mask_tile(b, lanes, tile.visible, tile.keys, tile.s);
    } else {
        mask_band(b, lanes, from, tile.keys, tile.s);
    }
    if (tile.spread && (b.thin || edits_scores(r) || tile.seen != Seen::kAll))
        panel_maxima(tile.s + lanes.begin, tile.keys, (lanes.end - lanes.begin) / Vec<T>::kLanes,
                     tile.largest + lanes.begin);
    return true;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
