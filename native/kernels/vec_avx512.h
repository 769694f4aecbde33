// The vocabulary for AVX-512 (F, BW, DQ, VL): 16 floats or 8 doubles, 32 registers, masks of bits;
// with AVX512-BF16 also products of pairs.
#pragma once

#include <immintrin.h>

#include "kernels/vec_baseline.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Vec;

template <>
struct Vec<float> {
    static constexpr int kLanes = 16;
    static constexpr int kScoreColumns = 4;  // 6 x 4 sums, 4 loads and a broadcast: 29 of 32
    static constexpr int kMixColumns = 4;
    using Reg = __m512;
    using Mask = __mmask16;

    static CLEARHEAD_INLINE Reg load(const float* p) { return _mm512_loadu_ps(p); }
    static CLEARHEAD_INLINE void store(float* p, Reg x) { _mm512_storeu_ps(p, x); }
    static CLEARHEAD_INLINE Reg all(float x) { return _mm512_set1_ps(x); }
    static CLEARHEAD_INLINE Reg zero() { return _mm512_setzero_ps(); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return _mm512_min_ps(a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return _mm512_abs_ps(x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, float least) { return max(all(least), x); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) {
        return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
    }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) {
        return _mm512_mask_blend_ps(m, b, a);
    }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return a & b; }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return a | b; }
    static CLEARHEAD_INLINE bool any(Mask m) { return m != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return m == 0xffff; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm_test_epi8_mask(bytes, bytes);
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(m, 1));
    }
    static CLEARHEAD_INLINE float sum(Reg a) {
        const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
        const __m128 four =
            _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        if constexpr (n >= 4)
            return _mm512_shuffle_f32x4(a, a, n == 8 ? 0x4e : 0xb1);
        else
            return _mm512_permute_ps(a, n == 2 ? 0x4e : 0xb1);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return _mm512_roundscale_ps(a, 0x08); }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) { return _mm512_scalef_ps(p, n); }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        *e = _mm512_getexp_ps(x);
        return _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    }
    static CLEARHEAD_INLINE Reg from_half(const uint16_t* p) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static CLEARHEAD_INLINE Reg from_bfloat(const uint16_t* p) {
        const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
    static CLEARHEAD_INLINE void to_half(uint16_t* p, Reg x) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, 0x08));
    }
#if defined(__AVX512BF16__)
    static constexpr bool kPairs = true;
    static CLEARHEAD_INLINE Reg dot2(Reg a, Reg b, Reg c) {
        return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
    }
    static CLEARHEAD_INLINE Reg pair(Reg low, Reg high) {
        const __m512i both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
        return _mm512_castsi512_ps(_mm512_permutexvar_epi16(woven(), both));
    }
    static CLEARHEAD_INLINE Reg weave(const uint16_t* low, const uint16_t* high) {
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
        const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
        const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
        return _mm512_castsi512_ps(_mm512_permutexvar_epi16(woven(), both));
    }
    static CLEARHEAD_INLINE void to_bfloat(uint16_t* p, Reg x) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                            reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
    }

    // Two registers at once: 4 columns of 8 in one, 4 in the other.
    static CLEARHEAD_INLINE void weave_wide(Reg a, Reg b, Reg* to) {
        const __m512i x = _mm512_castps_si512(a), y = _mm512_castps_si512(b);
        to[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(x, y));
        to[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(x, y));
    }
    static CLEARHEAD_INLINE void in_order(Reg* r) {
        const __m512d a = _mm512_castps_pd(r[0]), b = _mm512_castps_pd(r[1]);
        const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        const __m512i high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        r[0] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, low, b));
        r[1] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, high, b));
    }
    template <int R>
    static CLEARHEAD_INLINE void store_pairs(uint16_t* to, Reg p) {
        alignas(32) uint16_t order[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i)
            order[i] = static_cast<uint16_t>(i / (2 * R) * 2 * R + i % 2 * R + i / 2 % R);
        const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(order));
        const __m256i half = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(p));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutexvar_epi16(at, half));
    }

    // 0 16 1 17 2 18 ...: the halves of a register, woven.
    static CLEARHEAD_INLINE __m512i woven() {
        const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(16));
        return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
    }
#else
    static constexpr bool kPairs = false;
    static CLEARHEAD_INLINE void to_bfloat(uint16_t* p, Reg x) {
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        __m512i out = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        const Mask nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        out = _mm512_mask_or_epi32(out, nan, bits, _mm512_set1_epi32(0x400000));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                            _mm512_cvtepi32_epi16(_mm512_srli_epi32(out, 16)));
    }
