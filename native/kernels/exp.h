// 2^x, log2 x and tanh x, lane by lane.
//
//   2^x     x = n + f with n whole, |f| <= 1/2; 2^f = 1 + f * g(f), g a polynomial through the
//           Chebyshev points (relative error 5e-9 for float, 1e-19 for double); so 2^0 is 1 exactly
//   log2 x  x = m * 2^e with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh((m - 1) / (m + 1)) as a series
//   tanh x  t / (t + 2) with t = 2^z - 1, z = 2 |x| log2 e: no digit is lost near 0
//
// The scores are kept in units of log2, so that softmax needs no multiplication before 2^x.
#pragma once

#include "kernels/vec.h"
#if defined(CLEARHEAD_ISA_amx)
#include "kernels/vec_tiles.h"
#endif

namespace clearhead::CLEARHEAD_ISA {
namespace {

constexpr double kLog2E = 1.44269504088896340736;
constexpr double kLn2 = 0.69314718055994530942;

template <class T>
struct Exp2;
template <>
struct Exp2<float> {
    static constexpr int kTerms = 6;
    static constexpr float kG[kTerms] = {6.931471880e-01f, 2.402265076e-01f, 5.550357114e-02f,
                                         9.618082557e-03f, 1.339086336e-03f, 1.545316295e-04f};
    static constexpr float kLowest = -160;  // 2^-160 is 0, and the answer for -inf
    static constexpr int kLogTerms = 5;
};
template <>
struct Exp2<double> {
    static constexpr int kTerms = 12;
    static constexpr double kG[kTerms] = {
        0.693147180559945309,     0.240226506959100712,    0.055504108664821627,
        0.00961812910762847949,   0.00133335581464064707,  0.000154035303933707334,
        0.0000152527338415567726, 1.32154868087055628e-6,  1.01780570877339411e-7,
        7.05489730415549928e-9,   4.45581790833606449e-10, 2.57293241773623042e-11};
    static constexpr double kLowest = -1100;
    static constexpr int kLogTerms = 11;
};

// g(f), the polynomial of 2^f = 1 + f * g(f).
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg exp2_slope(typename Vec<T>::Reg f) {
    using V = Vec<T>;
    auto g = V::all(Exp2<T>::kG[Exp2<T>::kTerms - 1]);
#pragma GCC unroll 12
    for (int i = Exp2<T>::kTerms - 2; i >= 0; --i) g = V::fma(g, f, V::all(Exp2<T>::kG[i]));
    return g;
}

// 2^x where kLowest <= x; the caller has cut off what lies below (at_least), NaN stays.
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg exp2_cut(typename Vec<T>::Reg x) {
    using V = Vec<T>;
    const auto n = V::round(x);
    const auto f = V::sub(x, n);
    return V::scale2(V::fma(f, exp2_slope<T>(f), V::all(1)), n);
}

#if defined(CLEARHEAD_ISA_amx)
// 2^x = 2^floor(x) * (1 + f * g(f)) for x <= 0, with f = x - floor(x): no rounding of x, and
// nothing to cut off, as -inf gives 0. A minimax polynomial, relative error 8e-8; 2^0 is 1 exactly.
CLEARHEAD_INLINE Vec<float>::Reg exp2_floor(Vec<float>::Reg x) {
    using V = Vec<float>;
    constexpr float slope[] = {6.931512952e-01f, 2.401644439e-01f, 5.579991266e-02f,
                               9.017030708e-03f, 1.867130050e-03f};
    const auto f = TileVec::fraction(x);
    auto g = V::all(slope[4]);
#pragma GCC unroll 4
    for (int i = 3; i >= 0; --i) g = V::fma(g, f, V::all(slope[i]));
    return TileVec::scale_floor(V::fma(f, g, V::all(1)), x);
}
#endif

template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg cut(typename Vec<T>::Reg x) {
    return Vec<T>::at_least(x, Exp2<T>::kLowest);
}

template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg exp2(typename Vec<T>::Reg x) {
    return exp2_cut<T>(cut<T>(x));
}

// ln x for positive normal x; NaN for NaN.
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg ln(typename Vec<T>::Reg x) {
    using V = Vec<T>;
    typename V::Reg e;
    auto m = V::split(x, &e);
    const auto high = V::less(V::all(T(1.41421356237309504880)), m);
    m = V::select(high, V::mul(m, V::all(T(0.5))), m);
    e = V::select(high, V::add(e, V::all(1)), e);
    const auto z = V::div(V::sub(m, V::all(1)), V::add(m, V::all(1)));
    const auto z2 = V::mul(z, z);
    auto series = V::all(T(2.0 / (2 * Exp2<T>::kLogTerms - 1)));
#pragma GCC unroll 12
    for (int i = Exp2<T>::kLogTerms - 2; i >= 0; --i)
        series = V::fma(series, z2, V::all(T(2.0 / (2 * i + 1))));
    const auto out = V::fma(e, V::all(T(kLn2)), V::mul(series, z));
    return V::select(V::equal(x, x), out, x);
}

template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg tanh(typename Vec<T>::Reg x) {
    using V = Vec<T>;
    const auto negative = V::less(x, V::zero());
    const auto size = V::select(negative, V::sub(V::zero(), x), x);
    auto z = V::mul(size, V::all(T(2 * kLog2E)));
    z = V::select(V::less(V::all(60), z), V::all(60), z);  // tanh is 1 long before
    const auto n = V::round(z);
    const auto f = V::sub(z, n);
    const auto power = V::scale2(V::all(1), n);
    const auto t = V::fma(power, V::mul(f, exp2_slope<T>(f)), V::sub(power, V::all(1)));
    const auto out = V::div(t, V::add(t, V::all(2)));
    return V::select(negative, V::sub(V::zero(), out), out);
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
