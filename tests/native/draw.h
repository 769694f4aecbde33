// A random call of the native interface: shapes, layouts, masks, every option, all observations,
// and the memory of them all.
#pragma once

#include <string>

#include "random.h"

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
    Outputs outputs;
    std::string told;

    explicit Case(uint64_t seed) : random_{seed} {
        Request& r = request;
        shapes(r);
        arrays(r);
        masks(r);
        extras(r);
        observations(r);
    }
    Case(const Case&) = delete;

    int64_t wide() const {
        return request.kind == Kind::kFloat64 ? 8 : 4;
    }  // bytes of what is seen

  private:
    Random random_;

    void tell(const char* name, int64_t number) {
        told += std::string(" ") + name + "=" + std::to_string(number);
    }

    void shapes(Request& r) {
        const int64_t lengths[] = {0, 1, 2, 3, 7, 16, 31, 33, 64, 65, 66, 67, 100, 129, 150};
        const int64_t widths[] = {1, 2, 3, 4, 8, 13, 16, 17, 31, 32, 48, 64, 65, 80};
        r.kind = static_cast<Kind>(random_.below(4));
        r.batch_axes = static_cast<int>(random_.below(3));
        r.batch = 1;
        for (int axis = 0; axis < r.batch_axes; ++axis)
            r.batch *= r.batch_shape[axis] = 1 + random_.below(2);
        r.key_heads = 1 + random_.below(2);
        r.heads = r.key_heads * (1 + random_.below(3));
        const bool decoding = random_.chance(0.15);  // a few queries beside many keys
        r.queries = decoding ? 1 + random_.below(4) : random_.of(lengths);
        r.keys = decoding ? 500 + random_.below(2000) : random_.of(lengths);
        r.d_k = random_.of(widths);
        r.d_v = random_.of(widths);
        const double usual = 1 / std::sqrt(static_cast<double>(r.d_k));
        const double scales[] = {usual, usual, 0, -usual, 2 * usual};
        const double caps[] = {0.5, 5, 50};
        r.scale = random_.of(scales);
        r.softcap = random_.chance(0.2) ? random_.of(caps) : 0;
        tell("kind", static_cast<int>(r.kind));
        tell("batch", r.batch);
        tell("heads", r.heads);
        tell("key_heads", r.key_heads);
        tell("queries", r.queries);
        tell("keys", r.keys);
        tell("d_k", r.d_k);
        tell("d_v", r.d_v);
        told += " scale=" + std::to_string(r.scale) + " softcap=" + std::to_string(r.softcap);
    }

    void lay_out(Numbers& to, Kind kind, int64_t heads, int64_t rows, int64_t columns) {
        const Request& r = request;
        to.lay_out(random_, kind, r.batch, r.batch_axes == 2 ? r.batch_shape[1] : 0, heads, rows,
                   columns);
    }

    template <class Draw>
    void fill(Numbers& to, int64_t heads, int64_t rows, int64_t columns, Draw draw) {
        for (int64_t b = 0; b < request.batch; ++b)
            for (int64_t h = 0; h < heads; ++h)
                for (int64_t i = 0; i < rows; ++i)
                    for (int64_t c = 0; c < columns; ++c)
                        write(to.at(b, h, i, c), to.array.kind, draw());
    }

    void numbers(Numbers& to, int64_t heads, int64_t rows, int64_t columns) {
        lay_out(to, request.kind, heads, rows, columns);
        fill(to, heads, rows, columns, [&] { return random_.normal(); });
    }

    void arrays(Request& r) {
        numbers(query, r.heads, r.queries, r.d_k);
        numbers(key, r.key_heads, r.keys, r.d_k);
        numbers(value, r.key_heads, r.keys, r.d_v);
        r.query = query.array;
        r.key = key.array;
        r.value = value.array;
    }

    template <class Draw>
    void per_sample(std::vector<int64_t>& to, const int64_t*& field, Draw draw) {
        for (int64_t b = 0; b < request.batch; ++b) to.push_back(draw());
        field = to.data();
    }

    void masks(Request& r) {
        if (random_.chance(0.4)) {
            tell("band", 1);
            const int64_t left = random_.below(50), right = random_.below(3) * random_.below(40);
            const bool causal = random_.chance(0.5);
            per_sample(low, r.mask.low, [&] { return causal ? -1000 : -left; });
            per_sample(high, r.mask.high, [&] { return causal ? r.keys - r.queries : right; });
        }
        if (random_.chance(0.4)) {
            tell("lengths", 1);
            per_sample(key_lengths, r.mask.key_lengths, [&] { return random_.below(r.keys + 1); });
            if (random_.chance(0.5))
                per_sample(query_lengths, r.mask.query_lengths,
                           [&] { return random_.below(r.queries + 1); });
            poison();
        }
        if (random_.chance(0.25)) {
            tell("segments", 1);
            for (int64_t i = 0; i < r.batch * r.keys; ++i)
                key_segments.push_back(static_cast<int32_t>(random_.below(4) - 1));
            for (int64_t i = 0; i < r.batch * r.queries; ++i)
                query_segments.push_back(static_cast<int32_t>(random_.below(4) - 1));
            key_segments.push_back(0);  // so that the address of none is one
            query_segments.push_back(0);
            r.mask.key_segments = key_segments.data();
            r.mask.query_segments = query_segments.data();
        }
        if (random_.chance(0.3)) {
            tell("allowed", 1);
            const double densities[] = {0.1, 0.5, 0.95};
            const double density = random_.of(densities);
            lay_out(allowed, Kind::kBool, r.heads, r.queries, r.keys);
            fill(allowed, r.heads, r.queries, r.keys,
                 [&] { return random_.chance(density) ? 1.0 : 0.0; });
            r.mask.allowed = allowed.array;
        }
    }

    void poison() {  // what lies beyond a length never reaches a result
        for (int64_t b = 0; b < request.batch; ++b)
            for (int64_t h = 0; h < request.key_heads; ++h)
                for (int64_t j = key_lengths[static_cast<size_t>(b)]; j < request.keys; ++j) {
                    for (int64_t c = 0; c < request.d_k; ++c)
                        write(key.at(b, h, j, c), request.kind,
                              random_.chance(0.5) ? NAN : HUGE_VAL);
                    for (int64_t c = 0; c < request.d_v; ++c)
                        write(value.at(b, h, j, c), request.kind, NAN);
                }
    }

    void extras(Request& r) {
        if (random_.chance(0.3)) {
            tell("bias", 1);
            const bool holes = random_.chance(0.5);
            const Kind kind =
                r.kind == Kind::kFloat64 || random_.chance(0.7) ? r.kind : Kind::kFloat32;
            lay_out(bias, kind, r.heads, r.queries, r.keys);
            fill(bias, r.heads, r.queries, r.keys,
                 [&] { return holes && random_.chance(0.2) ? -HUGE_VAL : random_.normal(); });
            r.bias = bias.array;
        }
        if (random_.chance(0.25)) {
            tell("alibi", 1);
            for (int64_t h = 0; h < r.heads; ++h) slopes.push_back(random_.normal() * 0.3);
            r.slopes = slopes.data();
            per_sample(anchor, r.anchor, [&] { return random_.below(9) - 4; });
        }
        if (random_.chance(0.25)) {
            tell("sinks", 1);
            for (int64_t h = 0; h < r.heads; ++h) sinks.push_back(random_.normal());
            r.sinks = sinks.data();
        }
    }

    void* room(std::vector<char>& to, int64_t bytes) {
        to.assign(static_cast<size_t>(bytes) + 64, static_cast<char>(0xa5));
        return to.data();
    }

    void observations(Request& r) {
        const int64_t lists[] = {0, 1, 3, 8, 9, 16, 20, r.keys + 2};
        const int64_t blocks[] = {1, 3, 7, 64, 1000};
        const int64_t counted[] = {-1, -1, 3, 1};
        const int64_t of_queries = r.batch * r.heads * r.queries;
        clearhead::Observe& see = r.observe;
        r.out = room(outputs.out, of_queries * r.d_v * size_of(r.kind));
        see.visible = static_cast<uint8_t*>(room(outputs.visible, of_queries));
        see.top = random_.of(lists);
        see.top_keys = static_cast<int32_t*>(room(outputs.top_keys, of_queries * see.top * 4));
        see.top_weights = room(outputs.top_weights, of_queries * see.top * wide());
        see.entropy = random_.chance(0.7) ? room(outputs.entropy, of_queries * wide()) : nullptr;
        see.lse = room(outputs.lse, of_queries * wide());
        see.received_last = random_.of(counted);
        see.received = room(outputs.received, r.batch * r.heads * r.keys * wide());
        if (r.queries && r.keys) {
            see.map_queries = random_.of(blocks);
            see.map_keys = random_.of(blocks);
            const int64_t down = (r.queries + see.map_queries - 1) / see.map_queries;
            const int64_t across = (r.keys + see.map_keys - 1) / see.map_keys;
            see.map = room(outputs.map, r.batch * r.heads * down * across * wide());
        }
        see.row_count = r.queries ? random_.below(5) : 0;
        for (int64_t i = 0; i < see.row_count; ++i) rows.push_back(random_.below(r.queries));
        rows.push_back(0);
        see.rows = rows.data();
        see.rows_out = room(outputs.rows, r.batch * r.heads * see.row_count * r.keys * wide());
        see.weights_out = room(outputs.weights, of_queries * r.keys * wide());
        tell("top", see.top);
        tell("received_last", see.received_last);
    }
};

}  // namespace cases
