// The scores of a thin block: a few queries against many keys, as in decoding.
//
//   s[j][i] = sum over e of k[j][e] * q[i][e]            lanes = entries, added up at the end
//
// Such a call waits for memory: every key is read once, for all queries of the block, in order,
// 16-bit kinds as they lie. Order: a few keys by a few queries, as many sums as a register has
// lanes, so that one word, `fold`, adds all of them up; the keys outside, the entries inside. While
// the scores of a tile are made its values are fetched: the hardware alone fetches too late.
//
// What `fold` leaves is the layout: the queries of one register of the block side by side, R of
// them (1, 2, 4 or 8; what is over repeats the last), s[key][R], so that a register holds kLanes /
// R keys and softmax wastes no lane. It is *packed*; what edits, masks or lists scores wants them
// as blocks have them, s[key][64]: `spread` and `gather` go there and back.
//
// A score depends on its key and query alone: the sums of `fold` are all built alike.
#pragma once

#include "kernels/arrays.h"
#include "kernels/block.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// Keys of a tile: what is fetched ahead stays in the L1 cache with what is worked on.
constexpr int64_t kThinTile = 32;
static_assert(kThinTile <= kKeysPerTile && kPartKeys % kThinTile == 0);

// Rows that are read where they lie: dense, of a kind that can be loaded, whole registers wide.
struct Stream {
    const char* data;
    Kind kind;
    int64_t row;  // bytes from one to the next

    CLEARHEAD_INLINE const char* at(int64_t j) const { return data + j * row; }
};

// Rows to be fetched while others are worked on, as many and about as long: where there are none,
// those others once more. Lines are asked for one beside each that is read, so that memory has
// something to do all the time, and never in a loop of their own.
struct Ahead {
    const char* data;
    int64_t row;
};

template <int n>
struct Count {
    static constexpr int value = n;
};

// Calls body(Count<R>()) for the R that holds `rows` queries of one register.
template <class T, class Body>
CLEARHEAD_INLINE void by_rows(int rows, Body body) {
    constexpr int L = Vec<T>::kLanes;
    if (L >= 8 && rows > 4)
        body(Count<(L >= 8 ? 8 : 1)>());
    else if (L >= 4 && rows > 2)
        body(Count<(L >= 4 ? 4 : 1)>());
    else if (L >= 2 && rows > 1)
        body(Count<(L >= 2 ? 2 : 1)>());
    else
        body(Count<1>());
}

template <Kind kind>
struct Stored {
    static constexpr Kind value = kind;
};

// Calls body(Stored<kind>()) for a kind that rows may have.
template <class P, class Body>
CLEARHEAD_INLINE void by_kind(Kind kind, Body body) {
    using T = typename P::Sum;
    if constexpr (P::kStep == 2)
        body(Stored<Kind::kBFloat16>());
    else if (sizeof(T) != sizeof(float) || kind == kind_of<T>())
        body(Stored<kind_of<T>()>());
    else if (kind == Kind::kFloat16)
        body(Stored<Kind::kFloat16>());
    else
        body(Stored<Kind::kBFloat16>());
}

// One register of a row, from entry e on.
template <class P, Kind kind>
CLEARHEAD_INLINE typename P::Reg load_as(const char* row, int64_t e) {
    using T = typename P::Sum;
    const auto* halves = reinterpret_cast<const uint16_t*>(row) + e;
    if constexpr (P::kStep == 2)
        return P::load(halves);
    else if constexpr (sizeof(T) == sizeof(float) && kind == Kind::kFloat16)
        return Vec<T>::from_half(halves);
    else if constexpr (sizeof(T) == sizeof(float) && kind == Kind::kBFloat16)
        return Vec<T>::from_bfloat(halves);
    else
        return Vec<T>::load(reinterpret_cast<const T*>(row) + e);
}

// kLanes sums of registers in one: lane i is the sum of r[i].
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg fold(typename Vec<T>::Reg* r) {
    using V = Vec<T>;
    if constexpr (requires { V::fold(r); }) {
        return V::fold(r);
    } else {
        V::transpose(r);
#pragma GCC unroll 4
        for (int half = V::kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 8
            for (int i = 0; i < half; ++i) r[i] = V::add(r[i], r[i + half]);
        return r[0];
    }
}

template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg lowest() {
    return Vec<T>::all(-static_cast<T>(__builtin_inf()));
}

// Behind the last key, up to a whole register: -inf, whose weight is 0.
template <int R, class T>
CLEARHEAD_INLINE void close(T* s, int64_t keys) {
    constexpr int64_t K = Vec<T>::kLanes / R;
    for (int64_t i = keys * R; i < round_up(keys, K) * R; ++i)
        s[i] = -static_cast<T>(__builtin_inf());
}

// Rows of queries as the scores read them, a register of each of R in turn; the last one stands in
// for those that are not there.
template <class P, int R>
void interleave(const typename P::Entry* rows, int count, int64_t width, typename P::Entry* to) {
    constexpr int64_t E = Vec<typename P::Sum>::kLanes * P::kStep;
    for (int64_t e = 0; e < width; e += E)
        for (int i = 0; i < R; ++i, to += E)
            std::memcpy(to, rows + (i < count ? i : count - 1) * width + e,
                        E * sizeof(typename P::Entry));
}

// The sums of K keys and R queries, folded.
template <class P, Kind kind, int R, class T = typename P::Sum>
CLEARHEAD_INLINE typename Vec<T>::Reg score_step(const char* const* key, const typename P::Entry* q,
                                                 int64_t width, const Ahead& ahead) {
    using V = Vec<T>;
    constexpr int L = V::kLanes, K = L / R;
    typename V::Reg sum[L];
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) sum[i] = V::zero();
    for (int64_t e = 0; e < width; e += L * P::kStep) {
        typename V::Reg part[R];
#pragma GCC unroll 8
        for (int i = 0; i < R; ++i) part[i] = P::load(q + e * R + i * L * P::kStep);
#pragma GCC unroll 16
        for (int p = 0; p < K; ++p) {
            __builtin_prefetch(ahead.data + p * ahead.row + e * size_of(kind), 0, 3);
            const auto entries = load_as<P, kind>(key[p], e);
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) sum[p * R + i] = P::step(entries, part[i], sum[p * R + i]);
        }
    }
    return fold<T>(sum);
}

