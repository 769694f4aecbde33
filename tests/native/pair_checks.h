// The words for pairs of bfloat16, against plain arithmetic; a part of words.cpp.
#pragma once

namespace cases::CLEARHEAD_ISA {
namespace {

// R numbers side by side as pairs with the R after them.
template <class V, int R>
void check_store_pairs(const float* a) {
    constexpr int L = V::kLanes;
    uint16_t found[L];
    V::template store_pairs<R>(found, V::load(a));
    for (int i = 0; i < L; ++i) {
        const int at = i / (2 * R) * 2 * R + i % 2 * R + i / 2 % R;
        hold(same(widen_bfloat(found[i]), widen_bfloat(narrow_bfloat(a[at]))), "store_pairs", i);
    }
}

// Two rows of two registers, woven and multiplied by (1, 0) and (0, 1), are these rows again.
template <class V>
void check_wide(const uint16_t* a, const uint16_t* b) {
    constexpr int L = V::kLanes;
    typename V::Reg of[2], rows[2][2];
    float out[2 * L];
    V::weave_wide(V::load(reinterpret_cast<const float*>(a)),
                  V::load(reinterpret_cast<const float*>(b)), of);
    for (int row = 0; row < 2; ++row) {
        const auto one = V::all(of_bits(row ? 0x3f800000u : 0x3f80u));
        for (int i = 0; i < 2; ++i) rows[row][i] = V::dot2(of[i], one, V::zero());
        V::in_order(rows[row]);
        for (int i = 0; i < 2; ++i) V::store(out + i * L, rows[row][i]);
        for (int i = 0; i < 2 * L; ++i)
            hold(out[i] == widen_bfloat(row ? b[i] : a[i]), "weave_wide, in_order", i);
    }
}

template <class V>
void check_pairs(uint32_t& state) {
    if constexpr (V::kPairs) {
        constexpr int L = V::kLanes;
        uint16_t low[L], high[L], found[2 * L];
        float a[L], b[L], c[L], out[L];
        const auto draw = [&] {
            state = state * 1664525u + 1013904223u;
            const int32_t of = int32_t(state >> 12);
            return of % 97 == 0 ? of_bits(uint32_t(of % 2 ? 0x7f800000 : 0x7fc00000))
                                : float(of % 4001 - 2000) / 37.0f;
        };
        for (int round = 0; round < 2000; ++round) {
            for (int i = 0; i < L; ++i) {
                a[i] = draw();
                b[i] = draw();
                c[i] = draw();
                low[i] = narrow_bfloat(a[i]);
                high[i] = narrow_bfloat(b[i]);
            }
            const auto woven = V::weave(low, high), pairs = V::pair(V::load(a), V::load(b));
            for (int of = 0; of < 2; ++of) {
                const char* word = of ? "pair" : "weave";
                V::store(out, of ? pairs : woven);
                memcpy(found, out, sizeof out);
                for (int i = 0; i < L; ++i) {
                    hold(same(widen_bfloat(found[2 * i]), widen_bfloat(low[i])), word, i);
                    hold(same(widen_bfloat(found[2 * i + 1]), widen_bfloat(high[i])), word, i);
                }
            }
            check_store_pairs<V, 1>(a);
            check_store_pairs<V, 2>(a);
            check_store_pairs<V, 4>(a);
            check_store_pairs<V, 8>(a);
            uint16_t wide[2][2 * L];
            for (int i = 0; i < 2 * L; ++i)
                for (auto& row : wide) {
                    const float x = draw();
                    row[i] = x - x == 0 ? narrow_bfloat(x) : uint16_t(0);
                }
            check_wide<V>(wide[0], wide[1]);
            V::store(out, V::dot2(woven, V::weave(high, high), V::load(c)));
            for (int i = 0; i < L; ++i) {
                const float x = widen_bfloat(low[i]), y = widen_bfloat(high[i]);
                hold(same(out[i], __builtin_fmaf(x, y, __builtin_fmaf(y, y, c[i]))), "dot2", i);
            }
        }
        const float tiny = 0x1p-120f, least = 0x1p-133f;  // products and numbers that count as 0
        for (int i = 0; i < L; ++i) {
            low[i] = narrow_bfloat(i % 2 ? tiny : least);
            high[i] = narrow_bfloat(i % 2 ? tiny : 1.0f);
        }
        V::store(out, V::dot2(V::weave(low, low), V::weave(high, high), V::zero()));
        for (int i = 0; i < L; ++i) hold(out[i] == 0, "dot2, below the normal range", i);
    }
}

}  // namespace
}  // namespace cases::CLEARHEAD_ISA
