// Random masks of every kind, alone and together, and numbers that are none behind them.
#pragma once

#include <algorithm>

#include "case.h"

namespace cases {

template <class Draw>
void per_sample(const Case& c, std::vector<int64_t>& to, const int64_t*& field, Draw draw) {
    for (int64_t b = 0; b < c.request.batch; ++b) to.push_back(draw(static_cast<size_t>(b)));
    field = to.data();
}

inline void draw_lengths(Case& c) {
    Request& r = c.request;
    c.tell("lengths");
    const bool nearly = c.random.chance(0.5);  // most of the keys, as in a cache that is in use
    per_sample(c, c.key_lengths, r.mask.key_lengths, [&](size_t) {
        return nearly ? r.keys - c.random.below(r.keys / 4 + 1) : c.random.below(r.keys + 1);
    });
    if (!c.random.chance(0.5)) return;
    c.tell("lengths of queries");
    per_sample(c, c.query_lengths, r.mask.query_lengths,
               [&](size_t) { return c.random.below(r.queries + 1); });
}

// Causal or a window, at an offset of its own for each sample: from the start, or so that the last
// valid query sees the last valid key.
inline void draw_band(Case& c, bool causal) {
    Request& r = c.request;
    const bool at_end = c.random.chance(0.6);
    const int64_t reach = 1 + c.random.below(r.keys > 200 ? 300 : 50), slack = c.random.below(9);
    const int64_t right = c.random.below(3) * c.random.below(40);
    const bool open = c.random.chance(0.2);
    c.tell(causal ? "causal" : "window");
    const auto offset = [&](size_t b) {
        if (!at_end) return slack - 4;
        return (c.key_lengths.empty() ? r.keys : c.key_lengths[b]) -
               (c.query_lengths.empty() ? r.queries : c.query_lengths[b]);
    };
    constexpr int64_t kFar = int64_t{1} << 40;  // as far as inputs/resolving.py goes, or farther
    per_sample(c, c.low, r.mask.low, [&](size_t b) { return causal ? -kFar : offset(b) - reach; });
    per_sample(c, c.high, r.mask.high, [&](size_t b) {
        return causal ? offset(b) : open ? kFar : offset(b) + right;
    });
}

// Ids of `count` positions: woven at random, or in runs as packed sequences have them.
inline void draw_ids(Case& c, std::vector<int32_t>& to, int64_t count, bool packed) {
    const int64_t longest = 1 + c.random.below(count + 1);
    int32_t id = 0;
    for (int64_t left = 0, i = 0; i < count; ++i, --left) {
        if (packed && left == 0) {
            left = 1 + c.random.below(longest);
            id = c.random.chance(0.1) ? -1 : static_cast<int32_t>(i);
        }
        to.push_back(packed ? id : static_cast<int32_t>(c.random.below(4) - 1));
    }
}

inline void draw_segments(Case& c) {
    Request& r = c.request;
    const bool packed = c.random.chance(0.6);
    c.tell(packed ? "segments, packed" : "segments, woven");
    for (int64_t b = 0; b < r.batch; ++b) {
        draw_ids(c, c.key_segments, r.keys, packed);
        if (packed && r.keys) {  // queries stand where some keys do
            const int64_t from = c.random.below(std::max<int64_t>(1, r.keys - r.queries + 1));
            for (int64_t i = 0; i < r.queries; ++i)
                c.query_segments.push_back(
                    c.key_segments[static_cast<size_t>(b * r.keys + (from + i) % r.keys)]);
        } else {
            draw_ids(c, c.query_segments, r.queries, packed);
        }
    }
    c.key_segments.push_back(0);  // so that the address of none is one
    c.query_segments.push_back(0);
    r.mask.key_segments = c.key_segments.data();
    r.mask.query_segments = c.query_segments.data();
}

// Along which axes an array is the same: each by itself, one in three.
inline Broadcast draw_broadcast(Case& c) {
    const auto same = [&] { return c.random.chance(0.35); };
    const bool both = same();
    const bool inner = c.inner() ? same() : both;
    return {both, inner, same(), same(), same()};
}

// Boolean arrays: blocks that leave tiles full and empty, a band, or each pair by itself.
inline void draw_allowed(Case& c) {
    Request& r = c.request;
    const Broadcast over = draw_broadcast(c);
    const double densities[] = {0.02, 0.3, 0.6, 0.95};
    const double density = c.random.of(densities);
    const int64_t how = c.random.below(3), side = 1 + c.random.below(90);
    const int64_t back = c.random.below(r.keys + 1);
    c.tell(how == 0 ? "boolean, blocks" : how == 1 ? "boolean, band" : "boolean, scattered");
    if (over.any()) c.tell("boolean, broadcast");
    c.allowed.lay_out(c.random, Kind::kBool, over, r.batch, c.inner(), r.heads, r.queries, r.keys);
    std::vector<char> of_block(static_cast<size_t>((r.queries / side + 1) * (r.keys / side + 1)));
    for (char& may : of_block) may = c.random.chance(density);
    int64_t at = 0;
    c.allowed.each([&](char* place) {
        const int64_t i = at / r.keys % r.queries, j = at % r.keys;
        ++at;
        const auto block = static_cast<size_t>(i / side * (r.keys / side + 1) + j / side);
        *place = how == 0   ? of_block[block]
                 : how == 1 ? j <= i + 3 && j >= i - back
                            : c.random.chance(density);
    });
    r.mask.allowed = c.allowed.array;
}

inline void draw_masks(Case& c, bool cached) {
    const size_t before = c.drawn.size();
    if (cached || c.random.chance(0.35)) draw_lengths(c);
    if (c.random.chance(cached ? 0.8 : 0.4)) draw_band(c, c.random.chance(0.5));
    if (c.random.chance(0.25)) draw_segments(c);
    if (c.random.chance(0.3)) draw_allowed(c);
    if (c.drawn.size() == before) c.tell("no mask");
}

inline void spoil(Case& c, Numbers& of, int64_t b, int64_t h, int64_t i) {
    const double poison[] = {NAN, HUGE_VAL, -HUGE_VAL};
    for (int64_t column = 0; column < of.columns; ++column)
        write(of.at(b, h, i, column), c.request.kind, c.random.of(poison));
}

// Keys, values and queries whose numbers reach nothing become NaN and infinity.
inline void poison(Case& c) {
    const Request& r = c.request;
    bool some = false;
    std::vector<char> seen(static_cast<size_t>(r.batch * r.key_heads * r.keys));
    for (int64_t b = 0; b < r.batch; ++b)
        for (int64_t h = 0; h < r.heads; ++h)
            for (int64_t i = 0; i < r.queries; ++i) {
                const char* may =
                    c.visible.data() + c.row_of(b, h, i) * static_cast<size_t>(r.keys);
                char* to = seen.data() + (b * r.key_heads + h / c.group()) * r.keys;
                bool live = false;
                for (int64_t j = 0; j < r.keys; ++j) {
                    to[j] |= may[j];
                    live |= may[j];
                }
                if (live || c.query.broadcast.any()) continue;
                spoil(c, c.query, b, h, i);
                some = true;
            }
    for (size_t at = 0; at < seen.size(); ++at) {
        if (seen[at] || c.random.chance(0.3)) continue;
        const auto key = static_cast<int64_t>(at);
        const int64_t b = key / r.keys / r.key_heads, h = key / r.keys % r.key_heads;
        if (!c.key.broadcast.any()) spoil(c, c.key, b, h, key % r.keys);
        if (!c.value.broadcast.any()) spoil(c, c.value, b, h, key % r.keys);
        some |= !c.key.broadcast.any() || !c.value.broadcast.any();
    }
    if (some) c.tell("poison");
}

}  // namespace cases
