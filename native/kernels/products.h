// What one step of a product takes from each of its two rows: a number of T, or a pair of bfloat16.
//
//   Singles<T>   sum += a[e] * b[e]                                 one fused multiply-add
//   Pairs<T>     sum += a[2e + 1] * b[2e + 1], += a[2e] * b[2e]     one dot2: twice the work
//   Tiled<T>     pairs, by tiles: tiles.h and tiles_mix.h have products of their own
//
// The kernels are written over these. Sum is the type of scores, sums and outputs; Entry that of
// rows in memory. A register of pairs is carried in one of Sum, so that loads, squares and
// broadcasts are the same words for both.
//
// Products of two bfloat16 are exact in float32: scores of pairs err no more than those of float32.
// The scale cannot go into such queries, where it would be rounded; the sums are multiplied by it.
// Of the weights, the mix of values takes the nearest bfloat16, all other sums take what they are.
#pragma once

#include "kernels/vec.h"
#if defined(CLEARHEAD_ISA_amx)
#include "kernels/tile_words.h"
#endif

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Singles {
    using Sum = T;
    using Entry = T;
    using Reg = typename Vec<T>::Reg;
    struct Session {};                        // what a thread holds while it multiplies
    static constexpr int kStep = 1;           // entries that a step takes
    static constexpr int64_t kStepsRead = 1;  // steps of queries that are read at once
    static constexpr int64_t kWhole = 1;      // keys that stay together where a tile is cut
    static constexpr int64_t kStretch = 32;   // steps that are summed in one go

    static CLEARHEAD_INLINE Reg all(const T* entry) { return Vec<T>::all(*entry); }
    static CLEARHEAD_INLINE Reg load(const T* entries) { return Vec<T>::load(entries); }
    static CLEARHEAD_INLINE Reg step(Reg a, Reg b, Reg c) { return Vec<T>::fma(a, b, c); }
    // The scale, where it belongs: into the queries, or into the sums.
    static CLEARHEAD_INLINE Reg scale_query(Reg x, Reg factor) { return Vec<T>::mul(x, factor); }
    static CLEARHEAD_INLINE Reg scale_sum(Reg sum, Reg) { return sum; }
};

template <class T>
struct Pairs {
    using Sum = T;
    using Entry = uint16_t;
    using Reg = typename Vec<T>::Reg;
    struct Session {};
    static constexpr int kStep = 2;
    static constexpr int64_t kStepsRead = 1;
    static constexpr int64_t kWhole = 2;
    static constexpr int64_t kStretch = 64;

    static CLEARHEAD_INLINE Reg all(const uint16_t* pair) {
        T bits;
        std::memcpy(&bits, pair, sizeof bits);
        return Vec<T>::all(bits);
    }
    static CLEARHEAD_INLINE Reg load(const uint16_t* pairs) {
        return Vec<T>::load(reinterpret_cast<const T*>(pairs));
    }
    static CLEARHEAD_INLINE Reg step(Reg a, Reg b, Reg c) { return Vec<T>::dot2(a, b, c); }
    static CLEARHEAD_INLINE Reg scale_query(Reg x, Reg) { return x; }
    static CLEARHEAD_INLINE Reg scale_sum(Reg sum, Reg factor) { return Vec<T>::mul(sum, factor); }
};

// Who makes the products: the registers of vec.h, or tiles. With those the outputs of a block are
// o[column][lane].
template <class P>
concept ByTiles = requires {
    requires P::kTiles;
};
template <class P>
concept InRegisters = !ByTiles<P>;

#if defined(CLEARHEAD_ISA_amx)
template <class T>
struct Tiled : Pairs<T> {
    static constexpr bool kTiles = true;
    static constexpr int64_t kStepsRead = kTileRows;
    static constexpr int64_t kWhole = 2 * kTileRows;
    using Session = TileSession;
};
#endif

// How bfloat16 inputs are multiplied: as pairs where the machine does that, else as float.
template <bool pairs>
struct Choice {
    using Products = Singles<float>;
};
template <>
struct Choice<true> {
    using Products = Pairs<float>;
};
#if defined(CLEARHEAD_ISA_amx)
using BFloats = Tiled<float>;
using ThinBFloats = Singles<float>;  // a few rows do not fill tiles: avx512 has their first pass
#else
using BFloats = Choice<Vec<float>::kPairs>::Products;
using ThinBFloats = BFloats;
#endif

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
