// Scores by tiles: the product that both passes take of bfloat16 where the processor has tiles.
//
//   sum[m][n] = sum over chunks, over k of a[m][chunk, k] * b[chunk, k][n]      pairs of bfloat16
//   s[j][lane] = factor * sum, with a the keys as they lie and b the queries of the block
//
// Order: squares of 32 keys by 32 queries, two by two tiles, whose sums stay in tiles over all
// chunks of 32 entries: of eight tiles four hold sums, and each one loaded is multiplied twice. A
// load takes half the time of a product, so four loads beside four products wait for nobody. Sums
// are stored straight into the tile of scores; then one pass over it, while it is in the first
// cache, multiplies by the scale and takes the largest of every panel.
//
// A score depends on its key and query alone (tile_words.h), wherever they stand in a tile.
#pragma once

#include "kernels/scores.h"
#include "kernels/tile_words.h"
#include "kernels/vec_tiles.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kRowBytes = kRowsPerBlock * 4;  // of the queries, the scores and the outputs

// R by C tiles of sums. Rows of `a` are `a_apart` bytes from each other, those of `b` kRowBytes;
// a chunk is 64 bytes of each row of a beside 16 rows of b.
template <int R, int C>
void multiply_square(const void* a, int64_t a_apart, const void* b, int64_t chunks, void* to,
                     int64_t to_apart) {
    const char* of_a = static_cast<const char*>(a);
    const char* of_b = static_cast<const char*>(b);
    char* out = static_cast<char*>(to);
    tile_zero<0>();
    if (C > 1) tile_zero<1>();
    if (R > 1) tile_zero<2>();
    if (R > 1 && C > 1) tile_zero<3>();
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        tile_load<4>(of_a, a_apart);
        tile_load<6>(of_b, kRowBytes);
        tile_dot<0, 4, 6>();
        if (C > 1) {
            tile_load<7>(of_b + kTileBytes, kRowBytes);
            tile_dot<1, 4, 7>();
        }
        if (R > 1) {
            tile_load<5>(of_a + kTileRows * a_apart, a_apart);
            tile_dot<2, 5, 6>();
            if (C > 1) tile_dot<3, 5, 7>();
        }
        of_a += kTileBytes;
        of_b += kTileRows * kRowBytes;
    }
    tile_store<0>(out, to_apart);
    if (C > 1) tile_store<1>(out + kTileBytes, to_apart);
    out += kTileRows * to_apart;
    if (R > 1) tile_store<2>(out, to_apart);
    if (R > 1 && C > 1) tile_store<3>(out + kTileBytes, to_apart);
}

// The same for as many tiles as there are, one or two each way.
CLEARHEAD_INLINE void multiply_some(bool two_rows, bool two_columns, const void* a, int64_t a_apart,
                                    const void* b, int64_t chunks, void* to, int64_t to_apart) {
    if (two_rows)
        (two_columns ? multiply_square<2, 2> : multiply_square<2, 1>)(a, a_apart, b, chunks, to,
                                                                      to_apart);
    else
        (two_columns ? multiply_square<1, 2> : multiply_square<1, 1>)(a, a_apart, b, chunks, to,
                                                                      to_apart);
}

// Scales the scores, and takes the largest of every panel.
template <class T>
void scale_panels(T* s, int64_t keys, int columns, T factor, T* largest) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const auto scale = V::all(factor);
    for (int64_t j = 0; j < keys; largest += kRowsPerBlock) {
        const int rows = panel_rows(keys - j);
        for (int c = 0; c < columns; ++c) {
            typename V::Reg most;
            for (int r = 0; r < rows; ++r) {
                T* at = s + (j + r) * kRowsPerBlock + c * L;
                const auto score = V::mul(V::load(at), scale);
                V::store(at, score);
                most = r ? V::max(score, most) : score;
            }
            V::store(largest + c * L, most);
        }
        j += rows;
    }
}

template <ByTiles P>
CLEARHEAD_INLINE int keys_at_once(int64_t left) {
    return static_cast<int>(smaller(left, 2 * kTileRows));
}

// Reads keys up to the next 16, and writes as many rows of s: they are there (TileRows).
template <ByTiles P, class T = typename P::Sum>
void score_tile(const typename P::Entry* k, int64_t stride, const T* q, int64_t steps, int64_t keys,
                int columns, T factor, T* s, T* largest, RowsAhead ahead) {
    const int64_t chunks = (steps + kTileRows - 1) / kTileRows;
    for (int64_t j = 0; j < keys; j += 2 * kTileRows) {
        for (int c = 0; c < columns; c += 2) {
            const int64_t lane = c * Vec<T>::kLanes;
            multiply_some(keys - j > kTileRows, columns - c > 1, k + j * stride, stride * 2,
                          q + lane, chunks, s + j * kRowsPerBlock + lane, kRowBytes);
        }
        ahead.fetch(j, 2 * kTileRows);
    }
    scale_panels(s, keys, columns, factor, largest);
}

// Rows of keys: in place where whole chunks of 16 whole rows are there, else copied, with zeros in
// what is missing.
struct TileRows {
    Rows<uint16_t> rows;
    int64_t all;

    const uint16_t* tile(int64_t begin, int64_t end, int64_t* stride) const {
        const int64_t whole = round_up(end - begin, kTileRows);
        if (rows.in_place && begin + whole <= all) return rows.tile(begin, end, stride);
        *stride = rows.padded;
        const char* from = rows.base + begin * rows.row * 2;
        for (int64_t j = 0; j < end - begin; ++j)
            copy_row(rows.copy + j * rows.padded, from + j * rows.row * 2, rows.kind, rows.column,
                     rows.width, rows.padded);
        std::memset(rows.copy + (end - begin) * rows.padded, 0,
                    static_cast<size_t>((whole - (end - begin)) * rows.padded) * 2);
        return rows.copy;
    }
};

template <ByTiles P, class T = typename P::Sum>
TileRows keys_of(const Request& r, int64_t sample, int64_t head, T* copy) {
    auto* to = reinterpret_cast<uint16_t*>(copy);
    return {rows_of(r, r.key, sample, head, r.d_k, kTileBytes / 2, to), r.keys};
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
