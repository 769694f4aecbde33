// The words of tiles (kernels/tile_words.h, kernels/vec_tiles.h) against plain arithmetic, and 2^x
// over them against the C library. A part of words.cpp, which has `hold` and `same`.
#pragma once

#include <math.h>

#include "kernels/exp.h"
#include "kernels/tile_words.h"

namespace cases::CLEARHEAD_ISA {
namespace {

using namespace clearhead::CLEARHEAD_ISA;

struct TileWords {
    static constexpr int n = kTileRows;
    uint32_t& state;
    uint16_t a[2 * n][2 * n], b[2 * n][2 * n];
    float c[2 * n][2 * n], out[2 * n][2 * n];

    float draw() {
        state = state * 1664525u + 1013904223u;
        const int32_t of = int32_t(state >> 12);
        return of % 997 == 0 ? of_bits(uint32_t(of % 2 ? 0x7f800000 : 0x7fc00000))
                             : float(of % 4001 - 2000) / 37.0f;
    }
    void fill() {
        for (int i = 0; i < 2 * n; ++i)
            for (int j = 0; j < 2 * n; ++j) {
                a[i][j] = narrow_bfloat(draw());
                b[i][j] = narrow_bfloat(draw());
                c[i][j] = draw();
                out[i][j] = -1;
            }
    }

    // Rows of a from the last one backwards, every second of b and c.
    void products() {
        {
            const TileSession session;
            tile_load<0>(c, 2 * sizeof c[0]);
            tile_load<3>(a[n - 1], -int64_t(sizeof a[0]));
            tile_load<5>(b, 2 * sizeof b[0]);
            tile_dot<0, 3, 5>();
            tile_store<0>(out, sizeof out[0]);
            tile_zero<0>();
            tile_store<0>(out[n], sizeof out[0]);
        }
        for (int i = 0; i < n; ++i)
            for (int lane = 0; lane < n; ++lane) {
                float low = 0, high = 0;
                for (int k = 0; k < n; ++k) {
                    const uint16_t *of_a = a[n - 1 - i] + 2 * k, *of_b = b[2 * k] + 2 * lane;
                    low = __builtin_fmaf(widen_bfloat(of_a[0]), widen_bfloat(of_b[0]), low);
                    high = __builtin_fmaf(widen_bfloat(of_a[1]), widen_bfloat(of_b[1]), high);
                }
                hold(same(out[i][lane], c[2 * i][lane] + (low + high)), "tile_dot", lane);
                hold(out[n + i][lane] == 0, "tile_zero", lane);
                hold(out[i][n + lane] == -1, "tile_store, beyond the tile", lane);
            }
    }

    void turned() {
        TileVec::turn(c[1] + 3, 2 * n, out[2] + 1, 2 * n);
        uint16_t pairs[8][40];
        TileVec::turn_pairs(a[0] + 5, 2 * n, pairs[0], 40);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) hold(same(out[2 + j][1 + i], c[1 + i][3 + j]), "turn", j);
        for (int i = 0; i < 2 * n; ++i)
            for (int j = 0; j < 8; ++j) hold(pairs[j][i] == a[i][5 + j], "turn_pairs", j);
    }
};

void check_powers_by_floor() {
    using V = Vec<float>;
    constexpr int L = V::kLanes;
    const float infinity = __builtin_inff();
    float x[L], found[L];
    const auto of_all = [&] { V::store(found, exp2_floor(V::load(x))); };
    for (int at = 0; at < 160000; at += L) {
        for (int i = 0; i < L; ++i) x[i] = float(-125.0 * (at + i) / 160000);
        of_all();
        for (int i = 0; i < L; ++i) {
            const double right = exp2(double(x[i]));
            hold(fabs(found[i] - right) <= 2e-7 * right, "exp2_floor", i);
        }
    }
    const float ends[] = {0, -0.0f, -infinity, -3e38f, -200, -1, -126, __builtin_nanf("")};
    const float right[] = {1, 1, 0, 0, 0, 0.5f, 0x1p-126f, __builtin_nanf("")};
    for (int i = 0; i < L; ++i) x[i] = ends[i % 8];
    of_all();
    for (int i = 0; i < L; ++i) hold(same(found[i], right[i % 8]), "exp2_floor, the ends", i);
}

void check_tiles(uint32_t& state) {
    TileWords w{state, {}, {}, {}, {}};
    for (int round = 0; round < 20; ++round) {
        w.fill();
        w.products();
        w.turned();
    }
    check_powers_by_floor();
}

}  // namespace
}  // namespace cases::CLEARHEAD_ISA
