// The first pass: out, and what can be seen of the weights while they go by.
//
//   out[i] = sum over tiles of (sum over j in tile of 2^(s[i][j] - m) v[j]) / Z[i]
//
// Order: a task is up to four blocks of 64 queries. Tiles of 66 keys outermost, from key 0 on, so
// that a tile is read once for all blocks while it is in cache; then the blocks; for each block the
// scores, the top lists, softmax, the mix of values. Only O(64 * (d_k + d_v + k)) numbers are kept
// per block, whatever the number of keys. Each query has lanes of its own throughout: its result
// does not depend on its neighbours. Observing reads the tile and changes nothing in it.
#include "kernels/entries.h"
#include "kernels/observe.h"
#include "kernels/softmax.h"
#include "kernels/tile.h"
#include "kernels/unlisted.h"
#include "kernels/values.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class P>
struct Work {
    using T = typename P::Sum;
    Block<T> blocks[kBlocksPerTask];
    Tile<T> tile;
    T *keys, *values, *line;
    Arena arena;

    Work(const Request& r, int64_t rows, void* scratch) : arena{static_cast<char*>(scratch)} {
        constexpr int L = Vec<T>::kLanes;
        const int64_t entries = entries_kept(r, smaller(rows, kRowsPerBlock));
        for (int64_t i = 0; i * kRowsPerBlock < rows; ++i)
            lay_out(blocks[i], arena, r, entries, true);
        lay_out(tile, arena, r);
        keys = arena.take<T>(kKeysPerTile * round_up(r.d_k, L));
        values = arena.take<T>(Values<P>::scratch(r));
        line = arena.take<T>(larger(L * round_up(r.d_k, P::kStep), round_up(r.d_v, L)));
    }
};

template <class P, bool entropy, class T = typename P::Sum>
void see_tile(Work<P>& w, Block<T>& b, const Request& r, Values<P>& values,
              const typename P::Entry* v, int64_t stride) {
    Tile<T>& tile = w.tile;
    const int64_t width = values.rows.padded;
    if (r.observe.top) see_top(b, r, tile.s, tile.largest, tile.begin, tile.keys);
    softmax_tile<P, entropy>(b, tile.largest, tile.panels, tile.keys, tile.s);
    if (tile.seen == Seen::kSome && !values.finite(v, stride, tile.keys)) {
        if (!tile.bytes) read_visible<T>(r, b, 0, tile.begin, tile.keys, nullptr, tile.visible);
        mix_selected<P>(tile.s, tile.visible, v, stride, tile.keys, b.decay, b.first, b.o, width,
                        b.count);
    } else {
        mix_tile<P>(tile.s, v, stride, tile.keys, b.decay, b.first, b.o, width, b.count);
    }
    b.first = false;
}

CLEARHEAD_INLINE int64_t narrow_dense(uint16_t* to, const float* from, Kind kind, int64_t count) {
    using V = Vec<float>;
    int64_t c = 0;
    for (; c + V::kLanes <= count; c += V::kLanes) {
        if (kind == Kind::kFloat16)
            V::to_half(to + c, V::load(from + c));
        else
            V::to_bfloat(to + c, V::load(from + c));
    }
    for (; c < count; ++c)
        to[c] = kind == Kind::kFloat16 ? narrow_half(from[c]) : narrow_bfloat(from[c]);
    return c;
}
CLEARHEAD_INLINE int64_t narrow_dense(uint16_t*, const double*, Kind, int64_t) {
    return 0;
}

// out[row] = o * factor, converted to the kind of the request.
template <class T>
void write_row(const Request& r, int64_t row, const T* o, T factor, bool live, T* line) {
    using V = Vec<T>;
    const int64_t size = size_of(r.kind);
    char* to = static_cast<char*>(r.out) + row * r.d_v * size;
    if (!live) {
        std::memset(to, 0, static_cast<size_t>(r.d_v * size));
        return;
    }
    const bool direct = r.kind == kind_of<T>() && r.d_v % V::kLanes == 0;
    T* scaled = direct ? reinterpret_cast<T*>(to) : line;
    for (int64_t c = 0; c < r.d_v; c += V::kLanes)
        V::store(scaled + c, V::mul(V::load(o + c), V::all(factor)));
    if (direct) return;
    if (r.kind == kind_of<T>())
        std::memcpy(to, line, static_cast<size_t>(r.d_v * size));
    else
        narrow_dense(reinterpret_cast<uint16_t*>(to), line, r.kind, r.d_v);
}

