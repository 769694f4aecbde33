// The words of tiles: eight registers of 16 rows by 64 bytes, which the processor multiplies.
//
//   TileSession       shapes the registers of this thread and gives them back at its end; the other
//                     words stand between. Tasks hold one each: other libraries shape their own.
//   tile_zero<i>()
//   tile_load<i>(p, apart)     16 rows of 64 bytes, `apart` bytes from one to the next
//   tile_store<i>(p, apart)
//   tile_dot<c, a, b>()        c[m][n] += sum over k of a[m][k].low b[k][n].low + a[m][k].high
//                              b[k][n].high, of pairs of bfloat16 into float
//
// The sums over low and over high halves are two chains of fused multiply-adds in increasing k,
// each from zero, which are added to each other and then to c; numbers below the normal range count
// as 0. So a number of c depends on one row, one column and nothing else.
//
// On a processor with AMX they are its instructions. The instruction set `tiles` says the same in
// plain arithmetic, for the tests of machines without AMX; it stops where a session is missing.
#pragma once

#include "kernels/vec.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTileBytes = 64;  // of a row

#if defined(CLEARHEAD_ISA_amx)

struct TileSession {
    struct alignas(64) Shapes {
        uint8_t palette = 1, start = 0, reserved[14] = {};
        uint16_t bytes[16] = {};
        uint8_t rows[16] = {};
    };

    TileSession() {
        Shapes shapes;
        for (int i = 0; i < 8; ++i) {
            shapes.bytes[i] = kTileBytes;
            shapes.rows[i] = kTileRows;
        }
        asm volatile("ldtilecfg %0" : : "m"(shapes));
    }
    ~TileSession() { asm volatile("tilerelease"); }
    TileSession(const TileSession&) = delete;
};

template <int i>
CLEARHEAD_INLINE void tile_zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(i));
}
template <int i>
CLEARHEAD_INLINE void tile_load(const void* p, int64_t apart) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(p), "r"(apart), "i"(i) : "memory");
}
template <int i>
CLEARHEAD_INLINE void tile_store(void* p, int64_t apart) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(p), "r"(apart), "i"(i) : "memory");
}
template <int c, int a, int b>
CLEARHEAD_INLINE void tile_dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(c), "i"(a), "i"(b));
}

#else

struct PlainTiles {
    bool shaped;
    alignas(64) unsigned char tile[8][kTileRows][kTileBytes];
};
thread_local PlainTiles plain_tiles;

struct TileSession {
    TileSession() {
        plain_tiles.shaped = true;
        std::memset(plain_tiles.tile, 0xff, sizeof plain_tiles.tile);  // NaN
    }
    ~TileSession() { plain_tiles.shaped = false; }
    TileSession(const TileSession&) = delete;
};

CLEARHEAD_INLINE unsigned char (*tile_at(int i))[kTileBytes] {
    if (!plain_tiles.shaped) __builtin_trap();
    return plain_tiles.tile[i];
}

template <int i>
void tile_zero() {
    std::memset(tile_at(i), 0, kTileRows * kTileBytes);
}
template <int i>
void tile_load(const void* p, int64_t apart) {
    for (int64_t row = 0; row < kTileRows; ++row)
        std::memcpy(tile_at(i)[row], static_cast<const char*>(p) + row * apart, kTileBytes);
}
template <int i>
void tile_store(void* p, int64_t apart) {
    for (int64_t row = 0; row < kTileRows; ++row)
        std::memcpy(static_cast<char*>(p) + row * apart, tile_at(i)[row], kTileBytes);
}

// The halves of the pair at `at`, as numbers.
CLEARHEAD_INLINE void halves(const void* at, float* low, float* high) {
    uint32_t pair;
    std::memcpy(&pair, at, sizeof pair);
    const uint32_t bits[2] = {pair << 16, pair & 0xffff0000u};
    std::memcpy(low, bits, sizeof *low);
    std::memcpy(high, bits + 1, sizeof *high);
}

template <int c, int a, int b>
void tile_dot() {
    using V = Vec<float>;
    constexpr int n = kTileBytes / sizeof(float);
    static_assert(n == V::kLanes);
    float low[kTileRows][n], high[kTileRows][n];
    for (int64_t k = 0; k < kTileRows; ++k)
        for (int i = 0; i < n; ++i) halves(tile_at(b)[k] + 4 * i, &low[k][i], &high[k][i]);
    for (int64_t m = 0; m < kTileRows; ++m) {
        auto lows = V::zero(), highs = V::zero();
        for (int64_t k = 0; k < kTileRows; ++k) {
            float of_low, of_high;
            halves(tile_at(a)[m] + 4 * k, &of_low, &of_high);
            lows = V::fma(V::all(of_low), V::load(low[k]), lows);
            highs = V::fma(V::all(of_high), V::load(high[k]), highs);
        }
        float* to = reinterpret_cast<float*>(tile_at(c)[m]);
        V::store(to, V::add(V::load(to), V::add(lows, highs)));
    }
}

#endif

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
