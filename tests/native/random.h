// Random numbers, and how each kind holds a number.
//
// Numbers of 16 bits are encoded and read by arithmetic alone, apart from the code under test.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "attention.h"

namespace cases {

using clearhead::Kind;
using clearhead::size_of;

struct Random {  // SplitMix64 (Steele, Lea and Flood 2014)
    uint64_t state;

    uint64_t next() {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
    bool chance(double p) { return uniform() < p; }
    // Nearly normal, of deviation 1: the sum of four uniform numbers of 16 bits. No logarithm, as
    // drawing is most of the work of a case.
    double normal() {
        const uint64_t bits = next();
        const uint64_t sum =
            (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        return (static_cast<double>(sum) * 0x1p-16 - 2 + 0x1p-15) * 1.7320508075688772;
    }
    template <class T, size_t n>
    T of(const T (&list)[n]) {
        return list[below(n)];
    }
};

// A 16-bit kind: bits of the fraction, and the exponent of its largest and smallest normal number.
struct Format {
    int fraction, largest, smallest;
};
inline Format format_of(Kind kind) {
    return kind == Kind::kFloat16 ? Format{10, 15, -14} : Format{7, 127, -126};
}

inline uint16_t encode(double x, Kind kind) {
    const Format f = format_of(kind);
    const int bias = f.largest;
    const int top = (2 * bias + 1) << f.fraction;  // infinity
    const int sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isnan(x)) return static_cast<uint16_t>(sign | top | 1 << (f.fraction - 1));
    const double size = std::fabs(x);
    if (size == 0) return static_cast<uint16_t>(sign);
    int e = std::isinf(x) ? f.largest + 1 : std::ilogb(size);
    if (e < f.smallest) e = f.smallest;
    if (e > f.largest) return static_cast<uint16_t>(sign | top);
    // Steps of the number beyond its first bit; a carry goes into the exponent by itself.
    const double steps = std::nearbyint(std::ldexp(size, f.fraction - e));
    const int bits = ((e + bias - 1) << f.fraction) + static_cast<int>(steps);
    return static_cast<uint16_t>(sign | (bits > top ? top : bits));
}

inline double decode(uint16_t bits, Kind kind) {
    const Format f = format_of(kind);
    const int fraction = bits & ((1 << f.fraction) - 1);
    const int e = (bits & 0x7fff) >> f.fraction;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (e == 2 * f.largest + 1)
        return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
    const int steps = e ? fraction + (1 << f.fraction) : fraction;
    return sign * std::ldexp(steps, (e ? e - f.largest : f.smallest) - f.fraction);
}

inline double read(const char* at, Kind kind) {
    if (kind == Kind::kFloat64) {
        double x;
        std::memcpy(&x, at, sizeof x);
        return x;
    }
    if (kind == Kind::kFloat32) {
        float x;
        std::memcpy(&x, at, sizeof x);
        return x;
    }
    if (kind == Kind::kBool) return *at;
    uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return decode(bits, kind);
}

inline void write(char* at, Kind kind, double x) {
    const auto narrow = static_cast<float>(x);
    const uint16_t bits = kind == Kind::kFloat16 || kind == Kind::kBFloat16 ? encode(x, kind) : 0;
    if (kind == Kind::kFloat64) std::memcpy(at, &x, sizeof x);
    if (kind == Kind::kFloat32) std::memcpy(at, &narrow, sizeof narrow);
    if (kind == Kind::kBool) *at = x != 0;
    if (bits || size_of(kind) == 2) std::memcpy(at, &bits, sizeof bits);
}

}  // namespace cases