// Divides by the sum, the sink included, and writes all that belongs to the queries of the block.
template <class P, class T = typename P::Sum>
void finish(Work<P>& w, Block<T>& b, const Request& r, int64_t sample, const Normalisers& n) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    constexpr T minus_infinity = -static_cast<T>(__builtin_inf());
    const Observe& see = r.observe;
    const int64_t width = round_up(r.d_v, L);
    T sink[kRowsPerBlock], m[kRowsPerBlock], inverse[kRowsPerBlock], factor[kRowsPerBlock];
    T of_z[kRowsPerBlock], entropy[kRowsPerBlock];
    double shift[kRowsPerBlock];
    int64_t row[kRowsPerBlock];
    for (int lane = 0; lane < b.columns * L; ++lane) {
        const int from = lane < b.count ? lane : 0;
        shift[lane] = r.slopes ? slant_of(r, b, sample, from).shift : 0;
        sink[lane] = r.sinks ? to_log2<T>(r, r.sinks[b.head[from]] - shift[lane]) : minus_infinity;
        row[lane] = (sample * r.heads + b.head[from]) * r.queries + b.position[from];
    }
    const auto none = V::all(minus_infinity);
    for (int at = 0; at < b.columns * L; at += L) {
        const auto live = V::load_mask(b.live + at);
        const auto before = b.first ? none : V::load(b.m + at);
        const auto sums = b.first ? V::zero() : V::load(b.l + at);
        auto most = before, extra = V::zero(), shrink = V::all(1), gap = V::zero();
        auto base = V::select(V::equal(most, none), V::zero(), most);
        if (r.sinks) {
            const auto of_sink = V::load(sink + at);
            most = V::max(of_sink, before);
            base = V::select(V::equal(most, none), V::zero(), most);
            gap = cut<T>(V::sub(before, base));
            shrink = exp2_cut<T>(gap);
            extra = exp2<T>(V::sub(of_sink, base));
        }
        const auto z = V::fma(sums, shrink, extra);
        const auto part = V::select(live, V::div(V::all(1), z), V::zero());
        V::store(m + at, base);
        V::store(inverse + at, part);
        V::store(factor + at, V::mul(part, shrink));
        if (!see.lse && !see.entropy) continue;
        const auto logs = ln<T>(z);
        V::store(of_z + at, logs);
        if (!see.entropy) continue;
        const auto slope = b.first ? V::zero() : V::fma(sums, gap, V::load(b.t + at));
        const auto inner = V::fma(slope, V::all(T(-kLn2)), V::mul(sums, logs));
        V::store(entropy + at, V::select(live, V::mul(V::mul(inner, shrink), part), V::zero()));
    }
    for (int lane = 0; lane < b.count; ++lane) {
        write_row(r, row[lane], b.o + lane * width, factor[lane], b.live[lane], w.line);
        if (see.visible) see.visible[row[lane]] = b.live[lane];
        if (see.lse) {
            const double of_sink = r.sinks ? r.sinks[b.head[lane]] : -__builtin_inf();
            const bool sunk = r.sinks && m[lane] == sink[lane];  // the sink is the largest
            const double most = sunk ? of_sink : from_log2<T>(r, m[lane]) + shift[lane];
            static_cast<T*>(see.lse)[row[lane]] =
                static_cast<T>(!b.live[lane] ? of_sink : absolute<T>(most, of_z[lane]));
        }
        if (see.entropy) static_cast<T*>(see.entropy)[row[lane]] = entropy[lane];
        if (!n.largest) continue;
        static_cast<T*>(n.largest)[row[lane]] = m[lane];
        static_cast<T*>(n.inverse)[row[lane]] = inverse[lane];
    }
    if (!see.top) return;
    write_top(b, r, row, m, inverse);
    if (r.keys) list_the_rest(w.tile, b, r, sample, row, inverse);
}

template <class P, bool entropy>
void run_task(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using T = typename P::Sum;
    Work<P> w(r, task.end - task.begin, scratch);
    const int64_t sample = task.sample;
    int blocks = 0;
    int64_t first = kFar, last = -1;  // the keys that any block reaches
    for (int64_t begin = task.begin; begin < task.end; begin += kRowsPerBlock) {
        Block<T>& b = w.blocks[blocks++];
        choose_rows(b, r, sample, task.first_head, begin, smaller(begin + kRowsPerBlock, task.end),
                    nullptr);
        std::memset(b.live, 0, kRowsPerBlock);
        first = smaller(first, b.low_min);
        last = larger(last, b.high_max);
        if (b.low_min <= b.high_max) read_queries<P>(b, r, query_factor<T>(r), w.line);
    }
    if (first <= last) {
        const int64_t head = task.first_head / (r.heads / r.key_heads);
        const auto keys = keys_of<P>(r, sample, head, w.keys);
        Values<P> values(r, sample, head, w.values);
        first = first / P::kStep * P::kStep;
        for (int64_t at = first / kKeysPerTile * kKeysPerTile; at <= last; at += kKeysPerTile) {
            const int64_t begin = larger(at, first);
            const int64_t end = smaller(at + kKeysPerTile, last + 1);
            int64_t k_stride = 0, v_stride = 0;
            const typename P::Entry *k = nullptr, *v = nullptr;
            for (Block<T>* b = w.blocks; b < w.blocks + blocks; ++b) {
                if (end <= b->low_min || begin > b->high_max) continue;
                if (!k) {
                    k = keys.tile(begin, end, &k_stride);
                    v = values.tile(begin, end, &v_stride);
                }
                if (!fill<P>(w.tile, *b, r, sample, k, k_stride, begin, end)) continue;
                const int64_t steps = (w.tile.begin - begin) / P::kStep;
                see_tile<P, entropy>(w, *b, r, values, v + steps * v_stride, v_stride);
            }
        }
    }
    for (int i = 0; i < blocks; ++i) finish(w, w.blocks[i], r, sample, n);
}

}  // namespace

// Plain functions, since an instance of a template would be a weak symbol.
size_t forward_scratch_float(const Request& r, int64_t rows) {
    return Work<Singles<float>>(r, rows, nullptr).arena.used;
}
size_t forward_scratch_double(const Request& r, int64_t rows) {
    return Work<Singles<double>>(r, rows, nullptr).arena.used;
}
size_t forward_scratch_bfloat(const Request& r, int64_t rows) {
    return Work<BFloats>(r, rows, nullptr).arena.used;
}

void forward_float(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = Singles<float>;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}
void forward_double(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = Singles<double>;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}
void forward_bfloat(const Request& r, const Task& task, const Normalisers& n, void* scratch) {
    using P = BFloats;
    (r.observe.entropy ? run_task<P, true> : run_task<P, false>)(r, task, n, scratch);
}

}  // namespace clearhead::CLEARHEAD_ISA
