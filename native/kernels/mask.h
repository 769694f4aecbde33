// Who may look at whom in one tile: visible[j][lane], and its use on the scores,
//
//   s[j][lane] = visible[j][lane] ? s[j][lane] : -inf        (selected, never multiplied or added)
//
// A tile is classed from the description. The band of each query (causal, window, lengths, and the
// span of its segment, in one) says which registers of queries have to do with the tile, and
// whether it is full or partly visible for these; the range of the tile is cut to the keys that
// they reach. Of a boolean array attention.cpp has classed every tile already. Only what is then
// left is read as bytes: scattered segments, partly visible tiles of an array, a bias of -inf.
// A full tile never reads a mask.
#pragma once

#include "kernels/bias_rows.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

enum class Seen { kNone, kSome, kAll };

CLEARHEAD_INLINE bool needs_bytes(const Request& r) {
    return (r.mask.key_segments && !r.mask.segments_whole) || r.mask.allowed.data || r.bias.data;
}

// The registers of queries that reach any key of [begin, end): none where begin == end.
template <class T>
CLEARHEAD_INLINE Lanes lanes_reaching(const Block<T>& b, int64_t begin, int64_t end) {
    constexpr int L = Vec<T>::kLanes;
    int first = 0, last = b.columns;
    const auto reaches = [&](const Reach& of) {
        return of.low_min < end && of.high_max >= begin && of.low_min <= of.high_max;
    };
    while (first < last && !reaches(b.reach[first])) ++first;
    while (last > first && !reaches(b.reach[last - 1])) --last;
    return {first * L, last * L};
}

// Whether the bands alone let all of `lanes` look at all keys of [begin, end).
template <class T>
CLEARHEAD_INLINE bool band_is_full(const Block<T>& b, Lanes lanes, int64_t begin, int64_t end) {
    bool full = true;
    for (int c = lanes.begin / Vec<T>::kLanes; c < lanes.end / Vec<T>::kLanes; ++c)
        full &= begin >= b.reach[c].low_max && end - 1 <= b.reach[c].high_min;
    return full;
}

// What the boolean array says of keys [begin, end) and `lanes`, from its classes. Without classes
// (its keys do not lie side by side) it may say anything.
template <class T>
CLEARHEAD_INLINE Seen class_of_allowed(const Request& r, const Block<T>& b, Lanes lanes,
                                       int64_t sample, int64_t begin, int64_t end) {
    const Mask& mask = r.mask;
    if (!mask.allowed.data) return Seen::kAll;
    if (!mask.classes) return Seen::kSome;
    const Span& span = mask.of_allowed;
    uint8_t found = 0;
    constexpr int64_t keys = clearhead::kKeysPerTile;  // of every instruction set
    for (int64_t tile = begin / keys; tile <= (end - 1) / keys; ++tile) {
        const uint8_t* of = mask.classes + tile * mask.class_rows + sample * span.sample;
        for (int lane = lanes.begin; lane < lanes.begin + queries_in(b, lanes); ++lane)
            found |= of[b.head[lane] * span.head + b.position[lane] * span.row];
    }
    return found == 1 ? Seen::kAll : found & 1 ? Seen::kSome : Seen::kNone;
}

// Bounds of the band counted from `begin`, small enough to be exact in T.
template <class T>
CLEARHEAD_INLINE void band_from(const Block<T>& b, Lanes lanes, int64_t begin, T* low, T* high) {
    constexpr int64_t beyond = 2 * kSweepKeys;
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        low[lane] = static_cast<T>(smaller(larger(b.low[lane] - begin, -1), beyond));
        high[lane] = static_cast<T>(smaller(larger(b.high[lane] - begin, -1), beyond));
    }
}

// Eight lanes by eight keys of bytes, transposed within eight words.
CLEARHEAD_INLINE void transpose_bytes(uint64_t* w) {
    for (int i = 0; i < 4; ++i) {
        const uint64_t x = (w[i] >> 32 ^ w[i + 4]) & 0xffffffffu;
        w[i] ^= x << 32;
        w[i + 4] ^= x;
    }
    for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
        const uint64_t x = (w[i] >> 16 ^ w[i + 2]) & 0x0000ffff0000ffffu;
        w[i] ^= x << 16;
        w[i + 2] ^= x;
    }
    for (int i = 0; i < 8; i += 2) {
        const uint64_t x = (w[i] >> 8 ^ w[i + 1]) & 0x00ff00ff00ff00ffu;
        w[i] ^= x << 8;
        w[i + 1] ^= x;
    }
}

// visible[j][lane] &= allowed[head of lane, position of lane, begin + j].
template <class T>
void and_allowed(const Request& r, const Block<T>& b, Lanes lanes, int64_t sample, int64_t begin,
                 int64_t keys, uint8_t* visible) {
    const Array& a = r.mask.allowed;
    const uint8_t* from[kRowsPerBlock];
    const int end = lanes.begin + queries_in(b, lanes);
    for (int lane = lanes.begin; lane < end; ++lane)
        from[lane] = reinterpret_cast<const uint8_t*>(place(r, a, sample, b.head[lane])) +
                     b.position[lane] * a.row + begin * a.column;
    int lane = lanes.begin;
    if (a.column == 1) {
        for (; lane + 8 <= end; lane += 8) {
            int64_t j = 0;
            for (; j + 8 <= keys; j += 8) {
                uint64_t w[8], old;
                for (int i = 0; i < 8; ++i) std::memcpy(&w[i], from[lane + i] + j, 8);
                transpose_bytes(w);
                for (int i = 0; i < 8; ++i) {
                    uint8_t* to = visible + (j + i) * kRowsPerBlock + lane;
                    std::memcpy(&old, to, 8);
                    old &= w[i];
                    std::memcpy(to, &old, 8);
                }
            }
            for (; j < keys; ++j)
                for (int i = 0; i < 8; ++i)
                    visible[j * kRowsPerBlock + lane + i] &= from[lane + i][j];
        }
    }
    for (; lane < end; ++lane)
        for (int64_t j = 0; j < keys; ++j)
            visible[j * kRowsPerBlock + lane] &= from[lane][j * a.column];
}

