// The end of a block: its sums become outputs, and what can be seen of the weights.
//
//   Z = l + 2^(sink - m)     out = o / Z     lse = ln 2 * m + ln Z     entropy as in softmax.h
//
// Whether a query has seen anything is asked of `live`, which the mask has set, never of the sums.
#pragma once

#include "kernels/observe.h"
#include "kernels/softmax.h"
#include "kernels/unlisted.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// One register, and one number, to the kind of the request.
template <Kind kind>
CLEARHEAD_INLINE void store_as(char* to, int64_t at, Vec<float>::Reg x, float) {
    using V = Vec<float>;
    if constexpr (kind == Kind::kFloat32)
        V::store(reinterpret_cast<float*>(to) + at, x);
    else if constexpr (kind == Kind::kFloat16)
        V::to_half(reinterpret_cast<uint16_t*>(to) + at, x);
    else
        V::to_bfloat(reinterpret_cast<uint16_t*>(to) + at, x);
}
template <Kind>
CLEARHEAD_INLINE void store_as(char* to, int64_t at, Vec<double>::Reg x, double) {
    Vec<double>::store(reinterpret_cast<double*>(to) + at, x);
}

template <class T>
CLEARHEAD_INLINE void write_one(char* to, Kind kind, int64_t at, T x) {
    if (kind == kind_of<T>())
        reinterpret_cast<T*>(to)[at] = x;
    else
        reinterpret_cast<uint16_t*>(to)[at] =
            kind == Kind::kFloat16 ? narrow_half(float(x)) : narrow_bfloat(float(x));
}

// The `columns` of a row of output, o * factor, converted to `kind`; `line` is scratch.
template <class T, Kind kind>
CLEARHEAD_INLINE void write_columns(char* to, const T* o, int64_t columns, T factor, T* line) {
    using V = Vec<T>;
    const auto all = V::all(factor);
    int64_t c = 0;
    for (; c + V::kLanes <= columns; c += V::kLanes)
        store_as<kind>(to, c, V::mul(V::load(o + c), all), T());
    if (c == columns) return;
    V::store(line, V::mul(V::load(o + c), all));
    for (int64_t i = c; i < columns; ++i) write_one(to, kind, i, line[i - c]);
}

// out[row] = o * factor, converted to the kind of the request.
template <class T>
void write_row(const Request& r, int64_t row, const T* o, T factor, bool live, T* line) {
    const int64_t size = size_of(r.kind);
    char* to = static_cast<char*>(r.out) + row * r.d_v * size;
    if (!live)
        std::memset(to, 0, static_cast<size_t>(r.d_v * size));
    else if (sizeof(T) == sizeof(double) || r.kind == Kind::kFloat32)
        write_columns<T, kind_of<T>()>(to, o, r.d_v, factor, line);
    else if (r.kind == Kind::kFloat16)
        write_columns<T, Kind::kFloat16>(to, o, r.d_v, factor, line);
    else
        write_columns<T, Kind::kBFloat16>(to, o, r.d_v, factor, line);
}

// Sums and lists of the queries that no tile has reached, as those of no key.
template <class T>
void settle(Block<T>& b, const Request& r) {
    using V = Vec<T>;
    for (int at = 0; at < b.columns * V::kLanes; at += V::kLanes) {
        if (!is_fresh(b, at)) continue;
        V::store(b.m + at, V::all(-static_cast<T>(__builtin_inf())));
        V::store(b.l + at, V::zero());
        V::store(b.t + at, V::zero());
    }
    if (r.observe.top) end_top(b, r);
}

// Divides by the sum, the sink included, and writes all that belongs to the queries of the block.
// `line` has room for one row of output, `tile` for the mask.
template <class T>
void finish(Tile<T>& tile, T* line, Block<T>& b, const Request& r, int64_t sample,
            const Normalisers& n) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    constexpr T minus_infinity = -static_cast<T>(__builtin_inf());
    const Observe& see = r.observe;
    const int64_t width = round_up(r.d_v, L);
    T sink[kRowsPerBlock], m[kRowsPerBlock], inverse[kRowsPerBlock], factor[kRowsPerBlock];
    T of_z[kRowsPerBlock], entropy[kRowsPerBlock];
    double shift[kRowsPerBlock];
    int64_t row[kRowsPerBlock];
    settle(b, r);
    for (int lane = 0; lane < b.columns * L; ++lane) {
        const int from = lane < b.count ? lane : 0;
        shift[lane] = r.slopes ? slant_of(r, b, sample, from).shift : 0;
        sink[lane] = r.sinks ? to_log2<T>(r, r.sinks[b.head[from]] - shift[lane]) : minus_infinity;
        row[lane] = (sample * r.heads + b.head[from]) * r.queries + b.position[from];
    }
    const auto none = V::all(minus_infinity);
    for (int at = 0; at < b.columns * L; at += L) {
        const auto live = V::load_mask(b.live + at);
        const auto before = V::load(b.m + at), sums = V::load(b.l + at);
        auto most = before, extra = V::zero(), shrink = V::all(1), gap = V::zero();
        auto base = V::select(V::equal(most, none), V::zero(), most);
        if (r.sinks) {
            const auto of_sink = V::load(sink + at);
            most = V::max(of_sink, before);
            base = V::select(V::equal(most, none), V::zero(), most);
            gap = cut<T>(V::sub(before, base));
            shrink = exp2_cut<T>(gap);
            extra = exp2<T>(V::sub(of_sink, base));
        }
        const auto z = V::fma(sums, shrink, extra);
        const auto part = V::select(live, V::div(V::all(1), z), V::zero());
        V::store(m + at, base);
        V::store(inverse + at, part);
        V::store(factor + at, V::mul(part, shrink));
        if (!see.lse && !see.entropy) continue;
        const auto logs = ln<T>(z);
        V::store(of_z + at, logs);
        if (!see.entropy) continue;
        const auto slope = V::fma(sums, gap, V::load(b.t + at));
        const auto inner = V::fma(slope, V::all(T(-kLn2)), V::mul(sums, logs));
        V::store(entropy + at, V::select(live, V::mul(V::mul(inner, shrink), part), V::zero()));
    }
    for (int lane = 0; lane < b.count; ++lane) {
        write_row(r, row[lane], b.o + lane * width, factor[lane], b.live[lane], line);
        if (see.visible) see.visible[row[lane]] = b.live[lane];
        if (see.lse) {
            const double of_sink = r.sinks ? r.sinks[b.head[lane]] : -__builtin_inf();
            const bool sunk = r.sinks && m[lane] == sink[lane];  // the sink is the largest
            const double most = sunk ? of_sink : from_log2<T>(r, m[lane]) + shift[lane];
            static_cast<T*>(see.lse)[row[lane]] =
                static_cast<T>(!b.live[lane] ? of_sink : absolute<T>(most, of_z[lane]));
        }
        if (see.entropy) static_cast<T*>(see.entropy)[row[lane]] = entropy[lane];
        if (!n.largest) continue;
        static_cast<T*>(n.largest)[row[lane]] = m[lane];
        static_cast<T*>(n.inverse)[row[lane]] = inverse[lane];
    }
    if (!see.top) return;
    if (write_top(b, r, row, m, inverse)) list_the_rest(tile, b, r, sample, row, inverse);
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
