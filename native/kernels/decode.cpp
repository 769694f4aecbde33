// The first pass of a thin unit: a few queries, many keys, as when a text is written word by word.
//
//   out[i] = sum over parts of 2^(m_part - m) * (sum over j in part of 2^(s[i][j] - m_part) v[j]) /
//   Z
//
// Order: a task owns one part of the keys, 16 tiles, and leaves m, l, t, o and the lists of its
// queries; where there are several parts, `join` adds them up from the first to the last, as
// softmax.h does with tiles. Parts begin at multiples of their size from key 0: what is summed with
// what depends on the number of valid keys and on nothing else. Within a part the tiles, and for
// each tile the scores, the top lists, softmax and the mix, as in forward.cpp; thin.h has the
// products.
#include "kernels/entries.h"
#include "kernels/finish.h"
#include "kernels/mix.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

template <class T>
struct Thin {
    Block<T> block;
    Tile<T> tile;
    T *keys, *values, *line;
    Arena arena;

    Thin(const Request& r, void* scratch, void* sums) : arena{static_cast<char*>(scratch)} {
        constexpr int L = Vec<T>::kLanes;
        lay_out_queries(block, arena, r, kThinRows);
        if (sums) {
            take_sums(block, r, sums);
        } else {
            lay_out_sums(block, arena, r, kThinRows, entries_kept(r, kThinRows));
        }
        lay_out(tile, arena, r);
        keys = arena.take<T>(kKeysPerTile * round_up(r.d_k, L));
        values = arena.take<T>(kKeysPerTile * round_up(r.d_v, L));
        line = arena.take<T>(larger(L * r.d_k, round_up(r.d_v, L)));
    }

    static size_t take_sums(Block<T>& b, const Request& r, void* sums) {
        Arena arena{static_cast<char*>(sums)};
        lay_out_sums(b, arena, r, kThinRows, entries_kept(r, kThinRows));
        return arena.used;
    }
};

// The rows of keys or values where they lie, if they can be read there.
template <class T>
bool stream_of(const Request& r, const Array& a, int64_t sample, int64_t head, int64_t width,
               Stream<T>* out) {
    *out = {place(r, a, sample, head), a.kind, a.row, 0};
    const bool known =
        a.kind == kind_of<T>() ||
        (sizeof(T) == sizeof(float) && (a.kind == Kind::kFloat16 || a.kind == Kind::kBFloat16));
    return known && (a.column == 1 || width == 1) && width % Vec<T>::kLanes == 0;
}

// A stream from row `begin` on, of which `rows` are to be fetched.
template <class T>
CLEARHEAD_INLINE Stream<T> from_row(const Stream<T>& s, int64_t begin, int64_t rows) {
    return {s.at(begin), s.kind, s.row, rows};
}

