// Runs one call: what segments and arrays say of whole tiles, the first pass, then the sweeps that
// were asked for, each cut into tasks (share.h).
#include "attention.h"

#include <algorithm>
#include <new>

#include "cut.h"
#include "dispatch.h"
#include "rooms.h"
#include "share.h"
#include "spans.h"

namespace clearhead {
namespace {

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
                     const Part part{work.begin, work.end,
                                     of_unit + static_cast<size_t>(work.part) * of_part};
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
