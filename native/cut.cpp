// A task of the first pass is up to 256 rows that share their keys: queries of one head, or, where
// a head has less than 64 of them, the queries of all heads of a group, packed. Up to kThinRows of
// them are thin: cut along the keys instead. Samples with most to do come first, so that none
// is left for the end; the tasks of one head follow each other (their keys stay in cache), the
// costly ones of a causal mask first.
#include "cut.h"

#include <algorithm>

namespace clearhead {
namespace {

// Whether lengths and bands are the same for all samples.
bool uniform(const Request& r) {
    if (r.mask.key_lengths || r.mask.query_lengths) return r.batch == 1;
    for (int64_t b = 1; r.mask.low && b < r.batch; ++b)
        if (r.mask.low[b] != r.mask.low[0] || r.mask.high[b] != r.mask.high[0]) return false;
    return true;
}

Stretch stretch_of(const Request& r, int64_t sample) {
    Stretch s{};
    const int64_t group = r.heads / r.key_heads;
    const int64_t keys = r.mask.key_lengths ? r.mask.key_lengths[sample] : r.keys;
    s.sample = sample;
    s.samples = 1;
    s.queries = r.mask.query_lengths ? r.mask.query_lengths[sample] : r.queries;
    s.heads_of_unit = s.queries < kRowsPerBlock ? group : 1;
    s.units = r.heads / s.heads_of_unit;
    s.rows = s.heads_of_unit * s.queries;
    s.rows_of_task = kRowsPerBlock;
    while (s.rows_of_task < kRowsPerBlock * kBlocksPerTask && s.rows > 8 * s.rows_of_task)
        s.rows_of_task *= 2;
    int64_t low = 0, high = keys - 1;  // the keys that any query reaches
    if (r.mask.low) {
        low = std::max(low, r.mask.low[sample]);
        high = std::min(high, std::max<int64_t>(s.queries - 1, 0) + r.mask.high[sample]);
    }
    int64_t wide = std::max<int64_t>(0, high - low + 1);
    s.tasks = pieces(s.rows, s.rows_of_task);
    if (s.queries * group <= kThinRows && s.queries) {
        s.part_keys = kPartKeys * std::max<int64_t>(1, pieces(wide, kPartKeys * kMostParts));
        s.first_part = wide ? low / s.part_keys : 0;
        s.parts = wide ? high / s.part_keys - s.first_part + 1 : 1;
        s.tasks = s.parts;
    }
    if (r.queries > s.queries) {
        s.blank_heads = r.queries - s.queries < kRowsPerBlock ? group : 1;
        s.blank = r.heads / s.blank_heads *
                  pieces(s.blank_heads * (r.queries - s.queries), kRowsPerBlock * kBlocksPerTask);
    }
    if (r.mask.low) {
        const int64_t far = r.queries + r.keys;
        wide = std::min(
            wide, std::min(r.mask.high[sample], far) - std::max(r.mask.low[sample], -far) + 1);
        wide = std::max<int64_t>(0, wide);
    }
    // Few rows wait for memory and not for products: they count as four.
    s.cost = 2.0 * static_cast<double>(r.d_k + r.d_v) * static_cast<double>(s.units) *
             static_cast<double>(std::max<int64_t>(s.rows, s.rows ? 4 : 0)) *
             static_cast<double>(wide);
    return s;
}

}  // namespace

bool cut_call(const Request& r, Room& room, Cut* out) {
    *out = {};
    if (!r.batch || !r.heads || !r.queries) return true;
    out->count = uniform(r) ? 1 : r.batch;
    out->stretches = room.get<Stretch>(static_cast<size_t>(out->count));
    if (!out->stretches) return false;
    for (int64_t i = 0; i < out->count; ++i) out->stretches[i] = stretch_of(r, i);
    if (out->count == 1) {
        out->stretches[0].samples = r.batch;
    } else {
        std::sort(out->stretches, out->stretches + out->count,
                  [](const Stretch& a, const Stretch& b) {
                      return a.cost != b.cost ? a.cost > b.cost : a.sample < b.sample;
                  });
    }
    for (int64_t i = 0; i < out->count; ++i) {
        Stretch& s = out->stretches[i];
        s.first = out->tasks;
        s.first_sums = out->sums;
        out->tasks += s.samples * (s.units * s.tasks + s.blank);
        out->operations += static_cast<double>(s.samples) * s.cost;
        out->thin |= s.parts > 0;
        if (!s.parts || s.blank)
            out->rows_of_task =
                std::max({out->rows_of_task, s.parts ? 0 : std::min(s.rows, s.rows_of_task),
                          s.blank ? std::min(s.blank_heads * (r.queries - s.queries),
                                             kRowsPerBlock * kBlocksPerTask)
                                  : 0});
        if (s.parts > 1) out->sums += s.samples * s.units * s.parts;
    }
    return true;
}

Work work_at(const Request& r, const Cut& cut, int64_t index) {
    const Stretch* s = cut.stretches + cut.count - 1;
    if (cut.count > 1)
        s = std::upper_bound(cut.stretches, cut.stretches + cut.count, index,
                             [](int64_t at, const Stretch& of) { return at < of.first; }) -
            1;
    const int64_t each = s->units * s->tasks + s->blank;
    const int64_t nth = (index - s->first) / each, at = (index - s->first) % each;
    const int64_t sample = s->sample + nth;
    Work work{};
    work.sums = -1;
    if (at >= s->units * s->tasks) {
        const int64_t tasks = s->blank * s->blank_heads / r.heads, rest = at - s->units * s->tasks;
        const int64_t queries = r.queries - s->queries, rows = s->blank_heads * queries;
        const int64_t begin = rest % tasks * kRowsPerBlock * kBlocksPerTask;
        work.task = {sample,     rest / tasks * s->blank_heads,
                     s->queries, queries,
                     begin,      std::min(rows, begin + kRowsPerBlock * kBlocksPerTask)};
        return work;
    }
    const int64_t unit = at / s->tasks, part = at % s->tasks;
    const int64_t head = unit * s->heads_of_unit;
    if (!s->parts) {
        const int64_t begin = (s->tasks - 1 - part) * s->rows_of_task;
        work.task = {sample,     head,  0,
                     s->queries, begin, std::min(s->rows, begin + s->rows_of_task)};
        return work;
    }
    work.task = {sample, head, 0, s->queries, 0, s->rows};
    work.thin = true;
    work.part = part;
    work.parts = s->parts;
    work.begin = (s->first_part + part) * s->part_keys;
    work.end = work.begin + s->part_keys;
    if (s->parts > 1) work.sums = s->first_sums + (nth * s->units + unit) * s->parts;
    return work;
}

}  // namespace clearhead
