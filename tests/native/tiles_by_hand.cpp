// AMX where the processor has none: with CLEARHEAD_ISA=amx its instructions, which such a processor
// refuses, are executed here by hand, each thread with tiles of its own. The rest of the program
// runs as always. It shows that the kernels answer rightly, and nothing of their speed.
//
// A product adds as Intel's manual has it (Software Developer's Manual 2, TDPBF16PS): one chain of
// fused multiply-adds over the even elements, one over the odd ones, then both to the sum; nearest
// even, numbers below the normal ones are zero. What the processor or Linux would refuse ends the
// program: a use before the permission, a tile that is not configured, shapes that do not fit.
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
extern unsigned __cpu_features2[];  // libgcc's, what __builtin_cpu_supports reads
long __real_syscall(long number, ...);
}

namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

struct Config {  // as LDTILECFG reads it
    uint8_t palette, first_row, reserved[14];
    uint16_t bytes[8], more_reserved[8];
    uint8_t rows[8], last_reserved[8];
};
static_assert(sizeof(Config) == 64);

struct Tiles {
    Config config;
    uint8_t data[kTiles][kRows][kRowBytes];
};

thread_local Tiles tiles;
bool by_hand = false;
std::atomic<bool> permitted{false};
std::atomic<long> products{0};

[[noreturn]] void refuse(const char* why) {
    std::fprintf(stderr, "amx by hand: %s\n", why);
    _exit(3);
}

void configure(const Config& config) {
    static const uint8_t zero[14] = {};
    if (config.palette != 1 || config.first_row != 0 || std::memcmp(config.reserved, zero, 14) ||
        std::memcmp(config.last_reserved, zero, 8))
        refuse("a configuration with a palette, first row or reserved byte that is not known");
    for (int t = 0; t < 8; ++t) {
        const int bytes = config.bytes[t], rows = config.rows[t];
        if (config.more_reserved[t] || bytes > kRowBytes || rows > kRows || !bytes != !rows)
            refuse("a configuration of a tile that the processor refuses");
    }
    tiles = {};
    tiles.config = config;
}

void must_be_configured(int tile) {
    if (tile >= kTiles || tiles.config.rows[tile] == 0 || tiles.config.bytes[tile] % 4 != 0)
        refuse("a tile that this thread has not configured");
}

float widened(const uint8_t* number) {  // bfloat16
    uint16_t high;
    std::memcpy(&high, number, 2);
    const uint32_t bits = uint32_t(high) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

// sum(m, n) += sum over pairs k of a(m, 2k) b(2k, n) + a(m, 2k + 1) b(2k + 1, n); b holds pairs of
// rows side by side.
__attribute__((target("fma"))) void multiply(int sum, int a, int b) {
    const Config& c = tiles.config;
    for (int tile : {sum, a, b}) must_be_configured(tile);
    if (sum == a || sum == b || a == b) refuse("a product whose three tiles are not three");
    if (c.bytes[sum] != c.bytes[b] || c.rows[sum] != c.rows[a] || c.bytes[a] / 4 != c.rows[b])
        refuse("a product of tiles whose shapes do not fit");
    const unsigned before = _mm_getcsr();
    _mm_setcsr(0x9fc0);  // nearest even; subnormal in and out is zero; no exception traps
    for (int m = 0; m < c.rows[sum]; ++m)
        for (int n = 0; n < c.bytes[sum] / 4; ++n) {
            float even = 0, odd = 0, old;
            for (int k = 0; k < c.rows[b]; ++k) {
                const uint8_t *left = &tiles.data[a][m][4 * k], *right = &tiles.data[b][k][4 * n];
                even = __builtin_fmaf(widened(left), widened(right), even);
                odd = __builtin_fmaf(widened(left + 2), widened(right + 2), odd);
            }
            std::memcpy(&old, &tiles.data[sum][m][4 * n], 4);
            old += even + odd;
            std::memcpy(&tiles.data[sum][m][4 * n], &old, 4);
        }
    _mm_setcsr(before);
    products.fetch_add(1, std::memory_order_relaxed);
}

void load(int tile, const uint8_t* from, int64_t stride) {
    must_be_configured(tile);
    std::memset(tiles.data[tile], 0, sizeof tiles.data[tile]);
    for (int m = 0; m < tiles.config.rows[tile]; ++m)
        std::memcpy(tiles.data[tile][m], from + m * stride, tiles.config.bytes[tile]);
}

void store(int tile, uint8_t* to, int64_t stride) {
    must_be_configured(tile);
    for (int m = 0; m < tiles.config.rows[tile]; ++m)
        std::memcpy(to + m * stride, tiles.data[tile][m], tiles.config.bytes[tile]);
}

// The address of an operand in memory (Software Developer's Manual 2, section 2.1.5).
struct Address {
    int64_t base = 0, stride = 0;
    const uint8_t* end;  // of the instruction
};

template <class Number>
int64_t next(const uint8_t*& at) {
    Number number;
    std::memcpy(&number, at, sizeof number);
    at += sizeof number;
    return number;
}

Address address(const greg_t* registers, const uint8_t* modrm, bool high_base, bool high_index) {
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};
    const uint8_t* at = modrm + 1;
    const int mode = *modrm >> 6, low = *modrm & 7;
    Address found;
    bool wide = mode == 2;
    if (low == 4) {
        const int sib = *at++, index = (sib >> 3 & 7) | high_index << 3, base = sib & 7;
        if (index != 4) found.stride = registers[order[index]] << (sib >> 6);
        if (base == 5 && mode == 0)
            wide = true;
        else
            found.base = registers[order[base | high_base << 3]];
    } else if (low == 5 && mode == 0) {
        wide = true;
        found.base = reinterpret_cast<int64_t>(at + 4);
    } else {
        found.base = registers[order[low | high_base << 3]];
    }
    if (mode == 1) found.base += next<int8_t>(at);
    if (wide) found.base += next<int32_t>(at);
    found.end = at;
    return found;
}

