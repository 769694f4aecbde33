// The answer to a call in float64, pair by pair as the definition says, and whether what the
// kernels wrote is near enough.
//
// Held to the same as the fused pass in tests/core/test_fused.py and tests/support/observations.py.
#pragma once

#include <algorithm>
#include <cstdio>

#include "case.h"

namespace cases {

struct Judge {
    Case& c;
    const Request& r;
    std::vector<double> query, key, value;           // dense: (B, H, N, d_k), (B, H_kv, M, d)
    std::vector<double> weights, out, entropy, lse;  // (B, H, N, M), (B, H, N, d_v), (B, H, N)
    std::vector<double> size;                        // (B, H, N, d_v) of p |v|
    std::vector<char> live;                          // (B, H, N)
    double largest = 0;                              // of all scores that count, without its sign
    int faults = 0;

    explicit Judge(Case& of)
        : c(of),
          r(of.request),
          query(of.query.plain()),
          key(of.key.plain()),
          value(of.value.plain()) {
        const auto queries = static_cast<size_t>(r.batch * r.heads * r.queries);
        weights.assign(queries * static_cast<size_t>(r.keys), 0);
        out.assign(queries * static_cast<size_t>(r.d_v), 0);
        size = out;
        entropy.assign(queries, 0);
        lse.assign(queries, -HUGE_VAL);
        live.assign(queries, 0);
        for (int64_t b = 0; b < r.batch; ++b)
            for (int64_t h = 0; h < r.heads; ++h)
                for (int64_t i = 0; i < r.queries; ++i) answer(b, h, i);
    }

    // Key j of the head that query head h looks at, in `key` or `value`.
    const double* row(const std::vector<double>& of, int64_t width, int64_t b, int64_t h,
                      int64_t j) const {
        return of.data() + ((b * r.key_heads + h / c.group()) * r.keys + j) * width;
    }

    double score(int64_t b, int64_t h, int64_t i, int64_t j) {
        const double* q = query.data() + c.row_of(b, h, i) * static_cast<size_t>(r.d_k);
        const double* k = row(key, r.d_k, b, h, j);
        double s = 0;
        for (int64_t e = 0; e < r.d_k; ++e) s += q[e] * k[e];
        s *= r.scale;
        if (r.softcap != 0) s = r.softcap * std::tanh(s / r.softcap);
        if (r.bias.data) s += c.bias(b, h, i, j);
        if (r.slopes) s -= r.slopes[h] * static_cast<double>(std::abs(i + r.anchor[b] - j));
        return s;
    }

    void answer(int64_t b, int64_t h, int64_t i) {
        const size_t at = c.row_of(b, h, i);
        double* p = weights.data() + at * static_cast<size_t>(r.keys);
        const char* may = c.visible.data() + at * static_cast<size_t>(r.keys);
        double most = r.sinks ? r.sinks[h] : -HUGE_VAL;
        for (int64_t j = 0; j < r.keys; ++j) {
            if (!may[j]) continue;
            live[at] = 1;
            p[j] = score(b, h, i, j);
            largest = std::max(largest, std::fabs(p[j]));
            most = std::max(most, p[j]);
        }
        if (r.sinks) lse[at] = r.sinks[h];
        if (!live[at]) return;
        double sum = r.sinks ? std::exp(r.sinks[h] - most) : 0;
        for (int64_t j = 0; j < r.keys; ++j)
            if (may[j]) sum += std::exp(p[j] - most);
        lse[at] = most + std::log(sum);
        for (int64_t j = 0; j < r.keys; ++j) {
            if (!may[j]) continue;
            const double log_p = p[j] - lse[at];
            p[j] = std::exp(log_p);
            entropy[at] -= p[j] * log_p;
            const double* v = row(value, r.d_v, b, h, j);
            double* to = out.data() + at * static_cast<size_t>(r.d_v);
            double* sizes = size.data() + at * static_cast<size_t>(r.d_v);
            for (int64_t e = 0; e < r.d_v; ++e) {
                to[e] += p[j] * v[e];
                sizes[e] += std::fabs(p[j] * v[e]);
            }
        }
    }

    void hold(const char* name, size_t at, double found, double right, double allowed) {
        if (std::fabs(found - right) <= allowed || found == right) return;
        if (!faults++)
            std::printf("%s[%zu]: found %.9g, wanted %.9g, allowed %.1e\n", name, at, found, right,
                        allowed);
    }

    double seen(const std::vector<char>& bytes, size_t at) const {
        const auto size = static_cast<size_t>(c.wide());
        return read(bytes.data() + at * size, size == 8 ? Kind::kFloat64 : Kind::kFloat32);
    }

    // A score is rounded where it is large, and its exponential is off by as much.
    double of_scores() const { return largest * (r.kind == Kind::kFloat64 ? 0x1p-52 : 0x1p-23); }

    double tolerance(double of_float) const {
        const double usual = r.kind == Kind::kFloat64   ? 1e-11
                             : r.kind == Kind::kFloat32 ? of_float
                                                        : 2e-3;
        return usual + of_scores();
    }

    void near(const char* name, const std::vector<char>& bytes, const std::vector<double>& right,
              double of_float) {
        const double most = tolerance(of_float);
        for (size_t at = 0; at < right.size(); ++at)
            hold(name, at, seen(bytes, at), right[at], most * (1 + std::fabs(right[at])));
    }

