// The vocabulary for AArch64, whose every processor has it: 4 floats or 2 doubles, 32 registers,
// masks of lanes.
#pragma once

#include <arm_neon.h>

#include "kernels/vec_baseline.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Vec;

template <>
struct Vec<float> {
    static constexpr int kLanes = 4;
    static constexpr bool kPairs = false;
    static constexpr int kScoreColumns = 4;  // 6 x 4 sums, 4 loads and a broadcast: 29 of 32
    static constexpr int kMixColumns = 4;
    using Reg = float32x4_t;
    using Mask = uint32x4_t;

    static CLEARHEAD_INLINE Reg load(const float* p) { return vld1q_f32(p); }
    static CLEARHEAD_INLINE void store(float* p, Reg x) { vst1q_f32(p, x); }
    static CLEARHEAD_INLINE Reg all(float x) { return vdupq_n_f32(x); }
    static CLEARHEAD_INLINE Reg zero() { return vdupq_n_f32(0); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return vaddq_f32(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return vsubq_f32(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return vmulq_f32(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return vdivq_f32(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return vfmaq_f32(c, a, b); }
    // vmaxq keeps a NaN of either side: right for at_least, and not what max says.
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return select(less(b, a), a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return select(less(a, b), a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return vabsq_f32(x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, float least) { return vmaxq_f32(x, all(least)); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return vcltq_f32(a, b); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) { return vceqq_f32(a, b); }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) { return vbslq_f32(m, a, b); }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return vandq_u32(a, b); }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return vorrq_u32(a, b); }
    static CLEARHEAD_INLINE bool any(Mask m) { return vmaxvq_u32(m) != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return vminvq_u32(m) != 0; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        uint32_t four;
        std::memcpy(&four, p, sizeof four);
        const uint8x8_t bytes = vcreate_u8(four);
        const uint32x4_t wide = vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
        return vtstq_u32(wide, wide);
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        const uint16x4_t half = vmovn_u32(vshrq_n_u32(m, 31));
        const uint8x8_t bytes = vmovn_u16(vcombine_u16(half, half));
        const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
        std::memcpy(p, &four, sizeof four);
    }
    static CLEARHEAD_INLINE float sum(Reg a) { return vaddvq_f32(a); }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        if constexpr (n == 2)
            return vextq_f32(a, a, 2);
        else
            return vrev64q_f32(a);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return vrndnq_f32(a); }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) {
        const int32x4_t whole = vcvtq_s32_f32(n);
        const int32x4_t bits = vshlq_n_s32(vaddq_s32(whole, vdupq_n_s32(127)), 23);
        return select(less(n, all(-126)), zero(), mul(p, vreinterpretq_f32_s32(bits)));
    }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        const uint32x4_t bits = vreinterpretq_u32_f32(x);
        const int32x4_t biased = vreinterpretq_s32_u32(vshrq_n_u32(bits, 23));
        *e = vcvtq_f32_s32(vsubq_s32(biased, vdupq_n_s32(127)));
        const uint32x4_t part = vandq_u32(bits, vdupq_n_u32(0x7fffff));
        return vreinterpretq_f32_u32(vorrq_u32(part, vdupq_n_u32(0x3f800000)));
    }
    static CLEARHEAD_INLINE Reg from_half(const uint16_t* p) {
        return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
    }
    static CLEARHEAD_INLINE Reg from_bfloat(const uint16_t* p) {
        return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
    }
    static CLEARHEAD_INLINE void to_half(uint16_t* p, Reg x) {
        vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x)));
    }
    static CLEARHEAD_INLINE void to_bfloat(uint16_t* p, Reg x) {
        const uint32x4_t bits = vreinterpretq_u32_f32(x);
        const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
        const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
        const uint32x4_t nan = vorrq_u32(bits, vdupq_n_u32(0x400000));
        vst1_u16(p, vshrn_n_u32(vbslq_u32(equal(x, x), rounded, nan), 16));
    }

    static CLEARHEAD_INLINE Reg fold(const Reg* r) {
        return vpaddq_f32(vpaddq_f32(r[0], r[1]), vpaddq_f32(r[2], r[3]));
    }

    static CLEARHEAD_INLINE void transpose(Reg* r) {
        const float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(r[0], r[1]));
        const float64x2_t b = vreinterpretq_f64_f32(vtrn2q_f32(r[0], r[1]));
        const float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(r[2], r[3]));
        const float64x2_t d = vreinterpretq_f64_f32(vtrn2q_f32(r[2], r[3]));
        r[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
        r[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
        r[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
        r[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
    }
};

template <>
struct Vec<double> {
    static constexpr int kLanes = 2;
    static constexpr int kScoreColumns = 4;
    static constexpr int kMixColumns = 4;
    using Reg = float64x2_t;
    using Mask = uint64x2_t;

    static CLEARHEAD_INLINE Reg load(const double* p) { return vld1q_f64(p); }
    static CLEARHEAD_INLINE void store(double* p, Reg x) { vst1q_f64(p, x); }
    static CLEARHEAD_INLINE Reg all(double x) { return vdupq_n_f64(x); }
    static CLEARHEAD_INLINE Reg zero() { return vdupq_n_f64(0); }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return vaddq_f64(a, b); }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return vsubq_f64(a, b); }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return vmulq_f64(a, b); }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return vdivq_f64(a, b); }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return vfmaq_f64(c, a, b); }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return select(less(b, a), a, b); }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return select(less(a, b), a, b); }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return vabsq_f64(x); }
    static CLEARHEAD_INLINE Reg at_least(Reg x, double least) { return vmaxq_f64(x, all(least)); }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return vcltq_f64(a, b); }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) { return vceqq_f64(a, b); }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) { return vbslq_f64(m, a, b); }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return vandq_u64(a, b); }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return vorrq_u64(a, b); }
    static CLEARHEAD_INLINE bool any(Mask m) { return vmaxvq_u32(vreinterpretq_u32_u64(m)) != 0; }
    static CLEARHEAD_INLINE bool every(Mask m) { return vminvq_u32(vreinterpretq_u32_u64(m)) != 0; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) {
        const uint64x2_t wide = vcombine_u64(vcreate_u64(p[0]), vcreate_u64(p[1]));
        return vtstq_u64(wide, wide);
    }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) {
        p[0] = static_cast<uint8_t>(vgetq_lane_u64(m, 0) & 1);
        p[1] = static_cast<uint8_t>(vgetq_lane_u64(m, 1) & 1);
    }
    static CLEARHEAD_INLINE double sum(Reg a) { return vaddvq_f64(a); }
    template <int n>
    static CLEARHEAD_INLINE Reg swap(Reg a) {
        return vextq_f64(a, a, 1);
    }
    static CLEARHEAD_INLINE Reg round(Reg a) { return vrndnq_f64(a); }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) {
        const int64x2_t whole = vcvtq_s64_f64(n);
        const int64x2_t bits = vshlq_n_s64(vaddq_s64(whole, vdupq_n_s64(1023)), 52);
        return select(less(n, all(-1022)), zero(), mul(p, vreinterpretq_f64_s64(bits)));
    }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        const uint64x2_t bits = vreinterpretq_u64_f64(x);
        const int64x2_t biased = vreinterpretq_s64_u64(vshrq_n_u64(bits, 52));
        *e = vcvtq_f64_s64(vsubq_s64(biased, vdupq_n_s64(1023)));
        const uint64x2_t part = vandq_u64(bits, vdupq_n_u64(0xfffffffffffff));
        return vreinterpretq_f64_u64(vorrq_u64(part, vdupq_n_u64(0x3ff0000000000000)));
    }

    static CLEARHEAD_INLINE Reg fold(const Reg* r) { return vpaddq_f64(r[0], r[1]); }
    static CLEARHEAD_INLINE void transpose(Reg* r) {
        const Reg first = vtrn1q_f64(r[0], r[1]);
        r[1] = vtrn2q_f64(r[0], r[1]);
        r[0] = first;
    }
};

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
