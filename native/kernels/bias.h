// What may be done to the scores of one tile, in this order, before the mask:
//
//   s = softcap * tanh(s / softcap)
//   s = s + bias[i][j]
//   s = s - slope * |i + anchor - j| - shift  (alibi, less a constant of the row: see Slant)
//   s = s * log2 e                            from natural units to those of 2^x: see log2_units
//
// Order: one sweep over the tile (it is in the L1 cache) for each that is asked for, the log2 e in
// the last that needs natural units: softcap, alibi, or the queries themselves. A bias then comes
// in by one multiply-add.
#pragma once

#include "kernels/mask.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// The range of T, and where its extremes need care.
template <class T>
struct Range;
template <>
struct Range<float> {
    static constexpr float kLargest = 0x1.fffffep127f;
    static constexpr float kBend = 1.7e38f;  // half of it, and a little less
    static constexpr float kLeastCap = 1e-37f, kWideCap = 1e25f;
    static constexpr float kStraight = 1e-4f;  // tanh x is x up to here: x * x / 3 rounds away
};
template <>
struct Range<double> {
    static constexpr double kLargest = 0x1.fffffffffffffp1023;
    static constexpr double kBend = 0.89e308;
    static constexpr double kLeastCap = 1e-300, kWideCap = 1e280;
    static constexpr double kStraight = 1e-8;
};

// The nearest T, the largest one for what lies beyond all.
template <class T>
CLEARHEAD_INLINE T fit(double x) {
    constexpr double most = Range<T>::kLargest;
    return static_cast<T>(x > most ? most : x < -most ? -most : x);
}

CLEARHEAD_INLINE bool edits_scores(const Request& r) {
    return r.softcap != 0 || r.bias.data || r.slopes;
}

// The factor that goes into the queries.
template <class T>
CLEARHEAD_INLINE T query_factor(const Request& r) {
    return static_cast<T>(r.softcap != 0 || r.slopes ? r.scale : r.scale * kLog2E);
}

// Alibi of one query, as factor * (|at - j| - back) + shift for every key j of its band. Softmax
// needs no constant of a row, and slope * distance of a query far from all its keys would take the
// digits of the scores with it. So the term of the best key is taken off, in whole numbers: of the
// nearest, or of the farthest where the slope is negative. It follows from the query and its band,
// never from padding. Only the lse and a sink, which are absolute, take `shift` into account.
struct Slant {
    double factor, shift;
    int64_t at, back;
};

template <class T>
CLEARHEAD_INLINE Slant slant_of(const Request& r, const Block<T>& b, int64_t sample, int lane) {
    const int64_t low = b.low[lane], high = b.high[lane];
    if (low > high) return {0, 0, 0, 0};  // sees nothing
    const int64_t here = b.position[lane] + r.anchor[sample];
    const double slope = r.slopes[b.head[lane]];
    const int64_t to_low = here > low ? here - low : low - here;
    const int64_t to_high = here > high ? here - high : high - here;
    if (slope >= 0) {
        const int64_t nearest = smaller(larger(here, low), high);
        const int64_t far = here < low ? to_low : here > high ? to_high : 0;
        return {-slope, -slope * static_cast<double>(far), nearest, 0};
    }
    // |slope| * (|here - j| - far), which is slope * |farthest - j| where all keys are on one side.
    const int64_t far = larger(to_low, to_high);
    const double shift = -slope * static_cast<double>(far);
    if (here <= low) return {slope, shift, high, 0};
    if (here >= high) return {slope, shift, low, 0};
    return {-slope, shift, here, far};
}

// Natural units to those of 2^x, for a score that was edited. Up to kBend, half of the range, this
// is x * log2 e; beyond it would leave the range. There the rest of x counts half: finite stays
// finite and larger stays larger, and as neighbours lie 1e31 apart no weight between 0 and 1 is
// lost. A finite bias, however low, is only a bias.
template <class T>
CLEARHEAD_INLINE typename Vec<T>::Reg log2_units(typename Vec<T>::Reg x) {
    using V = Vec<T>;
    constexpr T bend = Range<T>::kBend, most = Range<T>::kLargest;
    auto near = V::at_least(x, -bend);
    near = V::select(V::less(V::all(bend), near), V::all(bend), near);
    const auto rest = V::mul(V::sub(x, near), V::all(T(0.5)));
    const auto y = V::at_least(V::fma(near, V::all(T(kLog2E)), rest), -most);
    return V::select(V::less(V::all(most), y), V::all(most), y);
}

// The same for one number, -inf kept, and back again; the lowest and the largest stay in range.
template <class T>
CLEARHEAD_INLINE T to_log2(const Request& r, double x) {
    constexpr double bend = Range<T>::kBend;
    if (x == -__builtin_inf()) return static_cast<T>(x);
    const double near = x > bend ? bend : x < -bend ? -bend : x;
    return fit<T>(edits_scores(r) ? near * kLog2E + (x - near) * 0.5 : x * kLog2E);
}

template <class T>
CLEARHEAD_INLINE double from_log2(const Request& r, double y) {
    constexpr double bend = Range<T>::kBend * kLog2E;
    const double near = y > bend ? bend : y < -bend ? -bend : y;
    return edits_scores(r) ? near * kLn2 + (y - near) * 2 : y * kLn2;
}

// The lse of a row, of its largest score in natural units and ln of the sum beside it.
template <class T>
CLEARHEAD_INLINE double absolute(double most, T log_sum) {
    return log_sum - log_sum == 0 ? fit<T>(most + log_sum) : most + log_sum;
}

// What adding a bias tells of the scores of each lane: whether it leaves anything to be seen, above
// 0 if so, and the largest score.
template <class T>
struct Added {
    T looked[kRowsPerBlock], most[kRowsPerBlock];
    bool masked;  // whether the bias is -inf anywhere
};