    void hold_output() {
        const double half = r.kind == Kind::kFloat16 ? 0x1p-11 : 0x1p-8;
        const double rounding = size_of(r.kind) == 2 ? half : 0;
        // Where weights are rounded before they meet the values: half a unit in their last place.
        bool pairs = false;
        for (const char* isa : {"avx512bf16", "amx"})
            pairs |= r.kind == Kind::kBFloat16 && !std::strcmp(clearhead::isa(), isa);
        const double of_weights = pairs ? half : 0;
        const double least = r.kind == Kind::kFloat16 ? 0x1p-25 : 2e-38;
        double most = 0;
        for (const double x : out) most = std::max(most, std::fabs(x));
        const double error = ((r.kind == Kind::kFloat64 ? 1e-12 : 5e-6) + of_scores()) * most;
        for (size_t at = 0; at < out.size(); ++at)
            hold("out", at,
                 read(c.outputs.out.data() + at * static_cast<size_t>(size_of(r.kind)), r.kind),
                 out[at], error + rounding * std::fabs(out[at]) + of_weights * size[at] + least);
    }

    // Keys of nearly equal weight may change places; each comes once, and with its own weight.
    void hold_top() {
        const auto top = static_cast<size_t>(r.observe.top);
        const auto keys = static_cast<size_t>(r.keys);
        for (size_t row = 0; top && row < live.size(); ++row) {
            std::vector<double> best;
            for (size_t j = 0; j < keys; ++j)
                if (c.visible[row * keys + j]) best.push_back(weights[row * keys + j]);
            std::sort(best.rbegin(), best.rend());
            std::vector<char> listed(keys, 0);
            for (size_t k = 0; k < top; ++k) {
                const size_t at = row * top + k;
                int32_t key;
                std::memcpy(&key, c.outputs.top_keys.data() + at * sizeof key, sizeof key);
                const double weight = seen(c.outputs.top_weights, at);
                if (k >= best.size()) {
                    hold("top_keys beyond the last", at, key, -1, 0);
                    hold("top_weights beyond the last", at, weight, 0, 0);
                    continue;
                }
                const bool real = key >= 0 && static_cast<size_t>(key) < keys;
                hold("top_keys that are keys", at, real, 1, 0);
                if (!real) continue;
                const size_t pair = row * keys + static_cast<size_t>(key);
                hold("top_keys that are new and visible", at,
                     c.visible[pair] && !listed[static_cast<size_t>(key)], 1, 0);
                listed[static_cast<size_t>(key)] = 1;
                hold("top_weights by rank", at, weight, best[k], tolerance(2e-5));
                hold("top_weights by key", at, weight, weights[pair], tolerance(2e-5));
                if (r.observe.weights_out)
                    hold("top_weights beside weights", at, weight, seen(c.outputs.weights, pair),
                         0);
            }
        }
    }

    std::vector<double> received() const {
        std::vector<double> sums(static_cast<size_t>(r.batch * r.heads * r.keys), 0);
        for (int64_t b = 0; b < r.batch; ++b)
            for (int64_t h = 0; h < r.heads; ++h) {
                const int64_t end = r.mask.query_lengths ? r.mask.query_lengths[b] : r.queries;
                const int64_t last = r.observe.received_last;
                const int64_t begin = last < 0 ? 0 : std::max<int64_t>(0, end - last);
                double counted = 0;
                for (int64_t i = begin; i < end; ++i) counted += live[c.row_of(b, h, i)];
                double* to = sums.data() + (b * r.heads + h) * r.keys;
                for (int64_t i = begin; i < end; ++i)
                    for (int64_t j = 0; j < r.keys; ++j)
                        to[j] += weights[c.row_of(b, h, i) * static_cast<size_t>(r.keys) +
                                         static_cast<size_t>(j)] /
                                 std::max(1.0, counted);
            }
        return sums;
    }

    std::vector<double> map() const {
        const int64_t tall = r.observe.map_queries, broad = r.observe.map_keys;
        const int64_t down = (r.queries + tall - 1) / tall, across = (r.keys + broad - 1) / broad;
        std::vector<double> sums(static_cast<size_t>(r.batch * r.heads * down * across), 0);
        for (int64_t head = 0; head < r.batch * r.heads; ++head)
            for (int64_t i = 0; i < r.queries; ++i) {
                double counted = 0;
                const int64_t begin = i / tall * tall, end = std::min(r.queries, begin + tall);
                for (int64_t other = begin; other < end; ++other)
                    counted += live[static_cast<size_t>(head * r.queries + other)];
                for (int64_t j = 0; j < r.keys; ++j)
                    sums[static_cast<size_t>((head * down + i / tall) * across + j / broad)] +=
                        weights[static_cast<size_t>((head * r.queries + i) * r.keys + j)] /
                        std::max(1.0, counted);
            }
        return sums;
    }

    std::vector<double> rows() const {
        std::vector<double> chosen;
        for (int64_t head = 0; head < r.batch * r.heads; ++head)
            for (int64_t i = 0; i < r.observe.row_count; ++i)
                for (int64_t j = 0; j < r.keys; ++j)
                    chosen.push_back(weights[static_cast<size_t>(
                        (head * r.queries + r.observe.rows[i]) * r.keys + j)]);
        return chosen;
    }

    bool passes() {
        const clearhead::Observe& see = r.observe;
        hold_output();
        for (size_t at = 0; see.visible && at < live.size(); ++at)
            hold("visible", at, c.outputs.visible[at], live[at], 0);
        if (see.weights_out) near("weights", c.outputs.weights, weights, 2e-5);
        if (see.lse) near("lse", c.outputs.lse, lse, 2e-5);
        if (see.entropy) near("entropy", c.outputs.entropy, entropy, 2e-5);
        if (see.rows_out) near("rows", c.outputs.rows, rows(), 2e-5);
        if (see.received) near("received", c.outputs.received, received(), 1e-4);
        if (see.map) near("map", c.outputs.map, map(), 1e-4);
        hold_top();
        return !faults;
    }
};

}  // namespace cases
