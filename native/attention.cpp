// Runs one call: what segments and arrays say of whole tiles, the first pass, then the sweeps that
// were asked for, each cut into tasks that the workers take from one counter.
#include "attention.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "cut.h"
#include "dispatch.h"
#include "room.h"
#include "spans.h"
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

// What a worker computes in. Between two tasks nothing in it is needed.
void* scratch(size_t bytes) {
    thread_local Room mine;
    return mine.get<char>(bytes);
}

// What a call keeps beside: known to the thread that called, used by its workers.
struct Rooms {
    Room segments, runs, allowed, classes, stretches, sums, counts, normalisers;

    void trim() {
        for (Room* room :
             {&segments, &runs, &allowed, &classes, &stretches, &sums, &counts, &normalisers})
            room->trim();
    }
};

// The rooms of this thread. A handler of signals that calls while a call of its own thread waits
// gets others.
class Lease {
  public:
    Lease() : rooms_(busy() ? others_ : kept()), first_(!busy()) { busy() = true; }
    ~Lease() {
        if (!first_) return;
        rooms_.trim();
        busy() = false;
    }
    Rooms& rooms() { return rooms_; }

  private:
    static bool& busy() {
        thread_local bool is = false;
        return is;
    }
    static Rooms& kept() {
        thread_local Rooms mine;
        return mine;
    }

    Rooms others_;
    Rooms& rooms_;
    bool first_;
};

int64_t pieces(int64_t length, int64_t size) {
    return (length + size - 1) / size;
}

constexpr double kTurn = 2e5;  // operations that a worker takes at once, at least

// Runs `body(task, scratch)` for all tasks. The clock keeps the question to the caller rare.
template <class Body>
Ended share(int64_t tasks, double operations, size_t bytes, Interrupted interrupted, void* context,
            Body body) {
    using Clock = std::chrono::steady_clock;
    auto asked = Clock::now();
    std::atomic<bool> failed{false};
    Threads& threads = Threads::instance();
    // Tasks too small to be worth a turn each are taken several at a time.
    const double each = operations / static_cast<double>(std::max<int64_t>(tasks, 1));
    const int64_t turn =
        std::max<int64_t>(1, std::min(tasks / 64, static_cast<int64_t>(kTurn / (each + 1))));
    const int64_t turns = pieces(tasks, turn);
    const bool done = threads.run(
        turns, threads.workers(operations, turns),
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

// Fills in what `run` learns of segments and boolean arrays.
Ended find_spans(Request& r, Rooms& rooms, Interrupted interrupted, void* context) {
    if (!find_segments(r, rooms.segments, rooms.runs)) return Ended::kNoMemory;
    const int64_t rows = prepare_allowed(r, rooms.allowed, rooms.classes);
    if (rows < 0) return Ended::kNoMemory;
    constexpr int64_t at_once = 64;
    const double bytes = static_cast<double>(rows) * static_cast<double>(r.keys);
    return share(pieces(rows, at_once), bytes, 1, interrupted, context, [&](int64_t i, void*) {
        class_allowed(r, i * at_once, std::min(rows, (i + 1) * at_once));
    });
}

Ended first_pass(const Request& r, const Kernels& kernels, const Normalisers& n, Rooms& rooms,
                 Interrupted interrupted, void* context) {
    Cut cut;
    if (!cut_call(r, rooms.stretches, &cut)) return Ended::kNoMemory;
    const size_t of_part = cut.sums ? kernels.sums_size(r) : 0;
    char* sums = rooms.sums.get<char>(static_cast<size_t>(cut.sums) * of_part);
    auto* done = rooms.counts.get<std::atomic<int32_t>>(static_cast<size_t>(cut.sums));
    if (!sums || !done) return Ended::kNoMemory;
    for (int64_t i = 0; i < cut.sums; ++i) new (done + i) std::atomic<int32_t>(0);
    size_t bytes = cut.rows_of_task ? kernels.forward_scratch(r, cut.rows_of_task) : 1;
    if (cut.thin) bytes = std::max(bytes, kernels.thin_scratch(r));
    return share(cut.tasks, cut.operations, bytes, interrupted, context,
                 [&](int64_t index, void* own) {
                     const Work work = work_at(r, cut, index);
                     if (!work.thin) {
                         kernels.forward(r, work.task, n, own);
                         return;
                     }
                     if (work.sums < 0) {
                         kernels.thin(r, work.task, Part{0, r.keys, nullptr}, n, own);
                         return;
                     }
                     char* of_unit = sums + static_cast<size_t>(work.sums) * of_part;
                     const int64_t nth = work.part - work.first_part;
                     const Part part{work.part * kPartKeys, (work.part + 1) * kPartKeys,
                                     of_unit + static_cast<size_t>(nth) * of_part};
                     kernels.thin(r, work.task, part, n, own);
                     // Who comes last adds the parts up.
                     if (done[work.sums].fetch_add(1, std::memory_order_acq_rel) + 1 == work.parts)
                         kernels.join(r, work.task, of_unit, work.parts, n, own);
                 });
}

Ended key_sweep(const Request& r, const Kernels& kernels, const Normalisers& n,
                Interrupted interrupted, void* context) {
    int64_t keys = kSweepKeys;  // of one task: whole blocks of the map, about kSweepKeys
    if (r.observe.map) keys = r.observe.map_keys * std::max<int64_t>(1, keys / r.observe.map_keys);
    const int64_t tasks_of_head = pieces(r.keys, keys);
    return share(r.batch * r.heads * tasks_of_head, operations(r), kernels.sweep_scratch(r),
                 interrupted, context, [&](int64_t index, void* own) {
                     const int64_t head = index / tasks_of_head;
                     const int64_t begin = index % tasks_of_head * keys;
                     const Task task{
                         head / r.heads, head % r.heads, 0,
                         r.queries,      begin,          std::min(r.keys, begin + keys)};
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
                     const Task task{
                         head / r.heads, head % r.heads, 0,
                         r.queries,      begin,          std::min(rows, begin + kRowsPerBlock)};
                     kernels.sweep_rows(r, task, n, list, out, rows, own);
                 });
}

}  // namespace

Ended run(const Request& request, Interrupted interrupted, void* context) {
    Request r = request;
    Lease lease;
    Rooms& rooms = lease.rooms();
    const Kernels& kernels = kernels_for(r.kind);
    const Observe& see = r.observe;
    const bool by_key = (see.received || see.map) && r.keys > 0;
    const bool by_row = see.rows_out || see.weights_out;
    Normalisers n{nullptr, nullptr};
    if (by_key || by_row) {
        const size_t bytes =
            static_cast<size_t>(r.batch * r.heads * r.queries) * (r.kind == Kind::kFloat64 ? 8 : 4);
        char* kept = rooms.normalisers.get<char>(2 * bytes);
        if (!kept) return Ended::kNoMemory;
        n = {kept, kept + bytes};
    }
    Ended ended = find_spans(r, rooms, interrupted, context);
    if (ended == Ended::kDone) ended = first_pass(r, kernels, n, rooms, interrupted, context);
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
