// How one call is cut into tasks. The cut follows from shapes, lengths and bands alone, never from
// the number of threads.
#pragma once

#include "attention.h"
#include "kernels/table.h"
#include "room.h"

namespace clearhead {

// Samples that are cut alike. Each has `units` units, heads that share their keys; a unit has
// `tasks` tasks, or where it is thin one for each part of its keys, and after them `blank` tasks
// of queries beyond the length, which see nothing.
struct Stretch {
    int64_t sample, samples;
    int64_t first;  // of its tasks among all
    int64_t queries, heads_of_unit, units, rows, rows_of_task, tasks;
    int64_t part_keys, first_part, parts;  // of a thin unit; parts 0: it is not thin
    int64_t first_sums;                    // of its parts among all that leave sums
    int64_t blank, blank_heads;
    double cost;  // operations of one sample
};

struct Cut {
    Stretch* stretches;
    int64_t count, tasks;
    int64_t sums;          // parts that leave sums
    int64_t rows_of_task;  // the largest
    bool thin;             // any
    double operations;
};

// One task of the cut: what runs, and how.
struct Work {
    Task task;
    bool thin;
    int64_t part, parts, begin, end;  // of a thin one: the nth part of its unit, and its keys
    int64_t sums;  // where the sums of its unit begin among all; -1 for one part, which leaves none
};

// False where there is no memory.
bool cut_call(const Request& r, Room& room, Cut* out);

Work work_at(const Request& r, const Cut& cut, int64_t index);

}  // namespace clearhead
