// Reading the arrays of a request: where a row is, and copies of what cannot be read in place.
//
// A tile of keys or values is read where it lies if its kind is that of the products and its last
// axis is dense (values also: a whole number of registers). Else its rows are copied into scratch,
// converted and padded with zeros: the sums that follow are the same, bit for bit. Queries are
//   q[e][lane] = scale * query[row of lane][e]     lanes beyond the last row are 0
// e counts steps: numbers, or pairs of bfloat16, which are not scaled.
#pragma once

#include "attention.h"
#include "kernels/exp.h"
#include "kernels/products.h"
#include "kernels/table.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// Rows of memory that the next tile will read, `bytes` of each. The processor does not guess them,
// so they are fetched while the scores of this tile are multiplied, a row beside each of its keys.
struct RowsAhead {
    const char* const* row;
    int64_t rows, offset, bytes;

    CLEARHEAD_INLINE void fetch(int64_t key, int64_t keys) const {
        for (int64_t i = key; i < key + keys && i < rows; ++i) {
            if (i && row[i] == row[i - 1]) continue;
            const char* from = row[i] + offset;
            for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at, 0, 2);
        }
    }
};

// Hands out pieces of the scratch; with no base it only counts.
struct Arena {
    char* base;
    size_t used = 0;

    template <class U>
    U* take(int64_t count) {
        U* out = base ? reinterpret_cast<U*>(base + used) : nullptr;
        used += (static_cast<size_t>(count) * sizeof(U) + 63) / 64 * 64;
        return out;
    }
};

CLEARHEAD_INLINE int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}
CLEARHEAD_INLINE int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}
CLEARHEAD_INLINE int64_t round_up(int64_t a, int64_t unit) {
    return (a + unit - 1) / unit * unit;
}

// The address of (sample, head, row 0, column 0).
CLEARHEAD_INLINE const char* place(const Request& r, const Array& a, int64_t sample, int64_t head) {
    int64_t at = head * a.head;
    for (int axis = a.batch_axes - 1; axis > 0; --axis) {
        at += sample % r.batch_shape[axis] * a.batch[axis];
        sample /= r.batch_shape[axis];
    }
    if (a.batch_axes) at += sample * a.batch[0];
    return static_cast<const char*>(a.data) + at * size_of(a.kind);
}

template <class T>
CLEARHEAD_INLINE T read_one(const char* base, Kind kind, int64_t at) {
    switch (kind) {
        case Kind::kFloat32:
            return static_cast<T>(reinterpret_cast<const float*>(base)[at]);
        case Kind::kFloat64:
            return static_cast<T>(reinterpret_cast<const double*>(base)[at]);
        case Kind::kFloat16:
            return static_cast<T>(widen_half(reinterpret_cast<const uint16_t*>(base)[at]));
        default:
            return static_cast<T>(widen_bfloat(reinterpret_cast<const uint16_t*>(base)[at]));
    }
}

template <>
CLEARHEAD_INLINE uint16_t read_one<uint16_t>(const char* base, Kind, int64_t at) {
    return reinterpret_cast<const uint16_t*>(base)[at];
}

template <class T>
constexpr Kind kind_of() {
    return sizeof(T) == 2 ? Kind::kBFloat16 : sizeof(T) == 4 ? Kind::kFloat32 : Kind::kFloat64;
}

// Dense 16-bit numbers, a register at a time; returns how many are done. Only float is widened to.
CLEARHEAD_INLINE int64_t widen_dense(float* to, const char* from, Kind kind, int64_t count) {
    using V = Vec<float>;
    const auto* half = reinterpret_cast<const uint16_t*>(from);
    int64_t e = 0;
    for (; e + V::kLanes <= count; e += V::kLanes)
        V::store(to + e,
                 kind == Kind::kFloat16 ? V::from_half(half + e) : V::from_bfloat(half + e));
    return e;
}
CLEARHEAD_INLINE int64_t widen_dense(double*, const char*, Kind, int64_t) {
    return 0;
}
CLEARHEAD_INLINE int64_t widen_dense(uint16_t*, const char*, Kind, int64_t) {
    return 0;
}

