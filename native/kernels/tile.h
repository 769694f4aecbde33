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
    bool masked;         // whether the bias masks some of it
    bool spread = true;  // whether s holds the scores: thin blocks keep what nobody edits elsewhere
    int panels;
    T *s, *largest;    // scratch: [keys][64], [panels][64]
    uint8_t* visible;  // scratch: [keys][64]
};

template <class T>
void lay_out(Tile<T>& tile, Arena& arena) {
    tile.s = arena.take<T>(kKeysPerTile * kRowsPerBlock);
    tile.largest = arena.take<T>(kMaxPanels * kRowsPerBlock);
    tile.visible = arena.take<uint8_t>(kKeysPerTile * kRowsPerBlock);
}

// The bias of the tile from key `begin` on, where its rows lie in a piece.
template <class T>
CLEARHEAD_INLINE RowsAhead bias_ahead(const Request& r, const Block<T>& b, int64_t begin) {
    const int64_t keys = smaller(keys_per_tile(r), b.high_max + 1 - begin);
    const int64_t step = r.bias.column * size_of(r.bias.kind);
    if (!r.bias.data || keys <= 0 || step < 0 || step > 64) return {nullptr, 0, 0, 0};
    return {b.bias, b.count, begin * step, keys * step};
}

// The scores of the tile by the transposed queries, or row by row. Of a tile that is partly hidden
// a panel of keys meets the registers that reach it; the other scores are left to the mask.
template <class P, class T = typename P::Sum>
void score_block(Tile<T>& tile, const Block<T>& b, const Request& r, const typename P::Entry* k,
                 int64_t stride) {
    if (!b.thin) {
        const int64_t steps = (r.d_k + P::kStep - 1) / P::kStep;
        const RowsAhead ahead = bias_ahead(r, b, tile.begin + tile.keys);
        const auto score = [&](int64_t j, int64_t keys, Lanes lanes, T* largest, RowsAhead with) {
            const int at = lanes.begin;
            score_tile<P>(k + j * stride, stride, b.q + at, steps, keys,
                          (lanes.end - at) / Vec<T>::kLanes, query_factor<T>(r),
                          tile.s + j * kRowsPerBlock + at, largest + at, with);
        };
        if (tile.seen == Seen::kAll) return score(0, tile.keys, tile.lanes, tile.largest, ahead);
        T* largest = tile.largest;
        for (int64_t j = 0; j < tile.keys; largest += kRowsPerBlock) {
            const int keys = keys_at_once<P>(tile.keys - j);
            const int64_t from = tile.begin + j;
            score(j, keys, lanes_reaching(b, from, from + keys), largest, {nullptr, 0, 0, 0});
            ahead.fetch(j, keys);
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
    tile.bytes = allowed == Seen::kSome || (r.mask.key_segments && !r.mask.segments_whole);
    tile.masked = false;
    tile.seen = band_is_full(b, lanes, from, to) ? Seen::kAll : Seen::kSome;
    if (tile.bytes) {
        tile.seen = read_visible(r, b, lanes, sample, from, tile.keys, false, tile.visible);
        if (tile.seen == Seen::kNone) return false;
    }
    if (r.bias.data && bias_hides_all(r.bias, b, lanes, from, tile.keys)) return false;
    score();
    tile.panels = panels_of(tile.keys);
    // With a bias alone the largest scores are known at once; the lists ask for those of panels.
    bool known = !b.thin && !edits_scores(r) && tile.seen == Seen::kAll;
    Added<T> added;
    if (edits_scores(r)) edit_scores(r, b, lanes, sample, from, tile.keys, tile.s, added);
    if (r.bias.data) {
        tile.masked = added.masked;
        if (!b.thin && !r.slopes && !r.observe.top && tile.seen == Seen::kAll) {
            std::memcpy(tile.largest, added.most, sizeof added.most);
            tile.panels = 1;
            known = true;
        }
    }
    if (tile.masked && (tile.seen == Seen::kSome || r.slopes)) {
        tile.bytes = true;
        tile.seen = read_visible(r, b, lanes, sample, from, tile.keys, true, tile.visible);
        if (tile.seen == Seen::kNone) return false;
    }
    if (tile.masked && tile.seen == Seen::kAll) {  // the bias masks alone, and has done so
        tile.seen = Seen::kSome;
        tile.bytes = false;
        mark_live(b, lanes, added.looked);
    } else if (tile.seen == Seen::kAll) {
        std::memset(b.live + lanes.begin, 1, static_cast<size_t>(lanes.end - lanes.begin));
    } else if (tile.bytes) {
        mask_tile(b, lanes, tile.visible, tile.keys, tile.s);
    } else {
        mask_band(b, lanes, from, tile.keys, tile.s);
    }
    if (tile.spread && !known)
        panel_maxima(tile.s + lanes.begin, tile.keys, (lanes.end - lanes.begin) / Vec<T>::kLanes,
                     tile.largest + lanes.begin);
    return true;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