// Fills `visible` of `lanes` for keys [begin, begin + keys); with `bias` it is asked, too.
template <class T>
Seen read_visible(const Request& r, const Block<T>& b, Lanes lanes, int64_t sample, int64_t begin,
                  int64_t keys, bool bias, uint8_t* visible) {
    T low[kRowsPerBlock], high[kRowsPerBlock];
    band_from(b, lanes, begin, low, high);
    for (int64_t j = 0; j < keys; ++j) {
        const T at = static_cast<T>(j);
        for (int lane = lanes.begin; lane < lanes.end; ++lane)
            visible[j * kRowsPerBlock + lane] = low[lane] <= at && at <= high[lane];
    }
    if (r.mask.key_segments && !r.mask.segments_whole) {
        const int32_t* of_keys = r.mask.key_segments + sample * r.keys + begin;
        const int32_t* of_queries = r.mask.query_segments + sample * r.queries;
        int32_t mine[kRowsPerBlock];
        for (int lane = lanes.begin; lane < lanes.end; ++lane)
            mine[lane] = lane < b.count ? of_queries[b.position[lane]] : -1;
        for (int64_t j = 0; j < keys; ++j) {
            const int32_t segment = of_keys[j] == -1 ? -2 : of_keys[j];
            const uint8_t real = of_keys[j] != -1;
            for (int lane = lanes.begin; lane < lanes.end; ++lane)
                visible[j * kRowsPerBlock + lane] &= real & (mine[lane] == segment);
        }
    }
    if (r.mask.allowed.data) and_allowed(r, b, lanes, sample, begin, keys, visible);
    if (bias) {
        using V = Vec<T>;
        const auto none = V::all(-static_cast<T>(__builtin_inf()));
        each_square(r, b, lanes, begin, keys,
                    [&](const auto* square, int64_t j, int count, int at) CLEARHEAD_INLINED {
                        for (int i = 0; i < count; ++i) {
                            uint8_t hidden[V::kLanes], *to = visible + (j + i) * kRowsPerBlock + at;
                            V::store_mask(hidden, V::equal(square[i], none));
                            for (int lane = 0; lane < V::kLanes; ++lane) to[lane] &= !hidden[lane];
                        }
                    });
    }
    const int queries = queries_in(b, lanes);
    int64_t seen = 0;
    for (int64_t j = 0; j < keys; ++j)
        for (int lane = lanes.begin; lane < lanes.begin + queries; ++lane)
            seen += visible[j * kRowsPerBlock + lane];
    return seen == 0 ? Seen::kNone : seen == keys * queries ? Seen::kAll : Seen::kSome;
}

// The lanes with a number above 0 in `looked` are live.
template <class T>
CLEARHEAD_INLINE void mark_live(const Block<T>& b, Lanes lanes, const T* looked) {
    using V = Vec<T>;
    for (int at = lanes.begin; at < lanes.end; at += V::kLanes) {
        const auto live = V::less(V::zero(), V::load(looked + at));
        V::store_mask(b.live + at, V::either(V::load_mask(b.live + at), live));
    }
}

// The scores of keys that a query may not look at become -inf; `live` learns who looked.
template <class T>
void mask_tile(const Block<T>& b, Lanes lanes, const uint8_t* visible, int64_t keys, T* s) {
    using V = Vec<T>;
    const auto hidden = V::all(-static_cast<T>(__builtin_inf()));
    for (int at = lanes.begin; at < lanes.end; at += V::kLanes) {
        auto live = V::load_mask(b.live + at);
        for (int64_t j = 0; j < keys; ++j) {
            const auto may = V::load_mask(visible + j * kRowsPerBlock + at);
            T* to = s + j * kRowsPerBlock + at;
            V::store(to, V::select(may, V::load(to), hidden));
            live = V::either(live, may);
        }
        V::store_mask(b.live + at, live);
    }
}

// The same where the band alone decides: no byte is written, and of keys that all queries of a
// register may look at no score is touched.
template <class T>
void mask_band(const Block<T>& b, Lanes lanes, int64_t begin, int64_t keys, T* s) {
    using V = Vec<T>;
    T low[kRowsPerBlock], high[kRowsPerBlock];
    band_from(b, lanes, begin, low, high);
    const auto hidden = V::all(-static_cast<T>(__builtin_inf()));
    for (int at = lanes.begin; at < lanes.end; at += V::kLanes) {
        const auto least = V::load(low + at), most = V::load(high + at);
        const Reach& reach = b.reach[at / V::kLanes];
        const int64_t full = smaller(keys, larger(0, reach.low_max - begin));
        const int64_t beyond = smaller(keys, larger(full, reach.high_min + 1 - begin));
        auto seen = full < beyond ? V::all(1) : V::zero();
        const auto hide = [&](int64_t first, int64_t end) {
            for (int64_t j = first; j < end; ++j) {
                const auto here = V::all(static_cast<T>(j));
                const auto outside = V::either(V::less(here, least), V::less(most, here));
                T* to = s + j * kRowsPerBlock + at;
                V::store(to, V::select(outside, hidden, V::load(to)));
                seen = V::select(outside, seen, V::all(1));
            }
        };
        hide(0, full);
        hide(beyond, keys);
        const auto looked = V::less(V::zero(), seen);
        V::store_mask(b.live + at, V::either(V::load_mask(b.live + at), looked));
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
