// Random numbers, and arrays of them in any layout, with NaN in every gap.
//
// Numbers of 16 bits are encoded and read by arithmetic alone, apart from the code under test.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "attention.h"

namespace cases {

using clearhead::Array;
using clearhead::Kind;

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
    double normal() {
        return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
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

inline int64_t size_of(Kind kind) {
    switch (kind) {
        case Kind::kFloat32:
            return 4;
        case Kind::kFloat64:
            return 8;
        case Kind::kBool:
            return 1;
        default:
            return 2;
    }
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

// Memory of an array (batch, heads, rows, columns) and what the kernels are told of it.
struct Numbers {
    std::vector<char> memory;
    int64_t origin = 0, batch = 0;  // of the first number, and the stride of a sample, in elements
    Array array{};

    char* at(int64_t b, int64_t h, int64_t i, int64_t c) {
        return memory.data() +
               (origin + b * batch + h * array.head + i * array.row + c * array.column) *
                   size_of(array.kind);
    }
    double operator()(int64_t b, int64_t h, int64_t i, int64_t c) {
        return read(at(b, h, i, c), array.kind);
    }

    // An array of one of the layouts, all NaN. Samples are one axis, or two of `inner` and the
    // rest.
    void lay_out(Random& random, Kind kind, int64_t samples, int64_t inner, int64_t heads,
                 int64_t rows, int64_t columns) {
        const int64_t how = random.below(6);
        const int64_t gap = how == 2 ? 2 : 1;                                 // columns apart
        const int64_t wide = columns * gap + (how == 1 || how == 3 ? 5 : 0);  // room of a row
        const int64_t tall = rows + (how == 1 ? 3 : 0);
        array.kind = kind;
        array.column = how == 4 ? rows : gap;
        array.row = how == 4 ? 1 : how == 5 ? heads * wide : wide;
        array.head = how == 5 ? wide : tall * wide;
        batch = heads * tall * wide;
        if (how == 3) {  // backwards along both axes
            origin = (rows ? rows - 1 : 0) * wide + (columns ? columns - 1 : 0);
            array.row = -array.row;
            array.column = -array.column;
        }
        array.batch_axes = inner > 0 ? 2 : 1;
        array.batch[0] = inner > 0 ? inner * batch : batch;
        array.batch[1] = batch;
        memory.assign(static_cast<size_t>((samples * batch + 64) * size_of(kind)), 0);
        for (int64_t i = 0; i < samples * batch + 64; ++i)
            write(memory.data() + i * size_of(kind), kind, kind == Kind::kBool ? 1 : NAN);
        array.data = memory.data() + origin * size_of(kind);
    }
};

}  // namespace cases
