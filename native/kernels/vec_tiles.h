// What the kernels over tiles say beside vec.h and tile_words.h, with AVX-512.
//
//   turn(from, apart, to, to_apart)        16 x 16 floats, transposed from memory to memory
//   turn_pairs(from, apart, to, to_apart)  32 rows of 8 numbers of 16 bits: to[c] is their column c
//   fraction(x)                            x - floor(x); 0 for -inf
//   scale_floor(p, x)                      p * 2^floor(x); 0 for -inf
//
// A transposition is four loads of a quarter register each, then two rounds of exchanges: half of
// the shuffles of one in registers, which Intel's processors have a single unit for.
#pragma once

#include <immintrin.h>

#include "kernels/vec.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

struct TileVec {
    using Reg = Vec<float>::Reg;

    static CLEARHEAD_INLINE Reg fraction(Reg x) { return _mm512_reduce_ps(x, 0x09); }
    static CLEARHEAD_INLINE Reg scale_floor(Reg p, Reg x) { return _mm512_scalef_ps(p, x); }

    // 16 bytes of each of the rows 0, 4, 8 and 12 from `row` on.
    static CLEARHEAD_INLINE __m512i quarters(const char* row, int64_t apart) {
        const auto at = [&](int i) CLEARHEAD_INLINED {
            return reinterpret_cast<const __m128i*>(row + 4 * i * apart);
        };
        __m512i x = _mm512_castsi128_si512(_mm_loadu_si128(at(0)));
        x = _mm512_inserti32x4(x, _mm_loadu_si128(at(1)), 1);
        x = _mm512_inserti32x4(x, _mm_loadu_si128(at(2)), 2);
        return _mm512_inserti32x4(x, _mm_loadu_si128(at(3)), 3);
    }
    // Four rows of four words in every quarter, transposed.
    static CLEARHEAD_INLINE void exchange(__m512i* x) {
        const __m512i a = _mm512_unpacklo_epi32(x[0], x[1]), b = _mm512_unpackhi_epi32(x[0], x[1]);
        const __m512i c = _mm512_unpacklo_epi32(x[2], x[3]), d = _mm512_unpackhi_epi32(x[2], x[3]);
        x[0] = _mm512_unpacklo_epi64(a, c);
        x[1] = _mm512_unpackhi_epi64(a, c);
        x[2] = _mm512_unpacklo_epi64(b, d);
        x[3] = _mm512_unpackhi_epi64(b, d);
    }
    static CLEARHEAD_INLINE void turn(const float* from, int64_t apart, float* to,
                                      int64_t to_apart) {
#pragma GCC unroll 4
        for (int part = 0; part < 4; ++part) {
            __m512i x[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i)
                x[i] =
                    quarters(reinterpret_cast<const char*>(from + i * apart + 4 * part), apart * 4);
            exchange(x);
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) _mm512_storeu_si512(to + (4 * part + i) * to_apart, x[i]);
        }
    }
    static CLEARHEAD_INLINE void turn_pairs(const uint16_t* from, int64_t apart, uint16_t* to,
                                            int64_t to_apart) {
        __m512i low[4], high[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const char* row = reinterpret_cast<const char*>(from + 2 * i * apart);
            const __m512i even = quarters(row, apart * 4);
            const __m512i odd = quarters(row + apart * 2, apart * 4);
            low[i] = _mm512_unpacklo_epi16(even, odd);
            high[i] = _mm512_unpackhi_epi16(even, odd);
        }
        exchange(low);
        exchange(high);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            _mm512_storeu_si512(to + i * to_apart, low[i]);
            _mm512_storeu_si512(to + (i + 4) * to_apart, high[i]);
        }
    }
};

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