bool of_amx(const uint8_t* at) {
    return at[0] == 0xc4 && (at[1] & 0x1f) == 2 && (at[2] & 0x84) == 0 &&
           (at[3] == 0x49 || at[3] == 0x4b || at[3] == 0x5c);
}

// One instruction; gives the place of the next.
const uint8_t* execute(const uint8_t* at, const greg_t* registers) {
    const int prefix = at[2] & 3, modrm = at[4], tile = modrm >> 3 & 7;
    const int what = at[3] << 4 | (modrm >= 0xc0) << 3 | prefix;  // opcode, whether of registers
    Address place{0, 0, at + 5};
    if (modrm < 0xc0) place = address(registers, at + 4, !(at[1] & 0x20), !(at[1] & 0x40));
    uint8_t* memory = reinterpret_cast<uint8_t*>(place.base);
    switch (what) {
        case 0x490:  // ldtilecfg
            configure(*reinterpret_cast<const Config*>(memory + place.stride));
            break;
        case 0x498:  // tilerelease
            tiles = {};
            break;
        case 0x49b:  // tilezero
            must_be_configured(tile);
            std::memset(tiles.data[tile], 0, sizeof tiles.data[tile]);
            break;
        case 0x4b1:  // tileloaddt1
        case 0x4b3:  // tileloadd
            load(tile, memory, place.stride);
            break;
        case 0x4b2:  // tilestored
            store(tile, memory, place.stride);
            break;
        case 0x5ca:  // tdpbf16ps
            multiply(tile, modrm & 7, ~at[2] >> 3 & 15);
            break;
        default:
            refuse("an instruction of AMX that is not known here");
    }
    return place.end;
}

void refused(int, siginfo_t*, void* context) {  // SIGILL
    greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const uint8_t* at = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    if (!of_amx(at)) refuse("an instruction that is none of AMX");
    if (!permitted) refuse("AMX before Linux was asked for it");
    while (of_amx(at)) at = execute(at, registers);  // as many as follow: a signal is dear
    registers[REG_RIP] = reinterpret_cast<greg_t>(at);
}

// Sets bits of libgcc's until the compiler's own question is answered with yes.
template <class Question>
void pretend(Question has) {
    for (int bit = 0; !has(); ++bit) {
        if (bit == 96) refuse("found no bit that tells of AMX");
        unsigned& word = __cpu_features2[bit / 32];
        const unsigned before = word;
        word |= 1u << bit % 32;
        __asm__ volatile("" ::: "memory");  // the compiler's question names these words its own way
        if (!has()) word = before;
    }
}

__attribute__((constructor)) void begin() {
    const char* forced = std::getenv("CLEARHEAD_ISA");
    if (!forced || std::string(forced) != "amx" || __builtin_cpu_supports("amx-tile")) return;
    by_hand = true;
    pretend([] { return __builtin_cpu_supports("amx-tile") != 0; });
    pretend([] { return __builtin_cpu_supports("amx-bf16") != 0; });
    struct sigaction action = {};
    action.sa_sigaction = refused;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, nullptr);
    std::atexit([] { std::printf("amx by hand: %ld products of tiles\n", products.load()); });
}

}  // namespace

// Linked with --wrap=syscall: Linux's permission to use tiles, arch_prctl(2).
extern "C" long __wrap_syscall(long number, ...) {
    va_list given;
    va_start(given, number);
    long a[6];
    for (long& argument : a) argument = va_arg(given, long);
    va_end(given);
    if (!by_hand || number != SYS_arch_prctl || a[0] != 0x1023)
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (a[1] == 18) permitted = true;
    return a[1] == 18 ? 0 : -1;
}
