// Every word of kernels/vec.h, lane by lane, against the same in plain arithmetic.
//
// Compiled with the switches of an instruction set, so what it calls must not be shared: no
// template of std, and everything but the entry in an anonymous namespace.
#include "words.h"

#include <stdio.h>

#include "kernels/vec.h"
#include "ranks.h"

namespace cases::CLEARHEAD_ISA {
namespace {

using clearhead::CLEARHEAD_ISA::narrow_bfloat;
using clearhead::CLEARHEAD_ISA::narrow_half;
using clearhead::CLEARHEAD_ISA::Vec;
using clearhead::CLEARHEAD_ISA::widen_bfloat;
using clearhead::CLEARHEAD_ISA::widen_half;

int faults = 0;
const char* last = "";

void hold(bool right, const char* word, int lane) {
    if (right) return;
    if (strcmp(last, word)) printf("%s: wrong in lane %d\n", word, lane);
    last = word;
    ++faults;
}

template <class T>
bool same(T a, T b) {
    return a == b || (a != a && b != b);
}

template <class T>
struct Words {
    using V = Vec<T>;
    using Reg = typename V::Reg;
    static constexpr int L = V::kLanes;

    T a[L], b[L], c[L], out[L];
    uint8_t bits[L], found[L];

    template <class Right>
    void each(const char* word, Reg x, Right right) {
        V::store(out, x);
        for (int i = 0; i < L; ++i) hold(same(out[i], T(right(i))), word, i);
    }
    template <class Right>
    void each_bit(const char* word, typename V::Mask m, Right right) {
        bool any = false, every = true;
        V::store_mask(found, m);
        for (int i = 0; i < L; ++i) {
            hold(found[i] == (right(i) ? 1 : 0), word, i);
            any = any || found[i];
            every = every && found[i];
        }
        hold(V::any(m) == any, "any", 0);
        hold(V::every(m) == every, "every", 0);
    }

