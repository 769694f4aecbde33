// What one instruction set offers: a table of functions, the same for all of them.
#pragma once

#include "attention.h"

namespace clearhead {

// What the first pass leaves for the sweeps, per query (B, H, N): the largest score in units of
// log2, and 1 / the sum of exp; 0 for a query that looks at nothing.
struct Normalisers {
    void* largest;
    void* inverse;
};

// One piece of work: rows [begin, end) of a unit of one sample. In the first pass and in the row
// sweep a row is a (head, query) pair, row r being query first_query + r % queries of head
// first_head + r / queries; the key sweep takes keys [begin, end) of one head.
struct Task {
    int64_t sample, first_head, first_query, queries, begin, end;
};

// The part of the keys that a thin task goes through, and where it leaves its sums; nullptr: it
// goes through all of them and finishes.
struct Part {
    int64_t begin, end;
    void* sums;
};

struct Kernels {
    // Bytes that a worker needs: for a task of up to `rows` rows of the first pass, for a thin one,
    // and for any task of a sweep; and what the sums of one part of a thin unit take.
    size_t (*forward_scratch)(const Request&, int64_t rows);
    size_t (*thin_scratch)(const Request&);
    size_t (*sweep_scratch)(const Request&);
    size_t (*sums_size)(const Request&);
    // out, visible, top, entropy, lse and the normalisers of the rows of a task, at most
    // kBlocksPerTask * kRowsPerBlock.
    void (*forward)(const Request&, const Task&, const Normalisers&, void* scratch);
    // The same for the rows of a thin unit, over one part of its keys; and the end of such a unit,
    // from the sums of its `count` parts, which lie side by side.
    void (*thin)(const Request&, const Task&, const Part&, const Normalisers&, void* scratch);
    void (*join)(const Request&, const Task&, void* sums, int64_t count, const Normalisers&,
                 void* scratch);
    // received and map of a range of keys, over all queries.
    void (*sweep_keys)(const Request&, const Task&, const Normalisers&, void* scratch);
    // All weights of up to kRowsPerBlock queries of `list` (nullptr: of the queries in order).
    void (*sweep_rows)(const Request&, const Task&, const Normalisers&, const int64_t* list,
                       void* out, int64_t rows, void* scratch);
};

constexpr int64_t kRowsPerBlock = 64;  // queries whose sums are kept at once
// 11 panels of 6; scores, keys and values fit the L1 cache. Boolean arrays are classed in these,
// and an instruction set may have another size of its own (below) for what it computes.
constexpr int64_t kKeysPerTile = 66;
constexpr int64_t kBlocksPerTask = 4;  // blocks that share one tile of keys while it is in cache
constexpr int64_t kThinRows = 8;       // rows that share their keys, up to which a unit is thin
constexpr int64_t kPartKeys = 16 * kKeysPerTile;  // keys of one part of a thin unit, or a multiple
constexpr int64_t kMostParts = 16;                // that leaves no more parts than these
constexpr int64_t kSweepKeys = 4 * kKeysPerTile;  // keys of one task of the key sweep, about

// How many pieces of `size` cover `length`.
static constexpr int64_t pieces(int64_t length, int64_t size) {
    return (length + size - 1) / size;
}

// Tiles of the processor have 16 rows and take 32 keys at once; 96 are also 16 panels of 6.
namespace amx {
constexpr int64_t kKeysPerTile = 96;
}

// Defined by kernels/table.cpp of each instruction set; by kind: 0 for float and
// float16, 1 for double, 2 for bfloat16. What one leaves out (nullptr) is that of another, as
// dispatch.cpp says: those that only multiply bfloat16 in another way have nothing else.
namespace baseline {
extern const Kernels kernels[3];
}
namespace avx2 {
extern const Kernels kernels[3];
}
namespace avx512 {
extern const Kernels kernels[3];
}
namespace avx512bf16 {
extern const Kernels kernels[3];
}
namespace amx {
extern const Kernels kernels[3];
bool multiplies();  // whether the tiles of this machine multiply as tile_words.h says
}  // namespace amx
namespace neon {
extern const Kernels kernels[3];
}

}  // namespace clearhead
