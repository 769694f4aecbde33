// The mix of values by tiles: what is summed over one tile of keys, lanes = queries,
//
//   o[c][lane] = o[c][lane] * decay[lane] + sum over j of v[c][j] * p[j][lane]
//
// with p as softmax has left it, pairs of keys, and the values turned once per tile and task:
// v[c][j], kKeysPerTile columns. At the end of a block o is turned back.
//
// Order: squares of 32 columns by 32 queries, as in tiles.h, over chunks of 32 keys. The sum of a
// tile of keys starts from zero, so the rounding error grows with the number of such tiles. It is
// added to o one square later, so that the adding of one and the products of the next go together.
// Of a tile that is partly hidden a square takes the chunks that one of its queries reaches.
//
// Tiles of keys are cut at multiples of 32 from key 0, where chunks begin: what is summed with what
// depends on the key alone, and keys that nobody sees, or beyond the last, have a weight of 0.
#pragma once

#include "kernels/tiles.h"
#include "kernels/values.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

CLEARHEAD_INLINE bool is_finite(uint16_t bfloat) {
    return (bfloat & 0x7f80) != 0x7f80;
}

template <class T>
struct Values<Tiled<T>> {
    static constexpr int64_t kColumns = 16, kChunk = Tiled<T>::kWhole;
    Rows<uint16_t> rows;
    bool direct;  // whether rows can be turned where they lie
    uint16_t *copy, *turned;
    int64_t chunks = 0;
    int known = -1;  // whether the tile is finite; -1: not asked yet

    Values(const Request& r, int64_t sample, int64_t head, T* scratch)
        : rows(rows_of<uint16_t>(r, r.value, sample, head, r.d_v, kColumns, nullptr)),
          direct(rows.in_place),
          copy(reinterpret_cast<uint16_t*>(scratch)),
          turned(copy + kChunk * rows.padded) {}

    // A chunk of rows, the tile, and the same without what is not finite.
    static int64_t scratch(const Request& r) {
        return (kChunk + 2 * kKeysPerTile) / 2 * round_up(r.d_v, kColumns);
    }
    const uint16_t* tile(int64_t begin, int64_t end, int64_t* stride) {
        *stride = kKeysPerTile;
        known = -1;
        chunks = pieces(end - begin, kChunk);
        for (int64_t j = begin; j < end; j += kChunk) {
            const int64_t count = smaller(end - j, kChunk);
            const bool here = direct && count == kChunk;
            const char* base = rows.base + j * rows.row * 2;
            if (!here) copy_rows(base, count);
            const uint16_t* from = here ? reinterpret_cast<const uint16_t*>(base) : copy;
            const int64_t apart = here ? rows.row : rows.padded;
            for (int64_t c = 0; c < rows.padded; c += 8)
                TileVec::turn_pairs(from + c, apart, turned + c * kKeysPerTile + j - begin,
                                    kKeysPerTile);
        }
        return turned;
    }
    static int64_t offset(int64_t keys, int64_t) { return keys; }

    // Where a value is not finite, the copy that mix_selected reads is made.
    bool finite(const uint16_t*, int64_t, int64_t) {
        if (known >= 0) return known;
        unsigned faults = 0;
        for (int64_t c = 0; c < rows.padded; ++c)
            for (int64_t j = 0; j < chunks * kChunk; ++j)
                faults += !is_finite(turned[c * kKeysPerTile + j]);
        known = faults == 0;
        const int64_t size = rows.padded * kKeysPerTile;
        for (int64_t i = 0; !known && i < size; ++i)
            turned[size + i] = is_finite(turned[i]) ? turned[i] : uint16_t(0);
        return known;
    }

  private:
    void copy_rows(const char* base, int64_t count) {
        for (int64_t j = 0; j < count; ++j)
            copy_row(copy + j * rows.padded, base + j * rows.row * 2, rows.kind, rows.column,
                     rows.width, rows.padded);
        std::memset(copy + count * rows.padded, 0,
                    static_cast<size_t>((kChunk - count) * rows.padded) * 2);
    }
};