// One register of dense numbers of a kind that `loads` says can be read so.
template <class T>
CLEARHEAD_INLINE bool loads(Kind kind) {
    return kind == kind_of<T>() ||
           (sizeof(T) == 4 && (kind == Kind::kFloat16 || kind == Kind::kBFloat16));
}
CLEARHEAD_INLINE Vec<float>::Reg load_dense(const char* from, Kind kind, int64_t at, float) {
    using V = Vec<float>;
    if (kind == Kind::kFloat32) return V::load(reinterpret_cast<const float*>(from) + at);
    const auto* half = reinterpret_cast<const uint16_t*>(from) + at;
    return kind == Kind::kFloat16 ? V::from_half(half) : V::from_bfloat(half);
}
CLEARHEAD_INLINE Vec<double>::Reg load_dense(const char* from, Kind, int64_t at, double) {
    return Vec<double>::load(reinterpret_cast<const double*>(from) + at);
}

// `count` numbers from `from`, `step` apart, to dense T, then zeros up to `padded`.
template <class T>
void copy_row(T* to, const char* from, Kind kind, int64_t step, int64_t count, int64_t padded) {
    int64_t e = 0;
    if (step == 1 || count == 1) {
        if (kind == kind_of<T>()) {
            std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
            e = count;
        } else if (kind == Kind::kFloat16 || kind == Kind::kBFloat16) {
            e = widen_dense(to, from, kind, count);
        }
    }
    for (; e < count; ++e) to[e] = read_one<T>(from, kind, e * step);
    for (; e < padded; ++e) to[e] = 0;
}

// Rows of one (sample, head) of keys or values, read as T.
template <class T>
struct Rows {
    const char* base;
    Kind kind;
    int64_t row, column, width, padded;  // strides; columns there are, and columns that are read
    bool in_place;
    T* copy;  // scratch for one tile

    // Rows [begin, end) as dense rows of T; *stride apart.
    const T* tile(int64_t begin, int64_t end, int64_t* stride) const {
        const char* first = base + begin * row * size_of(kind);
        if (in_place) {
            *stride = row;
            return reinterpret_cast<const T*>(first);
        }
        *stride = padded;
        for (int64_t j = 0; j < end - begin; ++j)
            copy_row(copy + j * padded, first + j * row * size_of(kind), kind, column, width,
                     padded);
        return copy;
    }
};

template <class T>
Rows<T> rows_of(const Request& r, const Array& a, int64_t sample, int64_t head, int64_t width,
                int64_t unit, T* copy) {
    const bool dense = a.kind == kind_of<T>() && (a.column == 1 || width == 1);
    return {place(r, a, sample, head),  a.kind, a.row, a.column, width, round_up(width, unit),
            dense && width % unit == 0, copy};
}

// The queries of a block, one row pointer per lane, transposed: q[step * 64 + lane].
template <class P, class T = typename P::Sum>
void transpose_queries(T* q, const char* const* rows, int count, Kind kind, int64_t column,
                       int64_t d, T scale, typename P::Entry* line) {
    using V = Vec<T>;
    using Entry = typename P::Entry;
    constexpr int L = V::kLanes;
    const int64_t steps = (d + P::kStep - 1) / P::kStep, width = steps * P::kStep;
    const bool dense = kind == kind_of<Entry>() && (column == 1 || d == 1) && width == d;
    const auto factor = V::all(scale);
    for (int lane = 0; lane < count; lane += L) {
        const Entry* from[L];
        for (int i = 0; i < L; ++i) {
            if (lane + i >= count) {
                from[i] = nullptr;
            } else if (dense) {
                from[i] = reinterpret_cast<const Entry*>(rows[lane + i]);
            } else {
                copy_row(line + i * width, rows[lane + i], kind, column, d, width);
                from[i] = line + i * width;
            }
        }
        int64_t e = 0;
        for (; e + L <= steps; e += L) {
            typename V::Reg square[L];
            for (int i = 0; i < L; ++i)
                square[i] = from[i] ? P::load(from[i] + e * P::kStep) : V::zero();
            V::transpose(square);
            for (int i = 0; i < L; ++i)
                V::store(q + (e + i) * kRowsPerBlock + lane, P::scale_query(square[i], factor));
        }
        for (; e < steps; ++e) {
            T words[L];
            for (int i = 0; i < L; ++i)
                if (from[i])
                    std::memcpy(words + i, from[i] + e * P::kStep, sizeof(T));
                else
                    words[i] = 0;
            V::store(q + e * kRowsPerBlock + lane, P::scale_query(V::load(words), factor));
        }
    }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
