// Segments: the keys are cut into runs of one id, the runs sorted by id; a query's span reaches
// from the first run of its id to the last. Where every id has one run only (sequences packed one
// after the other, in any order) the span says all that the segments say.
//
// A boolean array: every row is read once, eight keys at a time, and each of its tiles classed:
// bit 0 some key may be seen, bit 1 some may not. Rows that heads or samples share are read once.
#include "spans.h"

#include <algorithm>
#include <cstring>

#include "kernels/table.h"

namespace clearhead {
namespace {

constexpr int64_t kFar = int64_t{1} << 62;

struct Run {
    int32_t id;
    int64_t low, high;
};

// The runs of one sample by id, those of one id joined; their number, and whether any was joined.
int64_t runs_of(const int32_t* ids, int64_t keys, Run* runs, bool* whole) {
    int64_t count = 0;
    bool sorted = true;
    for (int64_t j = 0; j < keys; ++j) {
        if (ids[j] == -1) continue;
        if (count && runs[count - 1].id == ids[j] && runs[count - 1].high == j - 1) {
            runs[count - 1].high = j;
            continue;
        }
        sorted &= !count || runs[count - 1].id < ids[j];
        runs[count++] = {ids[j], j, j};
    }
    if (sorted) return count;
    std::sort(runs, runs + count, [](const Run& a, const Run& b) {
        return a.id != b.id ? a.id < b.id : a.low < b.low;
    });
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (kept && runs[kept - 1].id == runs[i].id) {
            runs[kept - 1].high = runs[i].high;
            *whole = false;
        } else {
            runs[kept++] = runs[i];
        }
    }
    return kept;
}

int64_t distinct(int64_t stride, int64_t count) {
    return stride == 0 && count > 0 ? 1 : count;
}

const uint8_t* place(const Request& r, const Array& a, int64_t sample, int64_t head, int64_t row) {
    int64_t at = head * a.head + row * a.row;
    for (int axis = a.batch_axes - 1; axis > 0; --axis) {
        at += sample % r.batch_shape[axis] * a.batch[axis];
        sample /= r.batch_shape[axis];
    }
    if (a.batch_axes) at += sample * a.batch[0];
    return static_cast<const uint8_t*>(a.data) + at;
}

uint8_t class_of(const uint8_t* may, int64_t keys) {
    constexpr uint64_t ones = 0x0101010101010101u;
    uint64_t some = 0, all = ones;
    int64_t j = 0;
    for (; j + 8 <= keys; j += 8) {
        uint64_t word;
        std::memcpy(&word, may + j, 8);
        some |= word;
        all &= word;
    }
    for (; j < keys; ++j) {
        some |= may[j];
        all &= may[j] ? ones : 0;
    }
    return static_cast<uint8_t>((some != 0) | (all != ones) << 1);
}

}  // namespace

bool find_segments(Request& r, Room& spans, Room& runs) {
    if (!r.mask.key_segments) return true;
    const int64_t rows = r.batch * r.queries;
    int64_t* low = spans.get<int64_t>(static_cast<size_t>(2 * rows));
    Run* found = runs.get<Run>(static_cast<size_t>(r.keys));
    if (!low || !found) return false;
    int64_t* high = low + rows;
    r.mask.segments_whole = true;
    for (int64_t b = 0; b < r.batch; ++b) {
        const int64_t count =
            runs_of(r.mask.key_segments + b * r.keys, r.keys, found, &r.mask.segments_whole);
        const int32_t* ids = r.mask.query_segments + b * r.queries;
        for (int64_t i = 0; i < r.queries; ++i) {
            const int64_t at = b * r.queries + i;
            if (i && ids[i] == ids[i - 1]) {
                low[at] = low[at - 1];
                high[at] = high[at - 1];
                continue;
            }
            const Run* end = found + count;
            const Run* run = std::lower_bound(static_cast<const Run*>(found), end, ids[i],
                                              [](const Run& a, int32_t id) { return a.id < id; });
            const bool there = ids[i] != -1 && run != end && run->id == ids[i];
            low[at] = there ? run->low : kFar;
            high[at] = there ? run->high : -kFar;
        }
    }
    r.mask.of_segments = {low, high, r.queries, 0, 1};
    return true;
}

int64_t prepare_allowed(Request& r, Room& spans, Room& classes) {
    const Array& a = r.mask.allowed;
    if (!a.data || !r.keys || !r.queries || (a.column != 1 && r.keys > 1)) return 0;
    bool shared = true;
    for (int axis = 0; axis < a.batch_axes; ++axis) shared &= a.batch[axis] == 0;
    const int64_t samples = shared ? 1 : r.batch, heads = distinct(a.head, r.heads);
    const int64_t rows = distinct(a.row, r.queries), all = samples * heads * rows;
    const int64_t tiles = (r.keys + kKeysPerTile - 1) / kKeysPerTile;
    int64_t* low = spans.get<int64_t>(static_cast<size_t>(2 * all));
    uint8_t* of = classes.get<uint8_t>(static_cast<size_t>(all * tiles));
    if (!low || !of) return -1;
    r.mask.of_allowed = {low, low + all, samples > 1 ? heads * rows : 0, heads > 1 ? rows : 0,
                         rows > 1 ? 1 : 0};
    r.mask.classes = of;
    r.mask.class_rows = all;
    return all;
}

void class_allowed(const Request& r, int64_t begin, int64_t end) {
    const Array& a = r.mask.allowed;
    const int64_t rows = distinct(a.row, r.queries), heads = distinct(a.head, r.heads);
    const int64_t tiles = (r.keys + kKeysPerTile - 1) / kKeysPerTile;
    auto* low = const_cast<int64_t*>(r.mask.of_allowed.low);
    auto* high = const_cast<int64_t*>(r.mask.of_allowed.high);
    auto* of = const_cast<uint8_t*>(r.mask.classes);
    for (int64_t row = begin; row < end; ++row) {
        const uint8_t* may = place(r, a, row / rows / heads, row / rows % heads, row % rows);
        int64_t first = tiles, last = -1;
        for (int64_t t = 0; t < tiles; ++t) {
            const int64_t from = t * kKeysPerTile;
            const uint8_t found = class_of(may + from, std::min(kKeysPerTile, r.keys - from));
            of[t * r.mask.class_rows + row] = found;
            if (!(found & 1)) continue;
            first = std::min(first, t);
            last = t;
        }
        low[row] = kFar;
        high[row] = -kFar;
        if (last < 0) continue;
        int64_t j = first * kKeysPerTile;
        while (!may[j]) ++j;
        low[row] = j;
        j = std::min(r.keys, (last + 1) * kKeysPerTile) - 1;
        while (!may[j]) --j;
        high[row] = j;
    }
}

}  // namespace clearhead
