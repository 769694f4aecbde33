// The vocabulary for AVX2 with FMA and F16C: 8 floats or 4 doubles, 16 registers, masks of lanes.
#pragma once

#include <immintrin.h>

#include "kernels/vec_baseline.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Vec;

template <>
struct Vec<float> {
    static constexpr int kLanes = 8;
    static constexpr bool kPairs = false;
    static constexpr int kScoreColumns = 2;  // 6 x 2 sums, 2 loads and a broadcast: 15 of 16
    static constexpr int kMixColumns = 2;
    using Reg = __m256;
    using Mask = __m256;

    static CLEARHEAD_INLINE Reg load(const float* p) { return _mm256_loadu_ps(p); }
    static CLEARHEAD_INLINE void store(float* p, Reg x) { _mm256_storeu_ps(p, x); }
    static CLEARHEAD_INLINE Reg all(float x) { return _mm256_set1_ps(x); }
    static CLEARHEAD_INLINE Reg zero() { return _mm256_setzero_ps(); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return _mm256_min_ps(a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return _mm256_andnot_ps(all(-0.0f), x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, float least) { return max(all(least), x); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) { return _mm256_blendv_ps(b, a, m); }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return _mm256_or_ps(a, b); }
    static CLEARHEAD_INLINE bool any(Mask m) { return _mm256_movemask_ps(m) != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return _mm256_movemask_ps(m) == 0xff; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        const __m256i wide = _mm256_cvtepu8_epi32(bytes);
        return _mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_setzero_si256()));
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        const int bits = _mm256_movemask_ps(m);
        for (int i = 0; i < kLanes; ++i) p[i] = static_cast<uint8_t>(bits >> i & 1);
    }
    static CLEARHEAD_INLINE float sum(Reg a) {
        const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        if constexpr (n == 4)
            return _mm256_permute2f128_ps(a, a, 1);
        else
            return _mm256_permute_ps(a, n == 2 ? 0x4e : 0xb1);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return _mm256_round_ps(a, 0x08); }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) {
        const __m256i whole = _mm256_cvtps_epi32(n);
        const __m256i bits = _mm256_slli_epi32(_mm256_add_epi32(whole, _mm256_set1_epi32(127)), 23);
        return select(less(n, all(-126)), zero(), mul(p, _mm256_castsi256_ps(bits)));
    }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        const __m256i bits = _mm256_castps_si256(x);
        *e = _mm256_cvtepi32_ps(
            _mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(127)));
        const __m256i part = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff));
        return _mm256_castsi256_ps(_mm256_or_si256(part, _mm256_set1_epi32(0x3f800000)));
    }
    static CLEARHEAD_INLINE Reg from_half(const uint16_t* p) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static CLEARHEAD_INLINE Reg from_bfloat(const uint16_t* p) {
        const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
    }
    static CLEARHEAD_INLINE void to_half(uint16_t* p, Reg x) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, 0x08));
    }
    static CLEARHEAD_INLINE void to_bfloat(uint16_t* p, Reg x) {
        float lanes[kLanes];
        store(lanes, x);
        for (int i = 0; i < kLanes; ++i) p[i] = narrow_bfloat(lanes[i]);
    }

    // 8 registers, each to one lane: pairs, fours, then the halves.
    static CLEARHEAD_INLINE Reg fold(const Reg* r) {
        Reg four[2];
#pragma GCC unroll 2
        for (int i = 0; i < 2; ++i) {
            const Reg* from = r + 4 * i;
            const Reg a =
                add(_mm256_unpacklo_ps(from[0], from[1]), _mm256_unpackhi_ps(from[0], from[1]));
            const Reg b =
                add(_mm256_unpacklo_ps(from[2], from[3]), _mm256_unpackhi_ps(from[2], from[3]));
            const __m256d c = _mm256_castps_pd(a), d = _mm256_castps_pd(b);
            four[i] = add(_mm256_castpd_ps(_mm256_unpacklo_pd(c, d)),
                          _mm256_castpd_ps(_mm256_unpackhi_pd(c, d)));
        }
        return add(_mm256_permute2f128_ps(four[0], four[1], 0x20),
                   _mm256_permute2f128_ps(four[0], four[1], 0x31));
    }

    static CLEARHEAD_INLINE void transpose(Reg* r) {
        Reg t[8], u[8];
#pragma GCC unroll 4
        for (int i = 0; i < 8; i += 2) {
            t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
            t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
        }
#pragma GCC unroll 2
        for (int i = 0; i < 8; i += 4) {
            for (int c = 0; c < 2; ++c) {
                const __m256d a = _mm256_castps_pd(t[i + c]), b = _mm256_castps_pd(t[i + 2 + c]);
                u[i + 2 * c] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
                u[i + 2 * c + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
            }
        }
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) {
            r[c] = _mm256_permute2f128_ps(u[c], u[4 + c], 0x20);
            r[4 + c] = _mm256_permute2f128_ps(u[c], u[4 + c], 0x31);
        }
    }
};

