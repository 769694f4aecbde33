// The vocabulary with one lane: any machine, and the version to read first.
#pragma once

namespace clearhead::CLEARHEAD_ISA {
namespace {

// 16-bit kinds, in integers alone: also what the wider files use for their tails.
CLEARHEAD_INLINE float float_of_bits(uint32_t bits) {
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}

CLEARHEAD_INLINE uint32_t bits_of_float(float x) {
    uint32_t out;
    std::memcpy(&out, &x, sizeof out);
    return out;
}

CLEARHEAD_INLINE float widen_half(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return float_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest < 0x400u) {  // zero and denormals: rest * 2^-24, exact in float32
        const float value = static_cast<float>(rest) * 0x1p-24f;
        return float_of_bits(bits_of_float(value) | sign);
    }
    return float_of_bits(sign | ((rest << 13) + 0x38000000u));
}

CLEARHEAD_INLINE uint16_t narrow_half(float x) {  // to nearest, ties to even
    const uint32_t bits = bits_of_float(x);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (rest >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (rest < 0x38800000u) {  // below the normal range of half: let the addition round
        const float shifted = float_of_bits(rest) + 0.5f;
        return static_cast<uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000u));
    }
    const uint32_t odd = rest >> 13 & 1u;
    return static_cast<uint16_t>(sign | ((rest + 0xc8000fffu + odd) >> 13));
}

CLEARHEAD_INLINE float widen_bfloat(uint16_t b) {
    return float_of_bits(static_cast<uint32_t>(b) << 16);
}

CLEARHEAD_INLINE uint16_t narrow_bfloat(float x) {  // to nearest, ties to even
    const uint32_t bits = bits_of_float(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#if defined(CLEARHEAD_ISA_baseline)

template <class T>
struct Vec {
    static constexpr int kLanes = 1;
    static constexpr bool kPairs = false;
    static constexpr int kScoreColumns = 2;
    static constexpr int kMixColumns = 2;
    using Reg = T;
    using Mask = bool;

    static CLEARHEAD_INLINE Reg load(const T* p) { return *p; }
    static CLEARHEAD_INLINE void store(T* p, Reg x) { *p = x; }
    static CLEARHEAD_INLINE Reg all(T x) { return x; }
    static CLEARHEAD_INLINE Reg zero() { return 0; }
    static CLEARHEAD_INLINE Reg add(Reg a, Reg b) { return a + b; }
    static CLEARHEAD_INLINE Reg sub(Reg a, Reg b) { return a - b; }
    static CLEARHEAD_INLINE Reg mul(Reg a, Reg b) { return a * b; }
    static CLEARHEAD_INLINE Reg div(Reg a, Reg b) { return a / b; }
    static CLEARHEAD_INLINE Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }
    static CLEARHEAD_INLINE Reg max(Reg a, Reg b) { return a > b ? a : b; }
    static CLEARHEAD_INLINE Reg min(Reg a, Reg b) { return a < b ? a : b; }
    static CLEARHEAD_INLINE Reg abs(Reg x) { return x < 0 ? -x : x; }
    static CLEARHEAD_INLINE Reg at_least(Reg x, T least) { return x < least ? least : x; }
    static CLEARHEAD_INLINE Mask less(Reg a, Reg b) { return a < b; }
    static CLEARHEAD_INLINE Mask equal(Reg a, Reg b) { return a == b; }
    static CLEARHEAD_INLINE Reg select(Mask m, Reg a, Reg b) { return m ? a : b; }
    static CLEARHEAD_INLINE Mask both(Mask a, Mask b) { return a && b; }
    static CLEARHEAD_INLINE Mask either(Mask a, Mask b) { return a || b; }
    static CLEARHEAD_INLINE bool any(Mask m) { return m; }
    static CLEARHEAD_INLINE bool every(Mask m) { return m; }
    static CLEARHEAD_INLINE Mask load_mask(const uint8_t* p) { return *p != 0; }
    static CLEARHEAD_INLINE void store_mask(uint8_t* p, Mask m) { *p = m; }
    static CLEARHEAD_INLINE T sum(Reg a) { return a; }
    static CLEARHEAD_INLINE void transpose(Reg*) {}

    // Adding and taking away 1.5 * 2^(bits of the fraction) leaves the nearest whole number, as
    // long as nobody lets the compiler reorder sums (-ffast-math).
    static constexpr T kMagic = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);
    static CLEARHEAD_INLINE Reg round(Reg a) { return a + kMagic - kMagic; }
    static CLEARHEAD_INLINE Reg scale2(Reg p, Reg n) {
        using Int = typename Bits64or32<T>::Int;
        constexpr int fraction = sizeof(T) == 4 ? 23 : 52;
        constexpr Int bias = sizeof(T) == 4 ? 127 : 1023;
        if (n <= static_cast<T>(-bias)) return 0;
        const Int bits = (static_cast<Int>(n) + bias) << fraction;
        T power;
        std::memcpy(&power, &bits, sizeof power);
        return p * power;
    }
    static CLEARHEAD_INLINE Reg split(Reg x, Reg* e) {
        using Int = typename Bits64or32<T>::Int;
        constexpr int fraction = sizeof(T) == 4 ? 23 : 52;
        constexpr Int bias = sizeof(T) == 4 ? 127 : 1023;
        Int bits;
        std::memcpy(&bits, &x, sizeof bits);
        *e = static_cast<T>((bits >> fraction) - bias);
        bits = (bits & ((Int(1) << fraction) - 1)) | bias << fraction;
        std::memcpy(&x, &bits, sizeof x);
        return x;
    }

    static CLEARHEAD_INLINE Reg from_half(const uint16_t* p) { return widen_half(*p); }
    static CLEARHEAD_INLINE Reg from_bfloat(const uint16_t* p) { return widen_bfloat(*p); }
    static CLEARHEAD_INLINE void to_half(uint16_t* p, Reg x) { *p = narrow_half(x); }
    static CLEARHEAD_INLINE void to_bfloat(uint16_t* p, Reg x) { *p = narrow_bfloat(x); }

  private:
    template <class U, int size = sizeof(U)>
    struct Bits64or32 {
        using Int = int32_t;
    };
    template <class U>
    struct Bits64or32<U, 8> {
        using Int = int64_t;
    };
};

#endif

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
