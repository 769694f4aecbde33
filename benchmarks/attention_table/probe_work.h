// The work that probe.cpp times: each function goes on for about `seconds`, on one thread, and
// returns how many units it did, which are operations, exponentials or bytes.

#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64, kSums = 16;
#elif defined(__AVX__)
constexpr int kBytes = 32, kSums = 12;
#else
constexpr int kBytes = 16, kSums = 12;
#endif
constexpr int kLanes = kBytes / 4;
typedef float Floats __attribute__((vector_size(kBytes)));
typedef int32_t Ints __attribute__((vector_size(kBytes)));

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Repeats `step`, which does `units`, until the seconds are over; at least once.
template <typename Step>
double repeat(double seconds, double units, Step step) {
    const double end = now() + seconds;
    double done = 0;
    do {
        step();
        done += units;
    } while (now() < end);
    return done;
}

template <typename Vector>
void keep(Vector& x) {
#if defined(__x86_64__)
    asm volatile("" : "+v"(x));
#else
    asm volatile("" : "+w"(x));
#endif
}

// Operations of fused multiply-adds, float32.
double fma_float32(int, double seconds) {
    Floats sum[kSums], a = Floats{} + 0.999f, b = Floats{} + 1e-3f;
    for (auto& s : sum) s = Floats{} + 1.0f;
    keep(a), keep(b);
    const double done = repeat(seconds, 2.0 * kLanes * kSums * 4096, [&] {
        for (int i = 0; i < 4096; ++i) {
#pragma GCC unroll 16
            for (int j = 0; j < kSums; ++j) sum[j] = sum[j] * a + b;
        }
    });
    for (auto& s : sum) keep(s);
    return done;
}

#if defined(__AVX512BF16__)
double dot_bfloat16(int, double seconds) {
    __m512 sum[16];
    __m512i bits = _mm512_set1_epi16(0x3c00);
    for (auto& s : sum) s = _mm512_setzero_ps();
    const double done = repeat(seconds, 64.0 * 16 * 4096, [&] {
        for (int i = 0; i < 4096; ++i) {
            keep(bits);
#pragma GCC unroll 16
            for (int j = 0; j < 16; ++j)
                sum[j] = _mm512_dpbf16_ps(sum[j], (__m512bh)bits, (__m512bh)bits);
        }
    });
    for (auto& s : sum) keep(s);
    return done;
}
#endif

#if defined(__AVX512FP16__)
double fma_float16(int, double seconds) {
    __m512h sum[16], a = _mm512_set1_ph((_Float16)0.99f), b = _mm512_set1_ph((_Float16)1e-2f);
    for (auto& s : sum) s = b;
    const double done = repeat(seconds, 64.0 * 16 * 4096, [&] {
        for (int i = 0; i < 4096; ++i) {
#pragma GCC unroll 16
            for (int j = 0; j < 16; ++j) sum[j] = _mm512_fmadd_ph(sum[j], a, b);
        }
    });
    for (auto& s : sum) keep(s);
    return done;
}
#endif

#if defined(__AMX_BF16__)
constexpr int kAskPermission = 0x1023, kTileData = 18;

struct alignas(64) TileShapes {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
};

bool may_use_tiles() {
    return syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
}

double tiles_bfloat16(int, double seconds) {
    TileShapes shapes;
    for (int i = 0; i < 8; ++i) shapes.bytes[i] = 64, shapes.rows[i] = 16;
    asm volatile("" ::"r"(&shapes) : "memory");
    _tile_loadconfig(&shapes);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
    const double done = repeat(seconds, 4 * 16.0 * 16 * 64 * 256, [&] {
        for (int i = 0; i < 256; ++i) {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    });
    _tile_release();
    return done;
}
#endif

// 2^x for x <= 0: x = n + r, a polynomial in r, n added to the exponent. The error does not matter
// here, only the work: `degree` multiply-adds and the two halves of the reduction.
template <int degree>
inline Floats exp2_magic(Floats x) {
    const Floats magic = Floats{} + 12582912.0f, shifted = x + magic;
    const Floats r = x - (shifted - magic);
    Floats p = Floats{} + 1.5e-4f;
#pragma GCC unroll 8
    for (int i = 0; i < degree; ++i) p = p * r + (0.0096f * (i + 1) * (i + 1));
    return (Floats)((Ints)p + ((Ints)shifted << 23));
}

#if defined(__AVX512F__)
template <int degree>
inline __m512 exp2_scale(__m512 x) {
    const __m512 n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 r = _mm512_sub_ps(x, n);
    __m512 p = _mm512_set1_ps(1.5e-4f);
#pragma GCC unroll 8
    for (int i = 0; i < degree; ++i)
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.0096f * (i + 1) * (i + 1)));
    return _mm512_scalef_ps(p, n);
}
#endif

// Exponentials of 4 KiB in the first cache, written to another 4 KiB.
template <typename Exp>
double exponentials(double seconds, Exp exp) {
    constexpr int kCount = 1024;
    alignas(64) float from[kCount], to[kCount];
    for (int i = 0; i < kCount; ++i) from[i] = -0.01f * i;
    return repeat(seconds, 64.0 * kCount, [&] {
        for (int turn = 0; turn < 64; ++turn) {
            asm volatile("" ::"r"(from), "r"(to) : "memory");
#pragma GCC unroll 8
            for (int i = 0; i < kCount; i += kLanes) {
                Floats x;
                std::memcpy(&x, from + i, sizeof x);
                x = exp(x);
                std::memcpy(to + i, &x, sizeof x);
            }
        }
    });
}

// Bytes read: each thread sums its own part of the memory, again and again. `ahead`: bytes that are
// fetched before they are needed; 0: the processor's own prefetching alone.
template <int ahead>
double reading(const char* part, size_t bytes, double seconds) {
    Floats sum[4] = {};
    const double done = repeat(seconds, (double)bytes, [&] {
        for (size_t at = 0; at + 4 * kBytes <= bytes; at += 4 * kBytes) {
            if (ahead)
                for (int line = 0; line < 4 * kBytes; line += 64)
                    __builtin_prefetch(part + at + ahead + line);
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
                Floats x;
                std::memcpy(&x, part + at + i * kBytes, sizeof x);
                sum[i] += x;
            }
        }
    });
    for (auto& s : sum) keep(s);
    return done;
}

}  // namespace