template <>
struct Vec<double> {
    static constexpr int kLanes = 4;
    static constexpr int kScoreColumns = 2;
    static constexpr int kMixColumns = 2;
    using Reg = __m256d;
    using Mask = __m256d;

    static CLEARHEAD_INLINE Reg load(const double* p) { return _mm256_loadu_pd(p); }
    static CLEARHEAD_INLINE void store(double* p, Reg x) { _mm256_storeu_pd(p, x); }
    static CLEARHEAD_INLINE Reg all(double x) { return _mm256_set1_pd(x); }
    static CLEARHEAD_INLINE Reg zero() { return _mm256_setzero_pd(); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return _mm256_add_pd(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return _mm256_sub_pd(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return _mm256_mul_pd(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return _mm256_div_pd(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_pd(a, b, c); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return _mm256_max_pd(a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return _mm256_min_pd(a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return _mm256_andnot_pd(all(-0.0), x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, double least) { return max(all(least), x); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) { return _mm256_blendv_pd(b, a, m); }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return _mm256_and_pd(a, b); }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return _mm256_or_pd(a, b); }
    static CLEARHEAD_INLINE bool any(Mask m) { return _mm256_movemask_pd(m) != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return _mm256_movemask_pd(m) == 0xf; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        int32_t four;
        std::memcpy(&four, p, sizeof four);
        const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
        return _mm256_castsi256_pd(_mm256_cmpgt_epi64(wide, _mm256_setzero_si256()));
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        const int bits = _mm256_movemask_pd(m);
        for (int i = 0; i < kLanes; ++i) p[i] = static_cast<uint8_t>(bits >> i & 1);
    }
    static CLEARHEAD_INLINE double sum(Reg a) {
        const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
        return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
    }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        if constexpr (n == 2)
            return _mm256_permute2f128_pd(a, a, 1);
        else
            return _mm256_permute_pd(a, 5);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return _mm256_round_pd(a, 0x08); }
    // A whole number added to 1.5 * 2^52 stands in the low bits of the sum.
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) {
        const __m256i whole = _mm256_castpd_si256(add(n, all(0x1.8p52)));
        const __m256i bits =
            _mm256_slli_epi64(_mm256_add_epi64(whole, _mm256_set1_epi64x(1023)), 52);
        return select(less(n, all(-1022)), zero(), mul(p, _mm256_castsi256_pd(bits)));
    }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        const __m256i bits = _mm256_castpd_si256(x);
        const __m256i high = _mm256_srli_epi64(bits, 52);  // the bits of a small whole number:
        const __m256i magic = _mm256_or_si256(high, _mm256_castpd_si256(all(0x1p52)));
        *e = sub(_mm256_castsi256_pd(magic), all(0x1p52 + 1023));
        const __m256i part = _mm256_and_si256(bits, _mm256_set1_epi64x(0xfffffffffffff));
        return _mm256_castsi256_pd(_mm256_or_si256(part, _mm256_castpd_si256(all(1.0))));
    }

    static CLEARHEAD_INLINE void transpose(Reg* r) {
        Reg t[4];
        for (int i = 0; i < 4; i += 2) {
            t[i] = _mm256_unpacklo_pd(r[i], r[i + 1]);
            t[i + 1] = _mm256_unpackhi_pd(r[i], r[i + 1]);
        }
        for (int c = 0; c < 2; ++c) {
            r[c] = _mm256_permute2f128_pd(t[c], t[2 + c], 0x20);
            r[2 + c] = _mm256_permute2f128_pd(t[c], t[2 + c], 0x31);
        }
    }
};

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
