// The whole native interface: plain structs in, plain calls. Knows no Python.
//
//   out[b, h, i, :] = sum over j of p[b, h, i, j] * value[b, h / group, j, :]
//   p[b, h, i, :]   = softmax over the keys j that query i may look at, of
//                     softcap(scale * query[b, h, i, :] . key[b, h / group, j, :]) + bias[b, h, i,
//                     j]
//
// b counts all axes before the heads, row-major. Strides are in elements and may be 0 or negative.
// Outputs are contiguous and of the shapes named; nullptr where not asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clearhead {

constexpr int kMaxBatchAxes = 16;

enum class Kind : int32_t { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBFloat16 = 3, kBool = 4 };

// Bytes of one number. Static, as each instruction set must have its own copy.
static constexpr int64_t size_of(Kind kind) {
    return kind == Kind::kFloat64 ? 8 : kind == Kind::kFloat32 ? 4 : kind == Kind::kBool ? 1 : 2;
}

struct Array {  // (batch axes ..., heads, rows, columns)
    const void* data;
    Kind kind;
    int64_t head, row, column;     // strides
    int batch_axes;                // those of the request, or 1 for all of them in one
    int64_t batch[kMaxBatchAxes];  // strides of the batch axes
};

// What `run` learns of segments and boolean arrays before it begins: query i of a head may look at
// no key outside [low, high], at sample * b + head * h + row * i; nullptr: not known.
struct Span {
    const int64_t *low, *high;
    int64_t sample, head, row;
};

struct Mask {                       // all conditions must hold; nullptr: no such condition
    const int64_t* low;             // (B,)   i + low[b] <= j <= i + high[b]; both or neither
    const int64_t* high;            // (B,)
    const int64_t* key_lengths;     // (B,)   j < key_lengths[b]
    const int64_t* query_lengths;   // (B,)   i < query_lengths[b]
    const int32_t* key_segments;    // (B, M) equal to that of the query, and not -1
    const int32_t* query_segments;  // (B, N)
    Array allowed;                  // (B, H, N, M) of bytes, data may be nullptr

    // Filled by `run`:
    Span of_segments, of_allowed;
    bool segments_whole;     // the keys of every segment follow each other: their span says it all
    const uint8_t* classes;  // of `allowed`, [tile of keys][at of its span]: bit 0 some key may be
    int64_t class_rows;      // seen, bit 1 some may not; and how far apart the tiles lie
};

struct Observe {
    uint8_t* visible;   // (B, H, N)    whether the query may look at anything; needed by the sweeps
    int64_t top;        // k
    int32_t* top_keys;  // (B, H, N, k)
    void* top_weights;  // (B, H, N, k) of float, double for kFloat64, as all that follow
    void* entropy;      // (B, H, N)
    void* lse;          // (B, H, N)
    void* received;     // (B, H, M)
    int64_t received_last;  // count only the last w valid queries; -1: all
    void* map;              // (B, H, ceil(N / map_queries), ceil(M / map_keys))
    int64_t map_queries, map_keys;
    const int64_t* rows;  // R indices of queries, shared by batch and heads
    int64_t row_count;
    void* rows_out;     // (B, H, R, M)
    void* weights_out;  // (B, H, N, M)
};

struct Request {
    Kind kind;  // of query, key, value and out
    int batch_axes;
    int64_t batch_shape[kMaxBatchAxes];
    int64_t batch, heads, key_heads, queries, keys, d_k, d_v;  // B, H, H_kv, N, M
    Array query, key, value;
    void* out;              // (B, H, N, d_v)
    double scale, softcap;  // softcap 0: none
    Mask mask;
    Array bias;             // data may be nullptr
    const double* slopes;   // (H,) of alibi: -slope * |i + anchor[b] - j|; or nullptr
    const int64_t* anchor;  // (B,)
    const double* sinks;    // (H,) or nullptr
    Observe observe;
};

// Asked now and then by the calling thread: true ends the run early.
using Interrupted = bool (*)(void* context);

enum class Ended { kDone, kInterrupted, kNoMemory };

Ended run(const Request& request, Interrupted interrupted, void* context);

// dispatch.cpp: the instruction set that runs ("avx512", ...), and a list of those in this build.
// Throws std::runtime_error where CLEARHEAD_ISA names one that cannot run here.
const char* isa();
const char* isas_built();

// threads.h through attention.cpp.
void set_threads(int count);  // 0: as many as OpenMP says
int threads();
void watch_forks();  // from now on a forked child knows that it is one

}  // namespace clearhead