template <class T, bool entropy>
void run_part(const Request& r, const Task& task, const Part& part, const Normalisers& n,
              void* scratch) {
    constexpr int L = Vec<T>::kLanes;
    Thin<T> w(r, scratch, part.sums);
    Block<T>& b = w.block;
    Tile<T>& tile = w.tile;
    const int64_t sample = task.sample;
    choose_rows(b, r, task, task.begin, task.end, nullptr);
    std::memset(b.live, 0, kRowsPerBlock);
    const int64_t first = larger(b.low_min, part.begin);
    const int64_t last = smaller(b.high_max, part.end - 1);
    if (first <= last) {
        // Lanes without a query are computed along: they hold numbers, whatever these are.
        std::memset(tile.s, 0, kKeysPerTile * kRowsPerBlock * sizeof(T));
        read_queries<Singles<T>>(b, r, query_factor<T>(r), w.line);
        const int64_t head = task.first_head / (r.heads / r.key_heads);
        const auto key_rows = keys_of<Singles<T>>(r, sample, head, w.keys);
        const auto value_rows = rows_of(r, r.value, sample, head, r.d_v, L, w.values);
        const int64_t width = value_rows.padded;
        Stream<T> keys, values;
        const bool keys_lie = stream_of(r, r.key, sample, head, r.d_k, &keys);
        const bool values_lie = stream_of(r, r.value, sample, head, r.d_v, &values);
        for (int64_t at = first / kKeysPerTile * kKeysPerTile; at <= last; at += kKeysPerTile) {
            const int64_t begin = larger(at, first);
            const int64_t end = smaller(at + kKeysPerTile, last + 1);
            const auto score = [&] {
                const Stream<T> ahead = from_row(values, tile.begin, values_lie ? tile.keys : 0);
                if (keys_lie) {
                    score_thin(b, tile.lanes, from_row(keys, tile.begin, 0), r.d_k, tile.keys,
                               tile.s, ahead);
                    return;
                }
                int64_t stride = 0;
                const T* k = key_rows.tile(tile.begin, tile.begin + tile.keys, &stride);
                score_thin(b, tile.lanes,
                           Stream<T>{reinterpret_cast<const char*>(k), kind_of<T>(), stride, 0},
                           r.d_k, tile.keys, tile.s, ahead);
            };
            if (!fill<Singles<T>>(tile, b, r, sample, begin, end, score)) continue;
            if (r.observe.top)
                see_top(b, tile.lanes, r, tile.s, tile.largest, tile.begin, tile.keys);
            softmax_tile<Singles<T>, entropy>(b, tile.lanes, tile.largest, tile.panels, tile.keys,
                                              tile.s);
            const int64_t more = keys_lie ? smaller(kKeysPerTile, last + 1 - end) : 0;
            Stream<T> ahead = from_row(keys, end, more);
            bool selected = false, copied = false;
            int64_t stride = 0;
            const T* v = nullptr;
            if (tile.seen == Seen::kSome || !values_lie) {
                v = value_rows.tile(tile.begin, tile.begin + tile.keys, &stride);
                copied = true;
                selected = tile.seen == Seen::kSome &&
                           !all_finite<Singles<T>>(v, stride, tile.keys, width);
            }
            if (selected && !tile.bytes)
                read_visible<T>(r, b, tile.lanes, sample, tile.begin, tile.keys, nullptr,
                                tile.visible);
            const Stream<T> from =
                copied ? Stream<T>{reinterpret_cast<const char*>(v), kind_of<T>(), stride, 0}
                       : from_row(values, tile.begin, 0);
            Lanes lanes = tile.lanes;
            for (Lanes run = next_run(b, lanes); run.begin < run.end; run = next_run(b, lanes)) {
                const int lane = run.begin, rows = queries_in(b, run);
                const bool fresh = is_fresh(b, lane);
                T* o = b.o + lane * width;
                if (selected)
                    mix_selected<Singles<T>>(tile.s + lane, tile.visible + lane, v, stride,
                                             tile.keys, b.decay + lane, fresh, o, width, rows);
                else
                    mix_thin(tile.s + lane, from, tile.keys, b.decay + lane, fresh, o, width, rows,
                             ahead);
                ahead.rows = 0;
                lanes.begin = run.end;
            }
            touch(b, tile.lanes);
        }
    }
    if (!part.sums) {
        finish(tile, w.line, b, r, sample, n);
        return;
    }
    settle(b, r);
    const int64_t width = round_up(r.d_v, L);
    for (int lane = 0; lane < b.count; ++lane)
        if (is_fresh(b, lane))
            std::memset(b.o + lane * width, 0, static_cast<size_t>(width) * sizeof(T));
}

// Two sorted lists of one query, [rank][lane], into the first: ties stay with the earlier keys.
template <class T>
void join_lists(const Block<T>& a, const Block<T>& b, int lane, int64_t kept) {
    T scores[kLongestList], keys[kLongestList];
    int64_t of_a = lane, of_b = lane;
    for (int64_t k = 0; k < kept; ++k) {
        const bool later = b.top_scores[of_b] > a.top_scores[of_a];
        const Block<T>& from = later ? b : a;
        int64_t& at = later ? of_b : of_a;
        scores[k] = from.top_scores[at];
        std::memcpy(keys + k, from.top_keys + at, sizeof(T));
        at += kRowsPerBlock;
    }
    for (int64_t k = 0; k < kept; ++k) {
        a.top_scores[lane + k * kRowsPerBlock] = scores[k];
        std::memcpy(a.top_keys + lane + k * kRowsPerBlock, keys + k, sizeof(T));
    }
}

template <class T>
void join_top(Block<T>& a, const Block<T>& b, const Request& r) {
    const int64_t kept = ranks_kept(r), most = smaller(r.observe.top, r.keys);
    for (int lane = 0; lane < a.count; ++lane) {
        if (kept <= kLongestList) {
            join_lists(a, b, lane, kept);
            continue;
        }
        T* score = b.top_scores + lane * kept;
        T* key = b.top_keys + lane * kept;
        sort_heap(score, key, b.top_filled[lane]);  // so that of equal scores the earlier stay
        for (int64_t k = 0; k < b.top_filled[lane]; ++k)
            heap_add(a, lane, score[k], key + k, most, kept);
    }
}