// The sums of a square, waiting to be added to its place in o.
template <class T>
struct Waiting {
    alignas(64) T sums[2 * kTileRows * 2 * kTileRows];
    T* o = nullptr;
    const T* decay;
    int64_t rows;
    int columns;

    void add() {
        using V = Vec<T>;
        if (!o) return;
        for (int c = 0; c < columns; ++c) {
            const auto factor = V::load(decay + c * V::kLanes);
            const T* from = sums + c * V::kLanes;
            T* to = o + c * V::kLanes;
            for (int64_t i = 0; i < rows; ++i, from += 2 * kTileRows, to += kRowsPerBlock)
                V::store(to, V::fma(V::load(to), factor, V::load(from)));
        }
    }
};

template <ByTiles P, class T = typename P::Sum>
void mix_tile(const T* p, const typename P::Entry* v, int64_t stride, int64_t keys, const T* decay,
              bool first, T* o, int64_t width, int64_t queries, const Reached* reached) {
    const int64_t all = pieces(keys, P::kWhole);
    Waiting<T> waiting[2];
    int turn = 0;
    for (int64_t c = 0; c < width; c += 2 * kTileRows)
        for (int64_t lane = 0; lane < queries; lane += 2 * kTileRows) {
            const int count = static_cast<int>(smaller(queries - lane, 2 * kTileRows));
            const bool tall = width - c > kTileRows, broad = count > kTileRows;
            T* to = o + c * kRowsPerBlock + lane;
            int64_t begin = 0, end = all;
            if (reached) reached->cut<P::kWhole>(lane, count, all, &begin, &end);
            const uint16_t* values = v + c * stride + begin * P::kWhole;
            const T* weights = p + begin * kTileRows * kRowsPerBlock + lane;
            if (first) {
                multiply_some(tall, broad, values, stride * 2, weights, end - begin, to, kRowBytes);
                continue;
            }
            Waiting<T>& mine = waiting[turn];
            multiply_some(tall, broad, values, stride * 2, weights, end - begin, mine.sums,
                          2 * kTileBytes);
            mine.o = to;
            mine.decay = decay + lane;
            mine.rows = tall ? 2 * kTileRows : kTileRows;
            mine.columns = broad ? 2 : 1;
            turn = 1 - turn;
            waiting[turn].add();
            waiting[turn].o = nullptr;
        }
    waiting[1 - turn].add();
}

// Where a value is not finite and some queries may not look at its key: the finite ones by tiles,
// then the others one by one, to those who may see them. The bits of all that is finite are those
// of mix_tile.
template <ByTiles P, class T = typename P::Sum>
void mix_selected(const T* p, const uint8_t* visible, const typename P::Entry* v, int64_t stride,
                  int64_t keys, const T* decay, bool first, T* o, int64_t width, int64_t queries) {
    mix_tile<P>(p, v + width * stride, stride, keys, decay, first, o, width, queries, nullptr);
    for (int64_t c = 0; c < width; ++c)
        for (int64_t j = 0; j < keys; ++j) {
            const uint16_t value = v[c * stride + j];
            if (is_finite(value)) continue;
            for (int64_t i = 0; i < queries; ++i) {
                if (!visible[j * kRowsPerBlock + i]) continue;
                uint16_t weight[2];
                std::memcpy(weight, p + j / 2 * kRowsPerBlock + i, sizeof weight);
                o[c * kRowsPerBlock + i] += widen_bfloat(weight[j % 2]) * widen_bfloat(value);
            }
        }
}

// The outputs of a block as `finish` reads them, [lane][column], in `to`.
template <class T>
void turn_outputs(Block<T>& b, int64_t width, T* to) {
    constexpr int64_t L = Vec<T>::kLanes;
    for (int64_t lane = 0; lane < b.count; lane += L)
        for (int64_t c = 0; c < width; c += L)
            TileVec::turn(b.o + c * kRowsPerBlock + lane, kRowsPerBlock, to + lane * width + c,
                          width);
    b.o = to;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
