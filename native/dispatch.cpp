#include "dispatch.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#if defined(CLEARHEAD_HAS_amx) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace clearhead {
namespace {

struct Isa {
    const char* name;
    const Kernels* kernels;
    const Kernels* rest;  // for what these leave out
    bool (*runs_here)();
    bool pays;  // whether it is taken where nothing is forced
};

[[maybe_unused]] bool always() {
    return true;
}

[[maybe_unused]] bool has_avx2() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

[[maybe_unused]] bool has_avx512() {
#if defined(__x86_64__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

// Products of pairs of bfloat16. They pay where a 512-bit dot product takes no longer than a float
// multiply-add, which is so on AMD's processors since Zen 4; Intel's before AMX, and beside it, run
// them at a quarter of that rate: half of what float gives.
[[maybe_unused]] bool has_avx512bf16() {
#if defined(__x86_64__)
    return has_avx512() && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

[[maybe_unused]] bool fast_avx512bf16() {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

// Tiles, where the system lets this process use them, and where they multiply as they should: an
// emulator may only pretend. The permission is for all threads, those to come too.
[[maybe_unused]] bool has_amx() {
#if defined(CLEARHEAD_HAS_amx) && defined(__linux__)
    constexpr int kAskPermission = 0x1023, kTileData = 18;  // arch_prctl(2)
    return has_avx512bf16() && __builtin_cpu_supports("amx-tile") &&
           __builtin_cpu_supports("amx-bf16") &&
           syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0 && amx::multiplies();
#else
    return false;
#endif
}

// Best first.
const Isa kIsas[] = {
#if defined(CLEARHEAD_HAS_amx)
    {"amx", amx::kernels, avx512::kernels, has_amx, true},
#endif
#if defined(CLEARHEAD_HAS_avx512bf16)
    {"avx512bf16", avx512bf16::kernels, avx512::kernels, has_avx512bf16, fast_avx512bf16()},
#endif
#if defined(CLEARHEAD_HAS_avx512)
    {"avx512", avx512::kernels, nullptr, has_avx512, true},
#endif
#if defined(CLEARHEAD_HAS_avx2)
    {"avx2", avx2::kernels, nullptr, has_avx2, true},
#endif
#if defined(CLEARHEAD_HAS_neon)
    {"neon", neon::kernels, nullptr, always, true},  // part of AArch64
#endif
    {"baseline", baseline::kernels, nullptr, always, true},
};

// The instruction set that runs, and its tables with what they leave out filled in.
struct Chosen {
    const Isa* isa;
    Kernels kernels[3];

    explicit Chosen(const Isa* of) : isa(of) {
        for (int kind = 0; kind < 3; ++kind) {
            kernels[kind] = of->kernels[kind];
            if (of->rest) complete(kernels + kind, of->rest + kind);
        }
    }

    // A table is nothing but pointers to functions.
    static void complete(Kernels* to, const Kernels* from) {
        using Function = void (*)();
        constexpr size_t count = sizeof(Kernels) / sizeof(Function);
        static_assert(sizeof(Kernels) == count * sizeof(Function));
        Function filled[count], others[count];
        std::memcpy(filled, to, sizeof filled);
        std::memcpy(others, from, sizeof others);
        for (size_t i = 0; i < count; ++i)
            if (!filled[i]) filled[i] = others[i];
        std::memcpy(to, filled, sizeof filled);
    }
};

const Isa* choose() {
    const char* forced = std::getenv("CLEARHEAD_ISA");
    for (const Isa& isa : kIsas) {
        if (forced && *forced) {
            if (std::string(forced) != isa.name) continue;
            if (!isa.runs_here())
                throw std::runtime_error("CLEARHEAD_ISA: found " + std::string(forced) +
                                         ", which this processor cannot run; unset it, or choose "
                                         "baseline");
            return &isa;
        }
        if (isa.pays && isa.runs_here()) return &isa;
    }
    throw std::runtime_error("CLEARHEAD_ISA: found '" + std::string(forced) +
                             "'; this build holds " + isas_built() + "; unset it, or choose one");
}

const Chosen& chosen() {
    static const Chosen chosen(choose());  // again at the next call if it throws
    return chosen;
}

}  // namespace

const Kernels& kernels_for(Kind kind) {
    return chosen().kernels[kind == Kind::kFloat64 ? 1 : kind == Kind::kBFloat16 ? 2 : 0];
}

const char* isa() {
    return chosen().isa->name;
}

const char* isas_built() {
    static const std::string names = [] {
        std::string all;
        for (const Isa& isa : kIsas) all = isa.name + (all.empty() ? "" : ", " + all);
        return all;
    }();
    return names.c_str();
}

}  // namespace clearhead
