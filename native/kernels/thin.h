// The two products of a thin block: a few queries against many keys, as in decoding.
//
//   s[j][lane] = sum over e of k[j][e] * q[lane][e]          lanes = entries, added up at the end
//   o[lane][c] = o[lane][c] * decay[lane] + sum over j of p[j][lane] * v[j][c]
//
// Such a call waits for memory: every key and every value is read once, for all queries of the
// block, in order, 16-bit kinds as they lie. Order: a few keys by a few queries, as many sums as a
// register has lanes, so that one word, `fold`, adds all of them up; the keys outside, the entries
// inside. While the scores of a tile are made its values are fetched, and while the values are
// mixed the keys of the next tile: the hardware alone fetches too late and too little.
//
// A score depends on its key and query alone: the sums of `fold` are all built alike.
#pragma once

#include "kernels/arrays.h"
#include "kernels/block.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// Rows that are read where they lie: dense, of T or a 16-bit kind, whole registers wide.
template <class T>
struct Stream {
    const char* data;
    Kind kind;
    int64_t row;   // stride, in elements
    int64_t rows;  // to be fetched ahead

    CLEARHEAD_INLINE const char* at(int64_t j) const { return data + j * row * size_of(kind); }
};

CLEARHEAD_INLINE void fetch_row(const char* row, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(row + at, 0, 3);
}

template <class T, Kind kind>
CLEARHEAD_INLINE typename Vec<T>::Reg load_as(const char* row, int64_t e) {
    if constexpr (kind == Kind::kFloat16)
        return Vec<T>::from_half(reinterpret_cast<const uint16_t*>(row) + e);
    else if constexpr (kind == Kind::kBFloat16)
        return Vec<T>::from_bfloat(reinterpret_cast<const uint16_t*>(row) + e);
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

// `rows` queries, R at most, q and their places in s side by side.
template <class T, Kind kind, int R>
void score_rows(const Stream<T>& k, const T* q, int64_t width, int rows, int64_t keys, T* s,
                const Stream<T>& ahead) {
    using V = Vec<T>;
    constexpr int L = V::kLanes, P = L / R;
    const int64_t bytes = width * size_of(ahead.kind);
    const T* query[R];
    for (int i = 0; i < R; ++i) query[i] = q + (i < rows ? i : rows - 1) * width;
    for (int64_t j = 0; j < keys; j += P) {
        typename V::Reg sum[L];
        const char* key[P];
#pragma GCC unroll 16
        for (int i = 0; i < P; ++i) key[i] = k.at(smaller(j + i, keys - 1));
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) sum[i] = V::zero();
        for (int64_t i = j; i < smaller(j + P, ahead.rows); ++i) fetch_row(ahead.at(i), bytes);
        for (int64_t e = 0; e < width; e += L) {
            typename V::Reg part[R];
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) part[i] = V::load(query[i] + e);
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p) {
                const auto entries = load_as<T, kind>(key[p], e);
#pragma GCC unroll 8
                for (int i = 0; i < R; ++i)
                    sum[p * R + i] = V::fma(entries, part[i], sum[p * R + i]);
            }
        }
        T scores[L];
        V::store(scores, fold<T>(sum));
        T* to = s + j * kRowsPerBlock;
        if (rows == R && j + P <= keys) {
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p)
                std::memcpy(to + p * kRowsPerBlock, scores + p * R, R * sizeof(T));
            continue;
        }
        for (int p = 0; p < P && j + p < keys; ++p)
            for (int i = 0; i < rows; ++i) to[p * kRowsPerBlock + i] = scores[p * R + i];
    }
}

template <class T, Kind kind>
void score_run(const Stream<T>& k, const T* q, int64_t width, int rows, int64_t keys, T* s,
               Stream<T> ahead) {
    constexpr int L = Vec<T>::kLanes;
    while (rows > 0) {
        int taken = 1;
        if (L >= 8 && rows > 4) {
            taken = smaller(rows, 8);
            score_rows<T, kind, (L >= 8 ? 8 : 1)>(k, q, width, taken, keys, s, ahead);
        } else if (L >= 4 && rows > 2) {
            taken = smaller(rows, 4);
            score_rows<T, kind, (L >= 4 ? 4 : 1)>(k, q, width, taken, keys, s, ahead);
        } else if (L >= 2 && rows > 1) {
            taken = 2;
            score_rows<T, kind, (L >= 2 ? 2 : 1)>(k, q, width, taken, keys, s, ahead);
        } else {
            score_rows<T, kind, 1>(k, q, width, taken, keys, s, ahead);
        }
        ahead.rows = 0;
        rows -= taken;
        q += taken * width;
        s += taken;
    }
}

