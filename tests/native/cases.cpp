// The kernels without Python, on any processor: every word of the vocabulary against plain
// arithmetic, then random calls with every option and observation against float64.
//
//   cases isas                 the instruction sets of this build, slowest first
//   cases words                every word of the one that CLEARHEAD_ISA names, or of the best one
//   cases KIND [count] [seed]  so many calls of that kind: float32, float64, float16 or bfloat16
//
// Every call runs three times: on one thread, on three, and without observations.
// scripts/cross builds this for another processor and runs it there, or in an emulator.
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "draw.h"
#include "judge.h"
#include "words.h"

namespace cases {
namespace {

// Of the file of words that the kernels of this name speak.
int check_words(const char* isa) {
    const std::string name = isa;
#if defined(CLEARHEAD_HAS_avx2)
    if (name == "avx2") return avx2::check_words();
#endif
#if defined(CLEARHEAD_HAS_amx)
    if (name == "amx") return amx::check_words();
#endif
#if defined(CLEARHEAD_HAS_avx512bf16)
    if (name == "avx512bf16") return avx512bf16::check_words();
#endif
#if defined(CLEARHEAD_HAS_avx512)
    if (name != "baseline") return avx512::check_words();
#endif
#if defined(CLEARHEAD_HAS_neon)
    if (name == "neon") return neon::check_words();
#endif
    return baseline::check_words();
}

bool ran(const Request& request, int threads) {
    clearhead::set_threads(threads);
    return clearhead::run(request, nullptr, nullptr) == clearhead::Ended::kDone;
}

bool same(const Outputs& a, const Outputs& b, const char* how) {
    const auto ours = a.all(), others = b.all();
    for (size_t i = 0; i < ours.size(); ++i)
        if (*ours[i] != *others[i]) {
            std::printf("output %zu: found other bits %s\n", i, how);
            return false;
        }
    return true;
}

bool passes(Case& c) {
    const Outputs untouched = c.outputs;
    if (!ran(c.request, 1)) {
        std::printf("found no memory\n");
        return false;
    }
    Judge judge(c);
    bool good = judge.passes();
    const Outputs first = c.outputs;
    // Another thread count, into the same places.
    const auto restore = [&] {
        for (size_t i = 0; i < first.all().size(); ++i)
            std::copy(untouched.all()[i]->begin(), untouched.all()[i]->end(),
                      const_cast<std::vector<char>*>(c.outputs.all()[i])->begin());
    };
    restore();
    good = ran(c.request, 3) && same(first, c.outputs, "on three threads") && good;
    restore();
    const clearhead::Observe all = c.request.observe;
    c.request.observe = {};
    good = ran(c.request, 1) && good;
    c.request.observe = all;
    if (c.outputs.out != first.out) {
        std::printf("out: found other bits without observations\n");
        good = false;
    }
    return good;
}

constexpr const char* kKinds[] = {"float32", "float64", "float16", "bfloat16"};  // as Kind counts

Kind kind_of(const std::string& name) {
    for (int kind = 0; kind < 4; ++kind)
        if (name == kKinds[kind]) return static_cast<Kind>(kind);
    throw std::runtime_error("cases: found " + name + "; wanted isas, words or a kind of numbers");
}

int check_calls(const std::string& name, long count, uint64_t seed) {
    const Kind kind = kind_of(name);
    long wrong = 0;
    std::map<std::string, long> drawn;
    for (long i = 0; i < count; ++i) {
        Case c(seed + static_cast<uint64_t>(i), kind);
        draw(c);
        for (const std::string& what : c.drawn) ++drawn[what];
        if (passes(c)) continue;
        ++wrong;
        std::printf("  in case %llu of %s:%s\n", static_cast<unsigned long long>(seed) + i,
                    name.c_str(), c.told.c_str());
    }
    std::printf("%s: %ld calls of %s from seed %llu:", clearhead::isa(), count, name.c_str(),
                static_cast<unsigned long long>(seed));
    for (const auto& [what, times] : drawn) std::printf(" %s %ld;", what.c_str(), times);
    std::printf(" wrong %ld\n", wrong);
    return wrong != 0;
}

int check(const std::string& what, long count, uint64_t seed) {
    if (what != "words") return check_calls(what, count, seed);
    const int wrong = check_words(clearhead::isa());
    std::printf("%s: %d wrong words\n", clearhead::isa(), wrong);
    return wrong != 0;
}

}  // namespace
}  // namespace cases

int main(int count, char** arguments) {
    if (count > 1 && !std::strcmp(arguments[1], "isas")) {
        std::printf("%s\n", clearhead::isas_built());
        return 0;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);  // several of us may write into one pipe
    try {
        return cases::check(count > 1 ? arguments[1] : "words",
                            count > 2 ? std::atol(arguments[2]) : 100,
                            count > 3 ? static_cast<uint64_t>(std::atoll(arguments[3])) : 1);
    } catch (const std::runtime_error& error) {
        std::printf("%s\n", error.what());
        return 2;
    }
}
