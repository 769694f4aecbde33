// The second pass, only for what needs the final sums of every query: m and 1 / Z, left by forward.
//
//   rows[r][j] = p[list[r]][j]                  and received and map: sweep_keys.h
//
// Order of the row sweep: a task owns up to 64 chosen queries and goes through all keys.
#include "kernels/entries.h"
#include "kernels/sweep_keys.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

// to[lane][j] = weights of the tile, turned a square of registers at a time.
template <class P, class T = typename P::Sum>
void write_rows(const Sweep<P>& w, const Request& r, T* to) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const Block<T>& b = w.block;
    for (int lane = w.tile.lanes.begin; lane < smaller(w.tile.lanes.end, b.count); lane += L) {
        int64_t j = 0;
        for (; j + L <= w.tile.keys && lane + L <= b.count; j += L) {
            typename V::Reg square[L];
            for (int i = 0; i < L; ++i)
                square[i] = V::load(w.tile.s + (j + i) * kRowsPerBlock + lane);
            V::transpose(square);
            for (int i = 0; i < L; ++i) V::store(to + (lane + i) * r.keys + j, square[i]);
        }
        for (; j < w.tile.keys; ++j)
            for (int i = lane; i < lane + L && i < b.count; ++i)
                to[i * r.keys + j] = w.tile.s[j * kRowsPerBlock + i];
    }
}

template <class P, class T = typename P::Sum>
void sweep_rows(const Request& r, const Task& task, const Normalisers& n, const int64_t* list,
                void* out, int64_t rows, void* scratch) {
    Sweep<P> w(r, scratch);
    [[maybe_unused]] typename P::Session session;
    const int64_t sample = task.sample;
    const Block<T>& b = w.block;
    T* to =
        static_cast<T*>(out) + ((sample * r.heads + task.first_head) * rows + task.begin) * r.keys;
    std::memset(to, 0, static_cast<size_t>((task.end - task.begin) * r.keys) * sizeof(T));
    if (!take_queries(w, r, task, task.begin, task.end, list, n)) return;
    const int64_t head = task.first_head / (r.heads / r.key_heads);
    const auto keys = keys_of<P>(r, sample, head, w.keys);
    for (int64_t begin = b.low_min; begin <= b.high_max; begin += kKeysPerTile) {
        const int64_t end = smaller(begin + kKeysPerTile, b.high_max + 1);
        int64_t stride = 0;
        const auto* k = keys.tile(begin, end, &stride);
        const auto score = [&] {
            score_block<P>(w.tile, b, r, k + (w.tile.begin - begin) * stride, stride);
        };
        if (!fill<P>(w.tile, w.block, r, sample, begin, end, score)) continue;
        normalise(w);
        write_rows(w, r, to + w.tile.begin);
    }
}

}  // namespace

#if !defined(CLEARHEAD_BFLOAT16_ALONE)
size_t sweep_scratch_float(const Request& r) {
    return Sweep<Singles<float>>(r, nullptr).arena.used;
}
void sweep_keys_float(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    sweep_keys<Singles<float>>(r, task, n, scratch);
}
void sweep_rows_float(const Request& r, const Task& task, const Normalisers& n, const int64_t* list,
                      void* out, int64_t rows, void* scratch) {
    sweep_rows<Singles<float>>(r, task, n, list, out, rows, scratch);
}

size_t sweep_scratch_double(const Request& r) {
    return Sweep<Singles<double>>(r, nullptr).arena.used;
}
void sweep_keys_double(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    sweep_keys<Singles<double>>(r, task, n, scratch);
}
void sweep_rows_double(const Request& r, const Task& task, const Normalisers& n,
                       const int64_t* list, void* out, int64_t rows, void* scratch) {
    sweep_rows<Singles<double>>(r, task, n, list, out, rows, scratch);
}
#endif

size_t sweep_scratch_bfloat(const Request& r) {
    return static_cast<size_t>(
        larger(Sweep<BFloats>(r, nullptr).arena.used, Sweep<ThinBFloats>(r, nullptr).arena.used));
}
void sweep_keys_bfloat(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    const bool thin = is_thin(r, task.sample);
    (thin ? sweep_keys<ThinBFloats> : sweep_keys<BFloats>)(r, task, n, scratch);
}
void sweep_rows_bfloat(const Request& r, const Task& task, const Normalisers& n,
                       const int64_t* list, void* out, int64_t rows, void* scratch) {
    const bool thin = is_thin(r, task.sample);
    (thin ? sweep_rows<ThinBFloats> : sweep_rows<BFloats>)(r, task, n, list, out, rows, scratch);
}

}  // namespace clearhead::CLEARHEAD_ISA