#endif

    // 16 registers, each to one lane: pairs, fours, then the quarters.
    static CLEARHEAD_INLINE Reg fold(const Reg* r) {
        Reg four[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            const Reg* from = r + 4 * i;
            const Reg a =
                add(_mm512_unpacklo_ps(from[0], from[1]), _mm512_unpackhi_ps(from[0], from[1]));
            const Reg b =
                add(_mm512_unpacklo_ps(from[2], from[3]), _mm512_unpackhi_ps(from[2], from[3]));
            const __m512d c = _mm512_castps_pd(a), d = _mm512_castps_pd(b);
            four[i] = add(_mm512_castpd_ps(_mm512_unpacklo_pd(c, d)),
                          _mm512_castpd_ps(_mm512_unpackhi_pd(c, d)));
        }
        const Reg low = add(_mm512_shuffle_f32x4(four[0], four[1], 0x88),
                            _mm512_shuffle_f32x4(four[0], four[1], 0xdd));
        const Reg high = add(_mm512_shuffle_f32x4(four[2], four[3], 0x88),
                             _mm512_shuffle_f32x4(four[2], four[3], 0xdd));
        return add(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
    }

    // 16 x 16: pairs, then fours within each quarter, then the quarters themselves.
    static CLEARHEAD_INLINE void transpose(Reg* r) {
        Reg t[16], u[16];
#pragma GCC unroll 8
        for (int i = 0; i < 16; i += 2) {
            t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
            t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < 16; i += 4) {
            for (int c = 0; c < 2; ++c) {
                const __m512d a = _mm512_castps_pd(t[i + c]), b = _mm512_castps_pd(t[i + 2 + c]);
                u[i + 2 * c] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
                u[i + 2 * c + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
            }
        }
#pragma GCC unroll 8
        for (int c = 0; c < 4; ++c) {
            const Reg x0 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0x44);
            const Reg x1 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0x44);
            const Reg x2 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0xee);
            const Reg x3 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0xee);
            r[c] = _mm512_shuffle_f32x4(x0, x1, 0x88);
            r[4 + c] = _mm512_shuffle_f32x4(x0, x1, 0xdd);
            r[8 + c] = _mm512_shuffle_f32x4(x2, x3, 0x88);
            r[12 + c] = _mm512_shuffle_f32x4(x2, x3, 0xdd);
        }
    }
};

template <>
struct Vec<double> {
    static constexpr int kLanes = 8;
    static constexpr int kScoreColumns = 4;
    static constexpr int kMixColumns = 4;
    using Reg = __m512d;
    using Mask = __mmask8;

    static CLEARHEAD_INLINE Reg load(const double* p) { return _mm512_loadu_pd(p); }
    static CLEARHEAD_INLINE void store(double* p, Reg x) { _mm512_storeu_pd(p, x); }
    static CLEARHEAD_INLINE Reg all(double x) { return _mm512_set1_pd(x); }
    static CLEARHEAD_INLINE Reg zero() { return _mm512_setzero_pd(); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return _mm512_add_pd(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return _mm512_sub_pd(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return _mm512_mul_pd(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return _mm512_div_pd(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_pd(a, b, c); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return _mm512_max_pd(a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return _mm512_min_pd(a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return _mm512_abs_pd(x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, double least) { return max(all(least), x); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) {
        return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
    }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) {
        return _mm512_mask_blend_pd(m, b, a);
    }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return a & b; }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return a | b; }
    static CLEARHEAD_INLINE bool any(Mask m) { return m != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return m == 0xff; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        return static_cast<Mask>(_mm_test_epi8_mask(bytes, bytes));
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(m, 1));
    }
    static CLEARHEAD_INLINE double sum(Reg a) {
        const __m256d half = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
        const __m128d two =
            _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        if constexpr (n >= 2)
            return _mm512_shuffle_f64x2(a, a, n == 4 ? 0x4e : 0xb1);
        else
            return _mm512_permute_pd(a, 0x55);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return _mm512_roundscale_pd(a, 0x08); }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) { return _mm512_scalef_pd(p, n); }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        *e = _mm512_getexp_pd(x);
        return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    }

    static CLEARHEAD_INLINE void transpose(Reg* r) {
        Reg t[8];
#pragma GCC unroll 4
        for (int i = 0; i < 8; i += 2) {
            t[i] = _mm512_unpacklo_pd(r[i], r[i + 1]);
            t[i + 1] = _mm512_unpackhi_pd(r[i], r[i + 1]);
        }
#pragma GCC unroll 2
        for (int c = 0; c < 2; ++c) {
            const Reg x0 = _mm512_shuffle_f64x2(t[c], t[2 + c], 0x44);
            const Reg x1 = _mm512_shuffle_f64x2(t[4 + c], t[6 + c], 0x44);
            const Reg x2 = _mm512_shuffle_f64x2(t[c], t[2 + c], 0xee);
            const Reg x3 = _mm512_shuffle_f64x2(t[4 + c], t[6 + c], 0xee);
            r[c] = _mm512_shuffle_f64x2(x0, x1, 0x88);
            r[2 + c] = _mm512_shuffle_f64x2(x0, x1, 0xdd);
            r[4 + c] = _mm512_shuffle_f64x2(x2, x3, 0x88);
            r[6 + c] = _mm512_shuffle_f64x2(x2, x3, 0xdd);
        }
    }
};

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
