// One call of the native interface, all its memory, and who may look at whom in it.
#pragma once

#include <string>
#include <vector>

#include "numbers.h"

namespace cases {

using clearhead::Request;

// What a call writes. Every byte is 0xa5 before it, so that what it leaves out is seen.
struct Outputs {
    std::vector<char> out, visible, top_keys, top_weights, entropy, lse, received, map, rows,
        weights;

    auto all() const {
        return std::vector<const std::vector<char>*>{&out,     &visible, &top_keys, &top_weights,
                                                     &entropy, &lse,     &received, &map,
                                                     &rows,    &weights};
    }
};

struct Case {
    Request request{};
    Numbers query, key, value, allowed, bias;
    std::vector<int64_t> low, high, key_lengths, query_lengths, anchor, rows;
    std::vector<int32_t> key_segments, query_segments;
    std::vector<double> slopes, sinks;
    std::vector<char> visible;  // (B, H, N, M)
    Outputs outputs;
    std::string told;                // all of it, for whoever meets a wrong case
    std::vector<std::string> drawn;  // what is counted over all cases
    Random random;

    Case(uint64_t seed, Kind kind) : random{seed * 4 + static_cast<uint64_t>(kind)} {
        request.kind = kind;
    }
    Case(const Case&) = delete;

    void tell(const char* name, int64_t number) {
        told += std::string(" ") + name + "=" + std::to_string(number);
    }
    void tell(const char* name) {
        told += std::string(" ") + name;
        drawn.push_back(name);
    }

    int64_t wide() const {  // bytes of a number of what is seen
        return request.kind == Kind::kFloat64 ? 8 : 4;
    }
    int64_t group() const { return request.heads / request.key_heads; }
    int64_t inner() const { return request.batch_axes == 2 ? request.batch_shape[1] : 0; }
    size_t row_of(int64_t b, int64_t h, int64_t i) const {
        return static_cast<size_t>((b * request.heads + h) * request.queries + i);
    }

    bool may_look(int64_t b, int64_t h, int64_t i, int64_t j) {
        const clearhead::Mask& m = request.mask;
        if (m.low && (j < i + m.low[b] || j > i + m.high[b])) return false;
        if (m.key_lengths && j >= m.key_lengths[b]) return false;
        if (m.query_lengths && i >= m.query_lengths[b]) return false;
        if (m.key_segments) {
            const int32_t of_key = m.key_segments[b * request.keys + j];
            if (of_key == -1 || of_key != m.query_segments[b * request.queries + i]) return false;
        }
        if (m.allowed.data && allowed(b, h, i, j) == 0) return false;
        return !request.bias.data || bias(b, h, i, j) != -HUGE_VAL;
    }

    void look() {  // fills `visible`
        const Request& r = request;
        visible.clear();
        visible.reserve(static_cast<size_t>(r.batch * r.heads * r.queries * r.keys));
        for (int64_t b = 0; b < r.batch; ++b)
            for (int64_t h = 0; h < r.heads; ++h)
                for (int64_t i = 0; i < r.queries; ++i)
                    for (int64_t j = 0; j < r.keys; ++j) visible.push_back(may_look(b, h, i, j));
    }
};

}  // namespace cases
