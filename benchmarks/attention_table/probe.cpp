// What this processor can do at most: products and exponentials in registers, and reading memory.
//
//     probe THREADS [BYTES ...]     prints one JSON object, the rates of all threads together
//
// Each rate is the best of several short runs, in which all threads start together, each on a
// processor of its own. It is compiled here, for the machine that it runs on (-march=native), so a
// unit that the compiler was not told of is not measured.

#include "probe_work.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

// The processors that this process may use.
std::vector<int> processors() {
    cpu_set_t set;
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set)) found.push_back(i);
    return found;
}

void stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// Units of work per second over all threads: the best of `runs`. `work(thread, seconds)` goes on
// for about that long and returns the units done.
template <typename Work>
double rate(int threads, int runs, Work work) {
    static const std::vector<int> places = processors();
    double best = 0;
    for (int run = 0; run < runs; ++run) {
        std::atomic<int> waiting{threads};
        std::vector<double> rates(threads);
        std::vector<std::thread> team;
        for (int t = 0; t < threads; ++t)
            team.emplace_back([&, t] {
                if (!places.empty()) stay_on(places[t % places.size()]);
                work(t, 0.0);  // touches what it will need
                --waiting;
                while (waiting > 0) std::this_thread::yield();
                const double start = now(), done = work(t, 0.01);
                rates[t] = done / (now() - start);
            });
        double sum = 0;
        for (int t = 0; t < threads; ++t) {
            team[t].join();
            sum += rates[t];
        }
        best = std::max(best, sum);
    }
    return best;
}

template <int degree>
double best_exponentials(int threads) {
    double best = rate(threads, 9, [](int, double seconds) {
        return exponentials(seconds, [](Floats x) { return exp2_magic<degree>(x); });
    });
#if defined(__AVX512F__)
    best = std::max(best, rate(threads, 9, [](int, double seconds) {
                        return exponentials(seconds, [](Floats x) {
                            return (Floats)exp2_scale<degree>((__m512)x);
                        });
                    }));
#endif
    return best;
}

double best_reading(int threads, size_t bytes) {
    const size_t part = bytes / threads / 4096 * 4096;
    char* memory = static_cast<char*>(std::aligned_alloc(4096, part * threads + 8192));
    if (memory == nullptr) return 0;
    std::memset(memory, 0, part * threads + 8192);
    const double best = std::max(
        {rate(threads, 9, [=](int t, double s) { return reading<0>(memory + t * part, part, s); }),
         rate(threads, 9,
              [=](int t, double s) { return reading<1024>(memory + t * part, part, s); }),
         rate(threads, 9,
              [=](int t, double s) { return reading<4096>(memory + t * part, part, s); })});
    std::free(memory);
    return best;
}

}  // namespace

int main(int count, char** arguments) {
    const int threads = count > 1 ? std::max(1, std::atoi(arguments[1])) : 1;
    std::printf("{\"threads\": %d, \"fma_float32\": %.4g", threads, rate(threads, 15, fma_float32));
#if defined(__AVX512BF16__)
    std::printf(", \"dot_bfloat16\": %.4g", rate(threads, 15, dot_bfloat16));
#endif
#if defined(__AVX512FP16__)
    std::printf(", \"fma_float16\": %.4g", rate(threads, 15, fma_float16));
#endif
#if defined(__AMX_BF16__)
    if (may_use_tiles())
        std::printf(", \"tiles_bfloat16\": %.4g", rate(threads, 15, tiles_bfloat16));
#endif
    std::printf(", \"exp_degree_4\": %.4g", best_exponentials<4>(threads));
    std::printf(", \"exp_degree_5\": %.4g, \"read\": {", best_exponentials<5>(threads));
    for (int i = 2; i < count; ++i) {
        const size_t bytes = std::strtoull(arguments[i], nullptr, 10);
        std::printf("%s\"%zu\": %.4g", i > 2 ? ", " : "", bytes, best_reading(threads, bytes));
    }
    std::printf("}}\n");
}
