// Every word of kernels/vec_ranks.h against the same in plain arithmetic, where it is there. Part
// of words.cpp: nothing of std.
#pragma once

#include "kernels/vec_ranks.h"

namespace cases::CLEARHEAD_ISA {
namespace {

template <class R>
struct RankWords {
    using V = clearhead::CLEARHEAD_ISA::Vec<float>;
    static constexpr int L = V::kLanes, kLines = 128;

    float a[L], b[L], lines[kLines * 64], out[L];
    int32_t rank[2][L], other[L];
    uint8_t found[L];

    template <class Hold>
    void bits(typename R::Mask m, const char* word, Hold right) {
        V::store_mask(found, m);
        for (int i = 0; i < L; ++i) right(found[i] != 0, word, i);
    }

    template <class Hold>
    void order(int row_a, int row_b, Hold hold) {
        const float least = -__builtin_inff(), most = __builtin_inff();
        const auto x = R::of(V::load(a), row_a), y = R::of(V::load(b), row_b);
        const auto high = R::max(x, y), low = R::min(x, y);
        memcpy(rank[0], &x, sizeof rank[0]);
        memcpy(rank[1], &y, sizeof rank[1]);
        memcpy(other, &high, sizeof other);
        for (int i = 0; i < L; ++i) {
            const int32_t of_a = rank[0][i], of_b = rank[1][i], whole_a = of_a >> 7,
                          whole_b = of_b >> 7;
            hold((of_a & 127) == row_a && (of_b & 127) == row_b, "rank, row", i);
            hold(other[i] == (of_a > of_b ? of_a : of_b), "rank, max", i);
            hold(!(a[i] < b[i]) || whole_a <= whole_b, "rank, order", i);
            hold(a[i] != b[i] || whole_a == whole_b, "rank, equal", i);
            hold(!(a[i] == least && b[i] > least) || whole_a < whole_b, "rank, -inf", i);
            hold(!(a[i] < most / 2 && b[i] > a[i] + (a[i] < 0 ? -a[i] : a[i]) * 1e-4f + 1e-30f) ||
                     whole_a < whole_b,
                 "rank, apart", i);
        }
        memcpy(other, &low, sizeof other);
        for (int i = 0; i < L; ++i)
            hold(other[i] == (rank[0][i] < rank[1][i] ? rank[0][i] : rank[1][i]), "rank, min", i);
        bits(R::same(x, y), "same", [&](bool is, const char* word, int i) {
            hold(is == (rank[0][i] >> 7 == rank[1][i] >> 7), word, i);
        });
        bits(R::above_none(x), "above_none", [&](bool is, const char* word, int i) {
            hold(a[i] != a[i] || is == (a[i] > least), word, i);
        });
        bits(R::above_all(x), "above_all",
             [&](bool is, const char* word, int i) { hold(!is || a[i] != a[i], word, i); });
        for (int i = 0; i < L; ++i) {  // NaN is beyond all numbers, on one side or the other
            const int32_t lowest = INT32_MIN >> 7, infinite = 0x7f800000 >> 7;
            hold(a[i] == a[i] || rank[0][i] >> 7 > infinite ||
                     (rank[0][i] >> 7 >= lowest && rank[0][i] >> 7 < (INT32_MIN + 0x800000) >> 7),
                 "rank, NaN", i);
            hold(rank[0][i] >= INT32_MIN, "lowest", i);
        }
        V::store(out, R::look_up(lines, x));
        for (int i = 0; i < L; ++i) hold(out[i] == float(row_a * 64 + i), "look_up", i);
        V::store(out, R::key(y, 1000));
        for (int i = 0; i < L; ++i)
            hold(clearhead::CLEARHEAD_ISA::carried(out + i) == 1000 + row_b, "key", i);
    }
};

template <class R, class Hold>
void check_ranks(uint32_t& state, Hold hold) {
    if constexpr (R::kThere) {
        const float special[] = {
            0.0f,     -0.0f,  1.0f,    __builtin_inff(),   -__builtin_inff(),  3.4e38f,
            -3.4e38f, 1e-30f, -1e-30f, __builtin_nanf(""), -__builtin_nanf("")};
        const auto draw = [&] {
            state = state * 1664525u + 1013904223u;
            const uint32_t of = state >> 8;
            return of % 4 == 0 ? special[of / 4 % 11]
                               : float(int32_t(of % 400001) - 200000) / (of % 3 ? 37.0f : 37e30f);
        };
        static RankWords<R> w;
        for (int i = 0; i < w.kLines * 64; ++i) w.lines[i] = float(i);
        for (int round = 0; round < 2000; ++round) {
            for (int i = 0; i < w.L; ++i) {
                w.a[i] = draw();
                w.b[i] = round % 3 ? draw() : w.a[i] * (1 + float(round % 7) * 1e-7f);
            }
            w.order(round % 128, (round * 37 + 5) % 128, hold);
        }
    }
}

}  // namespace
}  // namespace cases::CLEARHEAD_ISA
