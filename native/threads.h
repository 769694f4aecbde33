// OpenMP regions, and the rule for how many threads pay. Knows nothing of attention.
//
// The team is the one that torch has (openmp.h). A child of a fork has the data of that team and
// none of its threads: a region of several threads would wait for ever. The child therefore runs
// everything on its one thread; so does work too small to share, and a process without OpenMP.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "openmp.h"

namespace clearhead {

class Threads {
  public:
    // Floating-point operations from which a second thread gains what waking it takes: measured
    // between 1.2 and 2.1 million, with the team awake and right after other work.
    static constexpr double kWorthSharing = 1.5e6;

    static Threads& instance() {
        static Threads threads;
        return threads;
    }

    void set(int count) { asked_.store(count, std::memory_order_relaxed); }

    int count() const {
        if (forked_.load(std::memory_order_relaxed)) return 1;
        const int asked = asked_.load(std::memory_order_relaxed);
        return asked > 0 ? asked : openmp::max_threads();
    }

    // Calls body(worker, task) for every task in [0, tasks), each once, from a shared counter.
    // `stop()` is asked by the calling thread between its tasks; true ends the run early, and
    // false comes back.
    template <class Body, class Stop>
    bool run(int64_t tasks, int workers, Body body, Stop stop) {
        std::atomic<int64_t> next{0};
        std::atomic<bool> stopped{false};
        const auto work = [&](int worker) {
            for (;;) {
                const int64_t task = next.fetch_add(1, std::memory_order_relaxed);
                if (task >= tasks || stopped.load(std::memory_order_relaxed)) return;
                body(worker, task);
                if (worker == 0 && stop()) stopped.store(true, std::memory_order_relaxed);
            }
        };
        if (workers <= 1) {
            work(0);
        } else {
            openmp::region(
                [](void* context, int worker) { (*static_cast<decltype(&work)>(context))(worker); },
                const_cast<void*>(static_cast<const void*>(&work)), workers);
        }
        return !stopped.load(std::memory_order_relaxed);
    }

    int workers(double operations, int64_t tasks) const {
        if (operations < kWorthSharing || openmp::in_region()) return 1;
        return static_cast<int>(tasks < count() ? tasks : count());
    }

  private:
    Threads() {
        pthread_atfork(nullptr, nullptr, [] { instance().forked_.store(true); });
    }

    std::atomic<int> asked_{0};
    std::atomic<bool> forked_{false};
};

}  // namespace clearhead