// Adds `count` rows of a bias of which some are -inf, and then the score is, whatever it was, or
// beyond the bend, and then no further than the kind reaches.
template <bool units, class T>
__attribute__((noinline)) void add_far(const T* bias, int count, T* s, Added<T>& out, int at) {
    using V = Vec<T>;
    constexpr T end = Range<T>::kLargest;
    const auto none = V::all(-static_cast<T>(__builtin_inf())), bend = V::all(Range<T>::kBend);
    auto masked = V::less(none, none);
    auto seen = V::load(out.looked + at), most = V::load(out.most + at);
    for (int i = 0; i < count; ++i, s += kRowsPerBlock) {
        const auto x = V::load(bias + i * V::kLanes), score = V::load(s);
        auto y = V::fma(x, V::all(units ? T(kLog2E) : T(1)), score);
        if (units) {
            auto far = V::add(log2_units<T>(x), score);
            far = V::at_least(V::select(V::less(V::all(end), far), V::all(end), far), -end);
            y = V::select(V::less(bend, V::abs(x)), far, y);
        }
        const auto hidden = V::equal(x, none);
        y = V::select(hidden, none, y);
        V::store(s, y);
        most = V::max(y, most);
        seen = V::select(hidden, seen, V::all(1));
        masked = V::either(masked, hidden);
    }
    V::store(out.looked + at, seen);
    V::store(out.most + at, most);
    out.masked |= V::any(masked);
}

// s[j][lane] += bias, both in natural units or with `units` in those of log2. Nearly all squares
// are within the bend: one multiply-add.
template <bool units, class T>
void add_bias(const Request& r, const Block<T>& b, Lanes lanes, int64_t begin, int64_t keys, T* s,
              Added<T>& out) {
    using V = Vec<T>;
    using Reg = typename V::Reg;
    constexpr int L = V::kLanes;
    const auto unit = V::all(units ? T(kLog2E) : T(1)), bend = V::all(Range<T>::kBend);
    out.masked = false;
    for (int at = lanes.begin; at < lanes.end; at += L) {
        V::store(out.looked + at, V::zero());
        V::store(out.most + at, V::all(-static_cast<T>(__builtin_inf())));
    }
    const auto add = [&](const Reg* square, int64_t j, int count, int at) CLEARHEAD_INLINED {
        T* to = s + j * kRowsPerBlock + at;
        auto largest = V::zero();  // of all but NaN, which is added like any number
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i)
            if (i < count) largest = V::max(V::abs(square[i]), largest);
        if (V::any(V::less(bend, largest))) {
            T rows[L * L];
#pragma GCC unroll 16
            for (int i = 0; i < L; ++i)
                if (i < count) V::store(rows + i * L, square[i]);
            add_far<units>(rows, count, to, out, at);
            return;
        }
        auto most = V::load(out.most + at);
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) {
            if (i >= count) continue;
            const Reg y = V::fma(square[i], unit, V::load(to + i * kRowsPerBlock));
            V::store(to + i * kRowsPerBlock, y);
            most = V::max(y, most);
        }
        V::store(out.most + at, most);
        V::store(out.looked + at, V::all(1));
    };
    each_square(r, b, lanes, begin, keys, add);
}

// `added` is filled where there is a bias; its largest scores stand where nothing comes after it.
template <class T>
void edit_scores(const Request& r, const Block<T>& b, Lanes lanes, int64_t sample, int64_t begin,
                 int64_t keys, T* s, Added<T>& added) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const auto each = [&](auto edit) CLEARHEAD_INLINED {
        for (int64_t j = 0; j < keys; ++j)
            for (int at = lanes.begin; at < lanes.end; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                V::store(to, edit(V::load(to), j, at));
            }
    };
    if (r.softcap != 0) {
        const T size = fit<T>(r.softcap < Range<T>::kLeastCap ? Range<T>::kLeastCap : r.softcap);
        const auto cap = V::all(size), inverse = V::all(1 / size);
        if (size > Range<T>::kWideCap) {  // s / cap may fall below the normal range
            each([&](auto score, int64_t, int) CLEARHEAD_INLINED {
                const auto x = V::div(score, cap);
                const auto straight = V::less(V::abs(x), V::all(Range<T>::kStraight));
                const auto y = V::select(straight, score, V::mul(cap, tanh<T>(x)));
                return r.slopes ? y : log2_units<T>(y);
            });
        } else {
            const auto out = r.slopes ? cap : V::all(size * T(kLog2E));
            each([&](auto score, int64_t, int)
                     CLEARHEAD_INLINED { return V::mul(out, tanh<T>(V::mul(score, inverse))); });
        }
    }
    if (!r.slopes) {
        if (r.bias.data) add_bias<true>(r, b, lanes, begin, keys, s, added);
        return;
    }
    if (r.bias.data) add_bias<false>(r, b, lanes, begin, keys, s, added);
    T factor[kRowsPerBlock], place_of[kRowsPerBlock], back[kRowsPerBlock];
    for (int lane = lanes.begin; lane < lanes.end; ++lane) {
        const Slant mine = slant_of(r, b, sample, lane < b.count ? lane : b.count - 1);
        factor[lane] = fit<T>(mine.factor);
        place_of[lane] = static_cast<T>(mine.at - begin);
        back[lane] = static_cast<T>(mine.back);
    }
    each([&](auto score, int64_t j, int at) CLEARHEAD_INLINED {
        const auto gap = V::sub(V::load(place_of + at), V::all(static_cast<T>(j)));
        const auto size = V::sub(V::abs(gap), V::load(back + at));
        return log2_units<T>(V::fma(V::load(factor + at), size, score));
    });
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
