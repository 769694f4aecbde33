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
// They are the instructions of AMX, as text: the compiler's own words for them take the number of a
// register as a literal. tests/native/tiles_by_hand.cpp executes them where there is no AMX.
#pragma once

#include "kernels/vec.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTileBytes = 64;  // of a row

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

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
