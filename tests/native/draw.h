// A random call of the native interface: shapes, layouts, masks, every option, all observations.
#pragma once

#include "draw_masks.h"
#include "draw_observations.h"

namespace cases {

// Most calls are small, so that many fit a minute; each of the other shapes takes a way of its own
// through the kernels.
enum class Shape { kSmall, kThin, kCached, kFar, kLong, kMany };

inline Shape draw_shape(Case& c) {
    const double which = c.random.uniform();
    if (which < 0.13) return c.tell("shape thin"), Shape::kThin;      // few queries, many keys
    if (which < 0.27) return c.tell("shape cached"), Shape::kCached;  // and room beyond the last
    if (which < 0.31) return c.tell("shape far"), Shape::kFar;        // one query, most keys
    if (which < 0.36) return c.tell("shape long"), Shape::kLong;
    if (which < 0.43) return c.tell("shape many"), Shape::kMany;  // short samples
    return c.tell("shape small"), Shape::kSmall;
}

inline void draw_lengths_of_axes(Case& c, Shape shape) {
    const int64_t lengths[] = {0, 1, 2, 3, 7, 16, 31, 33, 64, 65, 66, 67, 100, 129, 150};
    const int64_t long_ones[] = {200, 256, 257, 333, 512, 700};
    Request& r = c.request;
    if (shape == Shape::kLong) {
        r.queries = c.random.of(long_ones);
        r.keys = c.random.chance(0.5) ? r.queries : c.random.of(long_ones);
    } else if (shape == Shape::kFar) {
        r.queries = 1 + c.random.below(2);
        r.keys = 14000 + c.random.below(12000);
    } else if (shape == Shape::kThin || shape == Shape::kCached) {
        r.queries = 1 + c.random.below(c.random.chance(0.5) ? 1 : 5);
        r.keys = c.random.chance(0.7) ? 100 + c.random.below(1500) : 1000 + c.random.below(3500);
    } else {
        const int64_t at_most = shape == Shape::kMany ? 9 : 15;
        r.queries = lengths[c.random.below(at_most)];
        r.keys = c.random.chance(0.4) ? r.queries : lengths[c.random.below(at_most)];
    }
}

inline void draw_sizes(Case& c, Shape shape) {
    const int64_t widths[] = {1, 2, 3, 4, 8, 13, 16, 17, 31, 32, 48, 64, 65, 80};
    const int64_t usual[] = {64, 64, 128, 80, 96, 72, 192, 256};
    const bool large = shape == Shape::kLong || shape == Shape::kFar;
    const int64_t samples = shape == Shape::kMany ? 24 : large ? 1 : 2;
    Request& r = c.request;
    r.batch_axes = shape == Shape::kMany ? 1 : static_cast<int>(c.random.below(3));
    r.batch = 1;
    for (int axis = 0; axis < r.batch_axes; ++axis)
        r.batch *= r.batch_shape[axis] = 1 + c.random.below(samples);
    r.key_heads = large ? 1 : 1 + c.random.below(3);
    const int64_t groups[] = {1, 1, 2, 3, 4, 8};
    r.heads = r.key_heads * (large ? 1 + c.random.below(2) : c.random.of(groups));
    draw_lengths_of_axes(c, shape);
    const bool as_models_have = shape != Shape::kFar && c.random.chance(0.3);
    r.d_k = as_models_have ? c.random.of(usual) : c.random.of(widths);
    r.d_v = as_models_have && c.random.chance(0.8) ? r.d_k : c.random.of(widths);
    const double of_width = 1 / std::sqrt(static_cast<double>(r.d_k));
    const double scales[] = {of_width, of_width, of_width, 0, -of_width, 2 * of_width};
    r.scale = c.random.of(scales);
    c.tell("kind", static_cast<int>(r.kind));
    c.tell("batch", r.batch);
    c.tell("heads", r.heads);
    c.tell("key_heads", r.key_heads);
    c.tell("queries", r.queries);
    c.tell("keys", r.keys);
    c.tell("d_k", r.d_k);
    c.tell("d_v", r.d_v);
    c.told += " scale=" + std::to_string(r.scale);
    if (c.group() > 1) c.tell("grouped");
}

inline void draw_numbers(Case& c, Numbers& to, Kind kind, Broadcast over, int64_t heads,
                         int64_t rows, int64_t columns) {
    to.lay_out(c.random, kind, over, c.request.batch, c.inner(), heads, rows, columns);
    to.each([&](char* place) { write(place, kind, c.random.normal()); });
}

// Queries, keys or values: one in ten is the same for all samples, heads or positions.
inline void draw_array(Case& c, Numbers& to, Array& field, int64_t heads, int64_t rows,
                       int64_t columns) {
    Broadcast over{};
    if (c.random.chance(0.1)) {
        const int64_t axis = c.random.below(4);
        over = {axis == 0, axis == 0, axis == 1, axis == 2, axis == 3};
        c.tell("array, broadcast");
    }
    draw_numbers(c, to, c.request.kind, over, heads, rows, columns);
    field = to.array;
}

inline void draw_bias(Case& c) {
    Request& r = c.request;
    const Broadcast over = draw_broadcast(c);
    const bool same_kind = r.kind == Kind::kFloat64 || c.random.chance(0.7);
    c.tell("bias");
    if (over.any()) c.tell("bias, broadcast");
    if (!same_kind) c.tell("bias, of another kind");
    draw_numbers(c, c.bias, same_kind ? r.kind : Kind::kFloat32, over, r.heads, r.queries, r.keys);
    if (c.random.chance(0.4)) {
        c.tell("bias, masking");
        c.bias.each([&](char* place) {
            if (c.random.chance(0.2)) write(place, c.bias.array.kind, -HUGE_VAL);
        });
    }
    r.bias = c.bias.array;
}

inline void draw_extras(Case& c) {
    Request& r = c.request;
    const double caps[] = {0.5, 5, 50};
    if (c.random.chance(0.2)) {
        c.tell("softcap");
        r.softcap = c.random.of(caps);
    }
    if (c.random.chance(0.3)) draw_bias(c);
    if (c.random.chance(0.2)) {
        c.tell("alibi");
        const double steep = r.keys > 100 ? 30.0 / static_cast<double>(r.keys) : 0.3;
        for (int64_t h = 0; h < r.heads; ++h) c.slopes.push_back(c.random.normal() * steep);
        r.slopes = c.slopes.data();
        per_sample(c, c.anchor, r.anchor, [&](size_t) { return c.random.below(9) - 4; });
    }
    if (c.random.chance(0.2)) {
        c.tell("sinks");
        for (int64_t h = 0; h < r.heads; ++h) c.sinks.push_back(c.random.normal());
        r.sinks = c.sinks.data();
    }
}

// Draws all of the case but the kind of its numbers.
inline void draw(Case& c) {
    Request& r = c.request;
    const Shape shape = draw_shape(c);
    draw_sizes(c, shape);
    draw_array(c, c.query, r.query, r.heads, r.queries, r.d_k);
    draw_array(c, c.key, r.key, r.key_heads, r.keys, r.d_k);
    draw_array(c, c.value, r.value, r.key_heads, r.keys, r.d_v);
    draw_masks(c, shape == Shape::kCached);
    draw_extras(c);
    c.look();
    if (c.random.chance(0.8)) poison(c);
    draw_observations(c);
}

}  // namespace cases