// Fewer keys than a register holds: the last one stands in for those that are not there.
template <class P, Kind kind, int R, class T = typename P::Sum>
__attribute__((noinline)) typename Vec<T>::Reg score_few(const Stream& k,
                                                         const typename P::Entry* q, int64_t width,
                                                         int64_t keys) {
    constexpr int K = Vec<T>::kLanes / R;
    const char* key[K];
    for (int i = 0; i < K; ++i) key[i] = k.at(smaller(i, keys - 1));
    return score_step<P, kind, R>(key, q, width, {k.data, 0});
}

// R queries. The answer: the largest of each lane. What is over when the keys are taken K at a time
// is taken with some before it, whose scores are the same again.
template <class P, Kind kind, int R, class T = typename P::Sum>
typename Vec<T>::Reg score_rows(const Stream& k, const typename P::Entry* q, int64_t width,
                                int64_t keys, T factor, T* s, Ahead ahead) {
    using V = Vec<T>;
    constexpr int64_t K = V::kLanes / R;
    const auto by = V::all(factor);
    auto most = lowest<T>();
    if (keys < K) {
        V::store(s, P::scale_sum(score_few<P, kind, R>(k, q, width, keys), by));
        close<R>(s, keys);
        return V::load(s);
    }
    for (int64_t j = 0;;) {
        const char* key[K];
#pragma GCC unroll 16
        for (int i = 0; i < K; ++i) key[i] = k.data + (j + i) * k.row;
        const Ahead beside{ahead.data + j * ahead.row, ahead.row};
        const auto scores = P::scale_sum(score_step<P, kind, R>(key, q, width, beside), by);
        V::store(s + j * R, scores);
        most = V::max(most, scores);
        j += K;
        if (j >= keys) break;
        if (j + K > keys) j = keys - K;
    }
    close<R>(s, keys);
    return most;
}

// Packed scores of R queries to those of a block, and back; the answer of `gather` is that of
// score_rows. Lanes of the register without a query become 0.
template <int R, class T>
void spread(const T* packed, int64_t keys, T* s) {
    using V = Vec<T>;
    T lanes[V::kLanes];
    for (int i = 0; i < V::kLanes; ++i) lanes[i] = static_cast<T>(i);
    const auto mine = V::less(V::load(lanes), V::all(R));
    for (int64_t j = 0; j < keys; ++j)
        V::store(s + j * kRowsPerBlock, V::select(mine, V::load(packed + j * R), V::zero()));
}

template <int R, class T>
typename Vec<T>::Reg gather(const T* s, int64_t keys, T* packed) {
    using V = Vec<T>;
    for (int64_t j = 0; j < keys; ++j)
        std::memcpy(packed + j * R, s + j * kRowsPerBlock, R * sizeof(T));
    close<R>(packed, keys);
    auto most = lowest<T>();
    for (int64_t j = 0; j < keys * R; j += V::kLanes) most = V::max(most, V::load(packed + j));
    return most;
}

// Room for the packed scores of a block of kThinRows, or of a register of queries; `spread` reads
// beyond the last.
template <class T>
constexpr int64_t packed_size() {
    return (kKeysPerTile + Vec<T>::kLanes) * kThinRows + Vec<T>::kLanes;
}

// The scores of any number of queries, as a block has them: for the sweeps, bit for bit those of
// the first pass. s of other lanes stays as it is. `queries`: scratch for rows of kThinRows.
template <class P, class T = typename P::Sum>
void score_thin(const Block<T>& b, Lanes lanes, const Stream& k, int64_t width, int64_t keys,
                T factor, T* queries, T* s) {
    using Entry = typename P::Entry;
    T packed[packed_size<T>()];
    auto* q = reinterpret_cast<Entry*>(queries);
    const int end = lanes.begin + queries_in(b, lanes);
    for (int lane = lanes.begin; lane < end;) {
        const int rows = static_cast<int>(smaller(end - lane, smaller(kThinRows, Vec<T>::kLanes)));
        by_rows<T>(rows, [&](auto R) {
            interleave<P, R.value>(reinterpret_cast<const Entry*>(b.q) + lane * width, rows, width,
                                   q);
            by_kind<P>(k.kind, [&](auto kind) {
                score_rows<P, kind.value, R.value>(k, q, width, keys, factor, packed, {});
            });
            for (int64_t j = 0; j < keys; ++j)
                for (int i = 0; i < rows; ++i)
                    s[j * kRowsPerBlock + lane + i] = packed[j * R.value + i];
        });
        lane += rows;
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
