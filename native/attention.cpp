// Cuts one call into tasks and gives them to the workers.
//
// A task of the first pass is up to 256 rows that share their keys: queries of one head, or, where
// a head has less than 64 of them, the queries of all heads of a group, packed. The cut depends on
// the shape alone, never on the number of threads. Tasks of one head follow each other (their keys
// stay in cache), the costly ones of a causal mask first.
#include "attention.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>

#include "dispatch.h"
#include "threads.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace clearhead {
namespace {

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

// Scratch of one thread, kept between calls and freed with the thread: a fresh one would cost more
// page faults than a short call takes.
class Scratch {
  public:
    void* get(size_t bytes) {
        if (bytes > size_) {
            std::free(data_);
            data_ = nullptr;
            size_ = 0;
            const size_t rounded = (bytes + 4095) / 4096 * 4096;
            data_ = std::aligned_alloc(64, rounded);
            if (!data_) return nullptr;
            size_ = rounded;
        }
        return data_;
    }
    ~Scratch() { std::free(data_); }

  private:
    void* data_ = nullptr;
    size_t size_ = 0;
};

void* scratch(size_t bytes) {
    thread_local Scratch mine;
    return mine.get(bytes);
}

int64_t pieces(int64_t length, int64_t size) {
    return (length + size - 1) / size;
}

// Runs `body(task, scratch)` for all tasks. The clock keeps the question to the caller rare.
template <class Body>
Ended share(int64_t tasks, double operations, size_t bytes, Interrupted interrupted, void* context,
            Body body) {
    using Clock = std::chrono::steady_clock;
    auto asked = Clock::now();
    std::atomic<bool> failed{false};
    Threads& threads = Threads::instance();
    const bool done = threads.run(
        tasks, threads.workers(operations, tasks),
        [&](int, int64_t task) {
            void* own = scratch(bytes);
            if (!own) {
                failed.store(true, std::memory_order_relaxed);
                return;
            }
            const FlushToZero flush;
            body(task, own);
        },
        [&] {
            const auto now = Clock::now();
            if (now - asked < std::chrono::milliseconds(100)) return false;
            asked = now;
            return interrupted && interrupted(context);
        });
    if (failed.load()) return Ended::kNoMemory;
    return done ? Ended::kDone : Ended::kInterrupted;
}

// Of the whole call, nothing masked; it decides between one thread and several.
double operations(const Request& r) {
    return 2.0 * static_cast<double>(r.d_k + r.d_v) * static_cast<double>(r.batch * r.heads) *
           static_cast<double>(r.queries) * static_cast<double>(r.keys);
}

Ended first_pass(const Request& r, const Kernels& kernels, const Normalisers& n,
                 Interrupted interrupted, void* context) {
    const int64_t group = r.key_heads ? r.heads / r.key_heads : 1;
    const bool packed = r.queries < kRowsPerBlock && group > 1;
    const int64_t heads_of_unit = packed ? group : 1;
    const int64_t rows = heads_of_unit * r.queries;
    int64_t rows_of_task = kRowsPerBlock;
    while (rows_of_task < kRowsPerBlock * kBlocksPerTask && rows > 8 * rows_of_task)
        rows_of_task *= 2;
    const int64_t tasks_of_unit = pieces(rows, rows_of_task);
    const int64_t units = r.heads / heads_of_unit;
    return share(r.batch * units * tasks_of_unit, operations(r),
                 kernels.forward_scratch(r, std::min(rows, rows_of_task)), interrupted, context,
                 [&](int64_t index, void* own) {
                     const int64_t unit = index / tasks_of_unit;
                     const int64_t part = tasks_of_unit - 1 - index % tasks_of_unit;
                     const int64_t begin = part * rows_of_task;
                     const Task task{unit / units, unit % units * heads_of_unit, begin,
                                     std::min(rows, begin + rows_of_task)};
                     kernels.forward(r, task, n, own);
                 });
}

Ended key_sweep(const Request& r, const Kernels& kernels, const Normalisers& n,
                Interrupted interrupted, void* context) {
    int64_t keys = kSweepKeys;  // of one task: whole blocks of the map, about kSweepKeys
    if (r.observe.map) keys = r.observe.map_keys * std::max<int64_t>(1, keys / r.observe.map_keys);
    const int64_t tasks_of_head = pieces(r.keys, keys);
    return share(
        r.batch * r.heads * tasks_of_head, operations(r), kernels.sweep_scratch(r), interrupted,
        context, [&](int64_t index, void* own) {
            const int64_t head = index / tasks_of_head;
            const int64_t begin = index % tasks_of_head * keys;
            const Task task{head / r.heads, head % r.heads, begin, std::min(r.keys, begin + keys)};
            kernels.sweep_keys(r, task, n, own);
        });
}

Ended row_sweep(const Request& r, const Kernels& kernels, const Normalisers& n, const int64_t* list,
                int64_t rows, void* out, Interrupted interrupted, void* context) {
    const int64_t tasks_of_head = pieces(rows, kRowsPerBlock);
    return share(r.batch * r.heads * tasks_of_head, operations(r), kernels.sweep_scratch(r),
                 interrupted, context, [&](int64_t index, void* own) {
                     const int64_t head = index / tasks_of_head;
                     const int64_t begin = index % tasks_of_head * kRowsPerBlock;
                     const Task task{head / r.heads, head % r.heads, begin,
                                     std::min(rows, begin + kRowsPerBlock)};
                     kernels.sweep_rows(r, task, n, list, out, rows, own);
                 });
}

}  // namespace

Ended run(const Request& r, Interrupted interrupted, void* context) {
    const Kernels& kernels = kernels_for(r.kind);
    const Observe& see = r.observe;
    const bool by_key = (see.received || see.map) && r.keys > 0;
    const bool by_row = see.rows_out || see.weights_out;
    Normalisers n{nullptr, nullptr};
    std::unique_ptr<char[]> kept;
    if (by_key || by_row) {
        const int64_t bytes = r.batch * r.heads * r.queries * (r.kind == Kind::kFloat64 ? 8 : 4);
        kept.reset(new (std::nothrow) char[static_cast<size_t>(2 * bytes + 1)]);
        if (!kept) return Ended::kNoMemory;
        n = {kept.get(), kept.get() + bytes};
    }
    Ended ended = first_pass(r, kernels, n, interrupted, context);
    if (ended == Ended::kDone && by_key) ended = key_sweep(r, kernels, n, interrupted, context);
    if (ended == Ended::kDone && see.rows_out)
        ended =
            row_sweep(r, kernels, n, see.rows, see.row_count, see.rows_out, interrupted, context);
    if (ended == Ended::kDone && see.weights_out)
        ended = row_sweep(r, kernels, n, nullptr, r.queries, see.weights_out, interrupted, context);
    return ended;
}

void set_threads(int count) {
    Threads::instance().set(count);
}
int threads() {
    return Threads::instance().count();
}
void watch_forks() {
    Threads::instance();
}

}  // namespace clearhead
