// The bias under one tile, a register of queries at a time:
//
//   square[i][lane] = bias[head of lane, position of lane, begin + j + i]        i < kLanes
//
// It lies in memory as [query][key] and the scores as [key][query], so squares of kLanes rows by
// kLanes keys are transposed in registers, on their way into the scores (bias.h) or the mask
// (mask.h); no tile of it is ever written. A bias with one row for all queries, as padding is often
// handed over, goes to all lanes as it is; one whose queries lie side by side is read as it lies.
#pragma once

#include "kernels/block.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// Keys of one tile of the first pass. Beside a bias it is whole squares, which begin and end where
// lines of memory do.
CLEARHEAD_INLINE int64_t keys_per_tile(const Request& r) {
    constexpr int64_t squares = kKeysPerTile / 16 * 16;
    return r.bias.data ? squares : kKeysPerTile;
}

enum class Lie { kRows, kOneRow, kOneKey, kSideBySide, kApart };

// How the bias of kLanes queries lies: their keys side by side, the queries all the same, the keys
// all the same, the queries side by side, or none of these.
template <class T>
CLEARHEAD_INLINE Lie lie_of(const Array& a, const Block<T>& b, int at) {
    constexpr int L = Vec<T>::kLanes;
    const int64_t size = size_of(a.kind);
    const char* const* row = b.bias + at;
    bool same = true, beside = at + L <= b.count && loads<T>(a.kind);
    for (int i = 1; i < L; ++i) {
        same &= row[i] == row[0];
        beside &= row[i] - row[0] == i * size;
    }
    if (same) return Lie::kOneRow;
    if (a.column == 1 && loads<T>(a.kind)) return Lie::kRows;
    if (a.column == 0) return Lie::kOneKey;
    return beside ? Lie::kSideBySide : Lie::kApart;
}

// kLanes keys from key j on, or the `count` of them that there are.
template <class T>
CLEARHEAD_INLINE void load_square(const Array& a, Lie lie, const char* const* row, int64_t j,
                                  int count, typename Vec<T>::Reg* square) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    if (lie == Lie::kRows && count == L) {
        if (a.kind == kind_of<T>())
#pragma GCC unroll 16
            for (int i = 0; i < L; ++i) square[i] = V::load(reinterpret_cast<const T*>(row[i]) + j);
        else
#pragma GCC unroll 16
            for (int i = 0; i < L; ++i) square[i] = load_dense(row[i], a.kind, j, T());
        V::transpose(square);
    } else if (lie == Lie::kOneRow) {
        T line[L];
        if (a.column == 1 && loads<T>(a.kind) && count == L)
            V::store(line, load_dense(row[0], a.kind, j, T()));
        else
            for (int i = 0; i < count; ++i)
                line[i] = read_one<T>(row[0], a.kind, (j + i) * a.column);
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i)
            if (i < count) square[i] = V::all(line[i]);
    } else if (lie == Lie::kOneKey) {
        T line[L];
        for (int lane = 0; lane < L; ++lane) line[lane] = read_one<T>(row[lane], a.kind, 0);
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i)
            if (i < count) square[i] = V::load(line);
    } else if (lie == Lie::kSideBySide) {
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i)
            if (i < count) square[i] = load_dense(row[0], a.kind, (j + i) * a.column, T());
    } else {
        T numbers[L * L];
        for (int lane = 0; lane < L; ++lane)
            for (int i = 0; i < count; ++i)
                numbers[i * L + lane] = read_one<T>(row[lane], a.kind, (j + i) * a.column);
        for (int i = 0; i < count; ++i) square[i] = V::load(numbers + i * L);
    }
}

// body(square, j, count, lane): the bias of keys [begin + j, begin + j + count) for kLanes queries.
template <class T, class Body>
CLEARHEAD_INLINE void each_square(const Request& r, const Block<T>& b, Lanes lanes, int64_t begin,
                                  int64_t keys, Body body) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const Array& a = r.bias;
    for (int at = lanes.begin; at < lanes.end; at += L) {
        const Lie lie = lie_of(a, b, at);
        int64_t j = 0;
        for (; j + L <= keys; j += L) {
            typename V::Reg square[L];
            load_square<T>(a, lie, b.bias + at, begin + j, L, square);
            body(square, j, L, at);
        }
        if (j == keys) continue;
        typename V::Reg square[L];
        const int left = static_cast<int>(keys - j) & (L - 1);
        const int more = lie == Lie::kRows && begin + keys >= L ? L - left : 0;  // read once more
        load_square<T>(a, more || lie != Lie::kRows ? lie : Lie::kApart, b.bias + at,
                       begin + j - more, left + more, square);
        body(square + more, j, left, at);
    }
}

// Whether one row of the bias is -inf throughout.
template <class T>
CLEARHEAD_INLINE bool hides_row(const Array& a, const char* row, int64_t begin, int64_t keys) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    constexpr T none = -static_cast<T>(__builtin_inf());
    int64_t j = 0;
    if (a.column == 1 && loads<T>(a.kind))
        for (; j + L <= keys; j += L)
            if (!V::every(V::equal(load_dense(row, a.kind, begin + j, T()), V::all(none))))
                return false;
    for (; j < keys; ++j)
        if (read_one<T>(row, a.kind, (begin + j) * a.column) != none) return false;
    return true;
}

// Whether the bias is -inf in the whole tile, so that none of it need be computed. The corners tell
// almost every other tile apart.
template <class T>
bool bias_hides_all(const Array& a, const Block<T>& b, Lanes lanes, int64_t begin, int64_t keys) {
    const int last = lanes.begin + queries_in(b, lanes) - 1;
    if (!hides_row<T>(a, b.bias[last], begin, 1) ||
        !hides_row<T>(a, b.bias[lanes.begin], begin + keys - 1, 1))
        return false;
    for (int lane = last; lane >= lanes.begin; --lane)
        if ((lane == last || b.bias[lane] != b.bias[lane + 1]) &&
            !hides_row<T>(a, b.bias[lane], begin, keys))
            return false;
    return true;
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
