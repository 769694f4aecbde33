// Adding up the parts of a thin unit: the sums and lists of later keys to those of earlier ones.
//
//   m = max(m_a, m_b)     l = l_a * 2^(m_a - m) + l_b * 2^(m_b - m)     t and o alike
//
// as softmax.h does with tiles.
#pragma once

#include "kernels/finish.h"

namespace clearhead::CLEARHEAD_ISA {
namespace {

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

}  // namespace
}  // namespace clearhead::CLEARHEAD_ISA
