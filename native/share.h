// Work cut into tasks that the workers take from one counter, each with scratch of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "attention.h"
#include "kernels/table.h"
#include "room.h"
#include "threads.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace clearhead {

// Numbers below the normal range count as 0 while a worker runs: they cost a hundred times more.
class FlushToZero {
  public:
#if defined(__x86_64__)
    FlushToZero() : before_(_mm_getcsr()) {
        _mm_setcsr(before_ | 0x8040u);
    }
    ~FlushToZero() {
        _mm_setcsr(before_);
    }

  private:
    unsigned before_;
#elif defined(__aarch64__)
    FlushToZero() {
        asm volatile("mrs %0, fpcr" : "=r"(before_));
        asm volatile("msr fpcr, %0" : : "r"(before_ | uint64_t{1} << 24) : "memory");
    }
    ~FlushToZero() {
        asm volatile("msr fpcr, %0" : : "r"(before_) : "memory");
    }

  private:
    uint64_t before_;
#endif
};

// What a worker computes in. Between two tasks nothing in it is needed.
inline void* scratch(size_t bytes) {
    thread_local Room mine;
    if (bytes <= Room::kKept) mine.trim();  // what a larger call has left behind
    return mine.get<char>(bytes);
}

constexpr double kTurn = 2e5;  // operations that a worker takes at once, at least
constexpr double kLong = 1e8;  // operations from which a caller may want to end a call early

// Runs `body(task, scratch)` for all tasks. The clock keeps the question to the caller rare, and is
// itself asked only where the work may take long.
template <class Body>
Ended share(int64_t tasks, double operations, size_t bytes, Interrupted interrupted, void* context,
            Body body) {
    using Clock = std::chrono::steady_clock;
    if (!tasks) return Ended::kDone;
    if (operations < kLong) interrupted = nullptr;
    auto asked = interrupted ? Clock::now() : Clock::time_point();
    std::atomic<bool> failed{false};
    Threads& threads = Threads::instance();
    // Tasks too small to be worth a turn each are taken several at a time.
    const double each = operations / static_cast<double>(tasks);
    const bool alone = threads.workers(operations, tasks) == 1;
    const int64_t turn = std::max<int64_t>(
        1, std::min(alone ? tasks : tasks / 64, static_cast<int64_t>(kTurn / (each + 1))));
    const int64_t turns = pieces(tasks, turn);
    const bool done = threads.run(
        turns, alone ? 1 : threads.workers(operations, turns),
        [&](int, int64_t at) {
            void* own = scratch(bytes);
            if (!own) {
                failed.store(true, std::memory_order_relaxed);
                return;
            }
            const FlushToZero flush;
            for (int64_t task = at * turn; task < std::min(tasks, (at + 1) * turn); ++task)
                body(task, own);
        },
        [&] {
            if (!interrupted) return false;
            const auto now = Clock::now();
            if (now - asked < std::chrono::milliseconds(100)) return false;
            asked = now;
            return interrupted(context);
        });
    if (failed.load()) return Ended::kNoMemory;
    return done ? Ended::kDone : Ended::kInterrupted;
}

}  // namespace clearhead