    void arithmetic() {
        const Reg x = V::load(a), y = V::load(b), z = V::load(c);
        each("load store", x, [&](int i) { return a[i]; });
        each("all", V::all(a[0]), [&](int) { return a[0]; });
        each("zero", V::zero(), [&](int) { return 0; });
        each("add", V::add(x, y), [&](int i) { return a[i] + b[i]; });
        each("sub", V::sub(x, y), [&](int i) { return a[i] - b[i]; });
        each("mul", V::mul(x, y), [&](int i) { return a[i] * b[i]; });
        each("div", V::div(x, y), [&](int i) { return a[i] / b[i]; });
        V::store(out, V::fma(x, y, z));
        for (int i = 0; i < L; ++i) {
            const T one = sizeof(T) == 4 ? __builtin_fmaf(a[i], b[i], c[i])
                                         : T(__builtin_fma(a[i], b[i], c[i]));
            hold(same(out[i], one) || same(out[i], a[i] * b[i] + c[i]), "fma", i);
        }
        each("max", V::max(x, y), [&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
        each("min", V::min(x, y), [&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
        each("abs", V::abs(x), [&](int i) { return a[i] < 0 ? -a[i] : a[i]; });
        const T least = b[0] == b[0] ? b[0] : 1;
        each("at_least", V::at_least(x, least), [&](int i) { return a[i] < least ? least : a[i]; });
        each("round", V::round(x), [&](int i) { return __builtin_nearbyint(a[i]); });
    }

    void masks() {
        const Reg x = V::load(a), y = V::load(b);
        const auto less = V::less(x, y), equal = V::equal(x, y), given = V::load_mask(bits);
        each_bit("less", less, [&](int i) { return a[i] < b[i]; });
        each_bit("equal", equal, [&](int i) { return a[i] == b[i]; });
        each_bit("load_mask store_mask", given, [&](int i) { return bits[i]; });
        each_bit("both", V::both(less, given), [&](int i) { return a[i] < b[i] && bits[i]; });
        each_bit("either", V::either(less, given), [&](int i) { return a[i] < b[i] || bits[i]; });
        each("select", V::select(given, x, y), [&](int i) { return bits[i] ? a[i] : b[i]; });
        T whole[L];
        for (int i = 0; i < L; ++i) whole[i] = clearhead::CLEARHEAD_ISA::carry<T>(-1 - i);
        V::store(out, V::select(given, V::load(whole), y));
        for (int i = 0; i < L; ++i)
            hold(!bits[i] || clearhead::CLEARHEAD_ISA::carried(out + i) == -1 - i, "carry", i);
    }

    void powers(int n) {  // around 2^n
        T x[L], e[L];
        const int least = sizeof(T) == 4 ? -126 : -1022;
        for (int i = 0; i < L; ++i) x[i] = T(__builtin_ldexp(1 + i / T(L), n));
        for (int i = 0; i < L; ++i) c[i] = T(n);
        const T p = T(1.25), exact = T(__builtin_ldexp(p, n));  // or 0 below the normal range
        V::store(out, V::scale2(V::all(p), V::load(c)));
        for (int i = 0; i < L; ++i)
            hold(same(out[i], exact) || (n < least && out[i] == 0), "scale2", i);
        if (n < least) return;
        Reg exponent;
        const Reg m = V::split(V::load(x), &exponent);
        V::store(e, exponent);
        each("split", m, [&](int i) { return 1 + i / T(L); });
        for (int i = 0; i < L; ++i) hold(e[i] == n, "split, exponent", i);
    }

    template <int n>
    void swapped() {
        if constexpr (n < L)
            each("swap", V::template swap<n>(V::load(a)), [&](int i) { return a[i ^ n]; });
    }

    void across() {
        T square[L][L], sum = 0, size = 0;
        Reg r[L];
        for (int i = 0; i < L; ++i)
            for (int j = 0; j < L; ++j) square[i][j] = T(i * L + j);
        for (int i = 0; i < L; ++i) r[i] = V::load(square[i]);
        V::transpose(r);
        for (int i = 0; i < L; ++i) each("transpose", r[i], [&](int j) { return square[j][i]; });
        for (int i = 0; i < L; ++i) r[i] = V::load(square[i]);
        if constexpr (requires { V::fold(r); })
            each("fold", V::fold(r), [&](int i) { return (i * L + (L - 1) / T(2)) * L; });
        swapped<1>();
        swapped<2>();
        swapped<4>();
        swapped<8>();
        for (int i = 0; i < L; ++i) {
            sum += a[i];
            size += a[i] < 0 ? -a[i] : a[i];
        }
        const T error = V::sum(V::load(a)) - sum;
        hold(same(sum, sum - error) || (error < 0 ? -error : error) <= size * T(1e-6), "sum", 0);
    }
};

template <class T>
void check_kind(uint32_t& state) {
    using W = Words<T>;
    const T nan = T(__builtin_nan("")), infinity = T(__builtin_inf());
    const T special[] = {0,      -T(0),   1,        -1,        T(0.5), T(1.5),
                         T(2.5), T(-3.5), infinity, -infinity, nan};
    const auto draw = [&] {
        state = state * 1664525u + 1013904223u;
        const uint32_t of = state >> 8;
        return of % 4 == 0 ? special[of / 4 % 11] : T(int32_t(of % 4001) - 2000) / T(37);
    };
    W w;
    for (int round = 0; round < 2000; ++round) {
        for (int i = 0; i < W::L; ++i) {
            w.a[i] = draw();
            w.b[i] = draw();
            w.c[i] = draw();
            w.bits[i] = draw() < 0;
        }
        w.arithmetic();
        w.masks();
        for (int i = 0; i < W::L; ++i)
            if (!(w.a[i] - w.a[i] == 0)) w.a[i] = 2;
        w.across();
    }
    const int limit = sizeof(T) == 4 ? 126 : 1022;
    for (int n = -limit - 40; n <= limit; ++n) w.powers(n);
}

float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// All 65,536 numbers of the 16-bit kinds, and what lies around their neighbours' middles.
void check_halves() {
    using V = Vec<float>;
    constexpr int L = V::kLanes;
    uint16_t from[L], narrow[L];
    float wide[L];
    for (uint32_t at = 0; at < 65536; at += L) {
        for (int i = 0; i < L; ++i) from[i] = uint16_t(at + uint32_t(i));
        V::store(wide, V::from_half(from));
        for (int i = 0; i < L; ++i) hold(same(wide[i], widen_half(from[i])), "from_half", i);
        V::store(wide, V::from_bfloat(from));
        for (int i = 0; i < L; ++i) hold(same(wide[i], widen_bfloat(from[i])), "from_bfloat", i);
    }
    const uint32_t low[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001};
    for (uint32_t high = 0; high < 65536; high += L)
        for (const uint32_t rest : low) {
            for (int i = 0; i < L; ++i) wide[i] = of_bits((high + uint32_t(i)) << 16 | rest);
            V::to_bfloat(narrow, V::load(wide));
            for (int i = 0; i < L; ++i) {
                const uint16_t right = narrow_bfloat(wide[i]);
                const bool tiny = V::kPairs && wide[i] < 0x1p-126f && wide[i] > -0x1p-126f;
                hold(wide[i] != wide[i] ? widen_bfloat(narrow[i]) != widen_bfloat(narrow[i])
                                        : narrow[i] == right || (tiny && narrow[i] << 17 == 0),
                     "to_bfloat", i);
            }
            V::to_half(narrow, V::load(wide));
            for (int i = 0; i < L; ++i) {
                const uint16_t right = narrow_half(wide[i]);
                hold(wide[i] != wide[i] ? widen_half(narrow[i]) != widen_half(narrow[i])
                                        : narrow[i] == right,
                     "to_half", i);
            }
        }
}

}  // namespace
}  // namespace cases::CLEARHEAD_ISA

#include "pair_checks.h"
#if defined(CLEARHEAD_ISA_amx)
#include "tile_checks.h"
#endif

namespace cases::CLEARHEAD_ISA {

int check_words() {
    uint32_t state = 7;
    check_kind<float>(state);
    check_kind<double>(state);
    check_halves();
    check_pairs<Vec<float>>(state);
#if defined(CLEARHEAD_ISA_amx)
    check_tiles(state);
#endif
    check_ranks<clearhead::CLEARHEAD_ISA::Ranks<float>>(state, hold);
    return faults;
}

}  // namespace cases::CLEARHEAD_ISA
