// The words of ranks.h, for float where the machine has them (kThere): AVX-512.
//
//   of(x, row)           an integer in the order of x, its last 7 bits the row, below 128
//   lowest()             below all others
//   min max              of integers
//   same(a, b)           whether they agree but for the rows
//   above_none above_all whether x is above -inf (or, in place of it, NaN); above +inf, so NaN
//   look_up(s, rank)     s[row][lane], the scores of a tile
//   key(rank, begin)     begin + row, carried in the bits of a float
#pragma once

#include "kernels/table.h"
#include "kernels/vec.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Ranks {
    static constexpr bool kThere = false;
};

#if defined(__AVX512F__)

template <>
struct Ranks<float> {
    static constexpr bool kThere = true;
    static constexpr int kRow = 127;
    using Reg = __m512i;
    using Mask = Vec<float>::Mask;

    // What is below 0 counts down from the lowest integer. It is rounded up to its 25 bits, so that
    // no number shares them with -inf.
    static CLEARHEAD_INLINE Reg of(__m512 x, int64_t row) {
        const Reg bits = _mm512_castps_si512(x);
        const Reg down = _mm512_set1_epi32(INT32_MIN + kRow);
        const Reg whole = _mm512_mask_sub_epi32(bits, _mm512_movepi32_mask(bits), down, bits);
        return _mm512_ternarylogic_epi32(whole, rows(), _mm512_set1_epi32(kCount.at[row]), 0xba);
    }
    static CLEARHEAD_INLINE Reg lowest() { return _mm512_set1_epi32(INT32_MIN); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return _mm512_min_epi32(a, b); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return _mm512_max_epi32(a, b); }
    static CLEARHEAD_INLINE Mask same(Reg a, Reg b) {
        return _mm512_cmpeq_epi32_mask(_mm512_or_si512(a, rows()), _mm512_or_si512(b, rows()));
    }
    static CLEARHEAD_INLINE Mask above_none(Reg a) {
        return _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(INT32_MIN + 0x800000 + kRow));
    }
    static CLEARHEAD_INLINE Mask above_all(Reg a) {
        return _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(0x7f800000 + kRow));
    }
    static CLEARHEAD_INLINE __m512 look_up(const float* s, Reg rank) {
        static_assert(kRowsPerBlock == 64);
        const Reg lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const Reg line = _mm512_slli_epi32(_mm512_and_si512(rank, rows()), 6);
        return _mm512_i32gather_ps(_mm512_add_epi32(line, lanes), s, sizeof(float));
    }
    static CLEARHEAD_INLINE __m512 key(Reg rank, int64_t begin) {
        const Reg row = _mm512_and_si512(rank, rows());
        return _mm512_castsi512_ps(
            _mm512_add_epi32(row, _mm512_set1_epi32(static_cast<int>(begin))));
    }

  private:
    struct Count {
        int32_t at[kRow + 1];
    };
    static constexpr Count kCount = [] {  // read by all lanes from memory: no step of its own
        Count out{};
        for (int i = 0; i <= kRow; ++i) out.at[i] = i;
        return out;
    }();
    static CLEARHEAD_INLINE Reg rows() { return _mm512_set1_epi32(kRow); }
};

#endif

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
