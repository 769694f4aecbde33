// What may be added to the scores of one tile, in this order, before the mask:
//
//   s = softcap * tanh(s / softcap)
//   s = s + bias[i][j]
//   s = s - slope * |i + anchor - j| - shift  (alibi, less a constant of the row: see Slant)
//   s = s * log2 e                            from natural units to those of 2^x: see log2_units
//
// Order: one sweep over the tile (it is in the L1 cache) for each that is asked for. Without any of
// them the log2 e is in the transposed queries already, and the tile is not touched.
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
    return static_cast<T>(edits_scores(r) ? r.scale : r.scale * kLog2E);
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

// tile[j][lane] = bias[head of lane, position of lane, begin + j].
template <class T>
void read_bias(const Request& r, const Block<T>& b, Lanes lanes, int64_t sample, int64_t begin,
               int64_t keys, T* tile) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const Array& a = r.bias;
    const int64_t size = size_of(a.kind);
    for (int group = lanes.begin; group < lanes.end; group += L) {
        const char* from[L];
        for (int i = 0; i < L; ++i) {
            const int lane = group + i < b.count ? group + i : b.count - 1;
            from[i] = place(r, a, sample, b.head[lane]) +
                      (b.position[lane] * a.row + begin * a.column) * size;
        }
        int64_t j = 0;
        if (loads<T>(a.kind) && a.column == 1) {
            for (; j + L <= keys; j += L) {
                typename V::Reg square[L];
                for (int i = 0; i < L; ++i) square[i] = load_dense(from[i], a.kind, j, T());
                V::transpose(square);
                for (int i = 0; i < L; ++i)
                    V::store(tile + (j + i) * kRowsPerBlock + group, square[i]);
            }
        }
        for (; j < keys; ++j)
            for (int i = 0; i < L; ++i)
                tile[j * kRowsPerBlock + group + i] = read_one<T>(from[i], a.kind, j * a.column);
    }
}

// Whether the tile of the bias masks anything.
template <class T>
bool bias_masks(Lanes lanes, int64_t keys, const T* tile) {
    using V = Vec<T>;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    for (int64_t j = 0; j < keys; ++j) {
        auto masked = V::equal(V::load(tile + j * kRowsPerBlock + lanes.begin), none);
        for (int at = lanes.begin + V::kLanes; at < lanes.end; at += V::kLanes)
            masked = V::either(masked, V::equal(V::load(tile + j * kRowsPerBlock + at), none));
        if (V::any(masked)) return true;
    }
    return false;
}

template <class T>
void edit_scores(const Request& r, const Block<T>& b, Lanes lanes, int64_t sample, int64_t begin,
                 int64_t keys, const T* bias, T* s) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    if (r.softcap != 0) {
        const T size = fit<T>(r.softcap < Range<T>::kLeastCap ? Range<T>::kLeastCap : r.softcap);
        const auto cap = V::all(size), inverse = V::all(1 / size);
        if (size > Range<T>::kWideCap) {  // s / cap may fall below the normal range
            for (int64_t j = 0; j < keys; ++j)
                for (int at = lanes.begin; at < lanes.end; at += L) {
                    T* to = s + j * kRowsPerBlock + at;
                    const auto score = V::load(to), x = V::div(score, cap);
                    const auto x_size = V::max(x, V::sub(V::zero(), x));
                    const auto straight = V::less(x_size, V::all(Range<T>::kStraight));
                    V::store(to, V::select(straight, score, V::mul(cap, tanh<T>(x))));
                }
        } else {
            for (int64_t j = 0; j < keys; ++j)
                for (int at = lanes.begin; at < lanes.end; at += L) {
                    T* to = s + j * kRowsPerBlock + at;
                    V::store(to, V::mul(cap, tanh<T>(V::mul(V::load(to), inverse))));
                }
        }
    }
    if (bias && r.slopes) {
        for (int64_t j = 0; j < keys; ++j)
            for (int at = lanes.begin; at < lanes.end; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                V::store(to, V::add(V::load(to), V::load(bias + j * kRowsPerBlock + at)));
            }
    }
    if (r.slopes) {
        T factor[kRowsPerBlock], place_of[kRowsPerBlock], back[kRowsPerBlock];
        for (int lane = lanes.begin; lane < lanes.end; ++lane) {
            const Slant mine = slant_of(r, b, sample, lane < b.count ? lane : b.count - 1);
            factor[lane] = fit<T>(mine.factor);
            place_of[lane] = static_cast<T>(mine.at - begin);
            back[lane] = static_cast<T>(mine.back);
        }
        for (int64_t j = 0; j < keys; ++j)
            for (int at = lanes.begin; at < lanes.end; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                const auto gap = V::sub(V::load(place_of + at), V::all(static_cast<T>(j)));
                const auto size = V::sub(V::max(gap, V::sub(V::zero(), gap)), V::load(back + at));
                V::store(to, V::fma(V::load(factor + at), size, V::load(to)));
            }
    }
    if (bias && !r.slopes) {  // the usual request, in one sweep
        for (int64_t j = 0; j < keys; ++j)
            for (int at = lanes.begin; at < lanes.end; at += L) {
                T* to = s + j * kRowsPerBlock + at;
                const auto sum = V::add(V::load(to), V::load(bias + j * kRowsPerBlock + at));
                V::store(to, log2_units<T>(sum));
            }
        return;
    }
    for (int64_t j = 0; j < keys; ++j)
        for (int at = lanes.begin; at < lanes.end; at += L) {
            T* to = s + j * kRowsPerBlock + at;
            V::store(to, log2_units<T>(V::load(to)));
        }
}

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
