// The vector vocabulary: what a kernel may say, for T = float and double.
//
//   Vec<T>::kLanes            numbers in one register
//   Vec<T>::kScoreColumns     registers of queries in one panel of scores; kMixColumns: of values
//   load store all zero       memory to register and back (any alignment); one number to all lanes
//   add sub mul div fma       fma(a, b, c) = a * b + c, one rounding where the machine has it
//   max(a, b) min(a, b)       b where either is NaN
//   abs(x)                    without its sign
//   at_least(x, least)        max that keeps a NaN of x
//   less equal                comparisons give a Mask; false beside NaN
//   select(m, a, b)           a where m, else b; moves bits, so it may carry integers too
//   both either any every     on masks; load_mask and store_mask: one byte per lane, 0 or 1
//   round                     to the nearest whole number
//   scale2(p, n)              p * 2^n for a whole n; 0 where that falls below the normal range
//   split(x, &e)              x = m * 2^e with m in [1, 2), for positive normal x
//   sum                       over the lanes, always in the same order
//   swap<n>                   lane i and lane i ^ n change places; n a power of 2 below kLanes
//   transpose(r)              kLanes registers of kLanes numbers
//   fold(r)                   the sums of kLanes registers, one per lane, all built alike; may be
//                             left out: thin.h then builds it of transpose
//   from_half from_bfloat to_half to_bfloat   16-bit kinds, kLanes numbers at a time (T = float)
//   kPairs                    T = float: whether the machine multiplies pairs of bfloat16, and the
//                             six words that follow are there. A pair is 32 bits, a lane of Reg.
//   dot2(a, b, c)             fma(a.low, b.low, fma(a.high, b.high, c)); numbers below the normal
//                             range count as 0
//   pair(low, high)           lane by lane, each rounded to bfloat16
//   weave(low, high)          the pairs of two rows of bfloat16 in memory
//   weave_wide(a, b, to)      the same for two registers of pairs each, into two, in an order of
//   its in_order(r)               own; this turns sums of such registers into that of memory
//   store_pairs<R>(to, p)     p[i][r], R numbers side by side, as pairs (p[2i][r], p[2i + 1][r])
//
// Each file below says this for one instruction set, in an anonymous namespace: a shared inline
// function compiled for AVX-512 could become the copy that the linker keeps for every machine.
#pragma once

#include <cstdint>
#include <cstring>

#define CLEARHEAD_INLINE inline __attribute__((always_inline))
#define CLEARHEAD_INLINED __attribute__((always_inline))  // of a lambda

#if defined(CLEARHEAD_ISA_avx512) || defined(CLEARHEAD_ISA_avx512bf16) || defined(CLEARHEAD_ISA_amx)
#include "kernels/vec_avx512.h"
#elif defined(CLEARHEAD_ISA_avx2)
#include "kernels/vec_avx2.h"
#elif defined(CLEARHEAD_ISA_neon)
#include "kernels/vec_neon.h"
#else
#include "kernels/vec_baseline.h"
#endif

namespace clearhead::CLEARHEAD_ISA {
namespace {

// An integer carried in the bits of a T, so that select and the lists of observe.h move it along.
template <class T>
struct Bits;
template <>
struct Bits<float> {
    using Int = int32_t;
};
template <>
struct Bits<double> {
    using Int = int64_t;
};

template <class T>
CLEARHEAD_INLINE T carry(int64_t whole) {
    const auto narrow = static_cast<typename Bits<T>::Int>(whole);
    T out;
    std::memcpy(&out, &narrow, sizeof out);
    return out;
}

template <class T>
CLEARHEAD_INLINE int64_t carried(const T* at) {
    typename Bits<T>::Int out;
    std::memcpy(&out, at, sizeof out);
    return out;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
