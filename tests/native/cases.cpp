// The kernels without Python, on any processor: every word of the vocabulary against plain
// arithmetic, then random calls with every option and observation against float64.
//
//   cases isas            the instruction sets of this build, slowest first
//   cases [count] [seed]  runs the one that CLEARHEAD_ISA names, or the best one that can run here
//
// Every call runs three times: on one thread, on three, and without observations.
// scripts/cross builds this for another processor and runs it there, or in an emulator.
#include <cstdlib>
#include <stdexcept>

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

int check(long count, uint64_t seed) {
    const int wrong_words = check_words(clearhead::isa());
    int wrong_calls = 0;
    for (long i = 0; i < count; ++i) {
        Case c(seed + static_cast<uint64_t>(i));
        if (passes(c)) continue;
        ++wrong_calls;
        std::printf("  in case %llu:%s\n", static_cast<unsigned long long>(seed) + i,
                    c.told.c_str());
    }
    std::printf("%s: %d wrong words, %d wrong of %ld calls\n", clearhead::isa(), wrong_words,
                wrong_calls, count);
    return wrong_words || wrong_calls;
}

}  // namespace
}  // namespace cases

int main(int count, char** arguments) {
    if (count > 1 && !std::strcmp(arguments[1], "isas")) {
        std::printf("%s\n", clearhead::isas_built());
        return 0;
    }
    try {
        return cases::check(count > 1 ? std::atol(arguments[1]) : 100,
                            count > 2 ? static_cast<uint64_t>(std::atoll(arguments[2])) : 1);
    } catch (const std::runtime_error& error) {
        std::printf("%s\n", error.what());
        return 2;
    }
}