// The scores of the queries of `lanes` that see anything; s of the other lanes stays as it is.
template <class T>
void score_thin(const Block<T>& b, Lanes lanes, const Stream<T>& k, int64_t d, int64_t keys, T* s,
                const Stream<T>& ahead) {
    const int64_t width = round_up(d, Vec<T>::kLanes);
    const int end = lanes.begin + queries_in(b, lanes);
    for (int lane = lanes.begin; lane < end;) {
        int next = lane;
        while (next < end && b.low[next] <= b.high[next]) ++next;
        const T* q = b.q + lane * width;
        if (k.kind == kind_of<T>())
            score_run<T, kind_of<T>()>(k, q, width, next - lane, keys, s + lane, ahead);
        else if constexpr (sizeof(T) == sizeof(float)) {
            if (k.kind == Kind::kFloat16)
                score_run<T, Kind::kFloat16>(k, q, width, next - lane, keys, s + lane, ahead);
            else
                score_run<T, Kind::kBFloat16>(k, q, width, next - lane, keys, s + lane, ahead);
        }
        lane = next + 1;
    }
}

// Columns [c, c + C registers) of R queries.
template <class T, Kind kind, int R, int C>
void mix_rows(const T* p, const Stream<T>& v, int64_t c, int64_t keys, const T* decay, bool first,
              T* o, int64_t width, const Stream<T>& ahead) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const int64_t bytes = ahead.rows ? width * size_of(ahead.kind) : 0;
    typename V::Reg sum[R][C];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) sum[r][i] = V::zero();
    for (int64_t j = 0; j < keys; ++j) {
        const char* row = v.at(j);
        if (j < ahead.rows) fetch_row(ahead.at(j), bytes);
        typename V::Reg lanes[C];
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) lanes[i] = load_as<T, kind>(row, c + i * L);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
            const auto weight = V::all(p[j * kRowsPerBlock + r]);
#pragma GCC unroll 8
            for (int i = 0; i < C; ++i) sum[r][i] = V::fma(weight, lanes[i], sum[r][i]);
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int i = 0; i < C; ++i) {
            T* to = o + r * width + c + i * L;
            V::store(to, first ? sum[r][i] : V::fma(V::load(to), V::all(decay[r]), sum[r][i]));
        }
}

template <class T, Kind kind, int R, int C>
void mix_strips(const T* p, const Stream<T>& v, int64_t keys, const T* decay, bool first, T* o,
                int64_t width, Stream<T> ahead) {
    constexpr int L = Vec<T>::kLanes;
    int64_t c = 0;
    for (; c + C * L <= width; c += C * L) {
        mix_rows<T, kind, R, C>(p, v, c, keys, decay, first, o, width, ahead);
        ahead.rows = 0;
    }
    for (; c < width; c += L) {
        mix_rows<T, kind, R, 1>(p, v, c, keys, decay, first, o, width, ahead);
        ahead.rows = 0;
    }
}

// `rows` queries, `width` columns of o and of v.
template <class T, Kind kind>
void mix_run(const T* p, const Stream<T>& v, int64_t keys, const T* decay, bool first, T* o,
             int64_t width, int rows, Stream<T> ahead) {
    constexpr int C = Vec<T>::kMixColumns;
    while (rows > 0) {
        int taken = 1;
        if (rows >= 8) {
            taken = 8;
            mix_strips<T, kind, 8, (C + 1) / 2>(p, v, keys, decay, first, o, width, ahead);
        } else if (rows >= 4) {
            taken = 4;
            mix_strips<T, kind, 4, C>(p, v, keys, decay, first, o, width, ahead);
        } else if (rows >= 2) {
            taken = 2;
            mix_strips<T, kind, 2, C>(p, v, keys, decay, first, o, width, ahead);
        } else {
            mix_strips<T, kind, 1, 2 * C>(p, v, keys, decay, first, o, width, ahead);
        }
        ahead.rows = 0;
        rows -= taken;
        p += taken;
        decay += taken;
        o += taken * width;
    }
}

template <class T>
void mix_thin(const T* p, const Stream<T>& v, int64_t keys, const T* decay, bool first, T* o,
              int64_t width, int rows, const Stream<T>& ahead) {
    if (v.kind == kind_of<T>())
        mix_run<T, kind_of<T>()>(p, v, keys, decay, first, o, width, rows, ahead);
    else if constexpr (sizeof(T) == sizeof(float)) {
        if (v.kind == Kind::kFloat16)
            mix_run<T, Kind::kFloat16>(p, v, keys, decay, first, o, width, rows, ahead);
        else
            mix_run<T, Kind::kBFloat16>(p, v, keys, decay, first, o, width, rows, ahead);
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