// Adds the sums of later keys, b, to those of earlier ones, a.
template <class T>
void join_sums(Block<T>& a, const Block<T>& b, const Request& r) {
    using V = Vec<T>;
    constexpr int L = V::kLanes;
    const auto none = V::all(-static_cast<T>(__builtin_inf()));
    T of_a[kRowsPerBlock], of_b[kRowsPerBlock];
    for (int at = 0; at < a.columns * L; at += L) {
        const auto m_a = V::load(a.m + at), m_b = V::load(b.m + at);
        const auto m = V::max(m_a, m_b);
        const auto base = V::select(V::equal(m, none), V::zero(), m);
        const auto gap_a = cut<T>(V::sub(m_a, base)), gap_b = cut<T>(V::sub(m_b, base));
        const auto decay_a = exp2_cut<T>(gap_a), decay_b = exp2_cut<T>(gap_b);
        const auto l_a = V::load(a.l + at), l_b = V::load(b.l + at);
        V::store(of_a + at, decay_a);
        V::store(of_b + at, decay_b);
        V::store(a.m + at, m);
        V::store(a.l + at, V::fma(l_a, decay_a, V::mul(l_b, decay_b)));
        V::store_mask(a.live + at, V::either(V::load_mask(a.live + at), V::load_mask(b.live + at)));
        if (!r.observe.entropy) continue;
        const auto t_a = V::fma(l_a, gap_a, V::load(a.t + at));
        const auto t_b = V::fma(l_b, gap_b, V::load(b.t + at));
        V::store(a.t + at, V::fma(t_a, decay_a, V::mul(t_b, decay_b)));
    }
    const int64_t width = round_up(r.d_v, L);
    for (int lane = 0; lane < a.count; ++lane) {
        const auto decay_a = V::all(of_a[lane]), decay_b = V::all(of_b[lane]);
        for (int64_t c = lane * width; c < (lane + 1) * width; c += L)
            V::store(a.o + c, V::fma(V::load(a.o + c), decay_a, V::mul(V::load(b.o + c), decay_b)));
    }
}

template <class T>
void join(const Request& r, const Task& task, void* sums, int64_t count, const Normalisers& n,
          void* scratch) {
    Thin<T> w(r, scratch, sums);
    Block<T>& a = w.block;
    choose_rows(a, r, task, task.begin, task.end, nullptr);
    a.fresh = 0;
    Block<T> b;
    const size_t bytes = Thin<T>::take_sums(b, r, nullptr);
    for (int64_t i = 1; i < count; ++i) {
        Thin<T>::take_sums(b, r, static_cast<char*>(sums) + static_cast<size_t>(i) * bytes);
        join_sums(a, b, r);
        if (r.observe.top) join_top(a, b, r);
    }
    finish(w.tile, w.line, a, r, task.sample, n);
}

}  // namespace

size_t thin_scratch_float(const Request& r) {
    return Thin<float>(r, nullptr, nullptr).arena.used;
}
size_t thin_scratch_double(const Request& r) {
    return Thin<double>(r, nullptr, nullptr).arena.used;
}
size_t sums_size_float(const Request& r) {
    Block<float> b;
    return Thin<float>::take_sums(b, r, nullptr);
}
size_t sums_size_double(const Request& r) {
    Block<double> b;
    return Thin<double>::take_sums(b, r, nullptr);
}

void thin_float(const Request& r, const Task& task, const Part& part, const Normalisers& n,
                void* scratch) {
    (r.observe.entropy ? run_part<float, true> : run_part<float, false>)(r, task, part, n, scratch);
}
void thin_double(const Request& r, const Task& task, const Part& part, const Normalisers& n,
                 void* scratch) {
    (r.observe.entropy ? run_part<double, true> : run_part<double, false>)(r, task, part, n,
                                                                           scratch);
}

void join_float(const Request& r, const Task& task, void* sums, int64_t count, const Normalisers& n,
                void* scratch) {
    join<float>(r, task, sums, count, n, scratch);
}
void join_double(const Request& r, const Task& task, void* sums, int64_t count,
                 const Normalisers& n, void* scratch) {
    join<double>(r, task, sums, count, n, scratch);
}

}  // namespace clearhead::CLEARHEAD_ISA
