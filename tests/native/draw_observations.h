// Every observation, asked for or not, and room for all that a call writes.
#pragma once

#include "case.h"

namespace cases {

inline void* room(std::vector<char>& to, int64_t bytes) {
    to.assign(static_cast<size_t>(bytes) + 64, static_cast<char>(0xa5));
    return to.data();
}

inline void draw_list(Case& c) {  // of the strongest keys
    const Request& r = c.request;
    const int64_t usual[] = {1, 8, 8, 16}, at_most = (r.keys < 5000 ? r.keys : 300) + 2;
    clearhead::Observe& see = c.request.observe;
    const double which = c.random.uniform();
    see.top = which < 0.35   ? c.random.of(usual)
              : which < 0.75 ? 1 + c.random.below(24)
              : which < 0.9  ? 1 + c.random.below(at_most < 200 ? at_most : 200)
                             : at_most;
    c.tell(see.top > r.keys ? "top, beyond the keys" : see.top > 16 ? "top, long" : "top");
    c.tell("k", see.top);
    const int64_t listed = r.batch * r.heads * r.queries * see.top;
    see.top_keys = static_cast<int32_t*>(room(c.outputs.top_keys, listed * 4));
    see.top_weights = room(c.outputs.top_weights, listed * c.wide());
}

inline void draw_received(Case& c) {
    const int64_t counted[] = {-1, -1, 3, 1};
    const Request& r = c.request;
    c.request.observe.received_last = c.random.of(counted);
    c.tell("received");
    c.tell("last", r.observe.received_last);
    c.request.observe.received = room(c.outputs.received, r.batch * r.heads * r.keys * c.wide());
}

inline void draw_map(Case& c) {
    const int64_t blocks[] = {1, 3, 7, 64, 100, 1000};
    const Request& r = c.request;
    clearhead::Observe& see = c.request.observe;
    c.tell("map");
    see.map_queries = c.random.of(blocks);
    see.map_keys = c.random.of(blocks);
    const int64_t down = (r.queries + see.map_queries - 1) / see.map_queries;
    const int64_t across = (r.keys + see.map_keys - 1) / see.map_keys;
    see.map = room(c.outputs.map, r.batch * r.heads * down * across * c.wide());
}

inline void draw_rows(Case& c) {
    const Request& r = c.request;
    clearhead::Observe& see = c.request.observe;
    c.tell("rows");
    see.row_count = r.queries ? c.random.below(5) : 0;
    for (int64_t i = 0; i < see.row_count; ++i) c.rows.push_back(c.random.below(r.queries));
    c.rows.push_back(0);  // so that the address of none is one
    see.rows = c.rows.data();
    see.rows_out = room(c.outputs.rows, r.batch * r.heads * see.row_count * r.keys * c.wide());
}

inline void draw_observations(Case& c) {
    Request& r = c.request;
    const int64_t of_queries = r.batch * r.heads * r.queries;
    r.out = room(c.outputs.out, of_queries * r.d_v * size_of(r.kind));
    r.observe.received_last = -1;
    if (c.random.chance(0.1)) return c.tell("nothing observed");
    r.observe.visible = static_cast<uint8_t*>(room(c.outputs.visible, of_queries));
    if (c.random.chance(0.7)) draw_list(c);
    if (c.random.chance(0.5)) {
        c.tell("entropy");
        r.observe.entropy = room(c.outputs.entropy, of_queries * c.wide());
    }
    if (c.random.chance(0.6)) {
        c.tell("lse");
        r.observe.lse = room(c.outputs.lse, of_queries * c.wide());
    }
    if (c.random.chance(0.4)) draw_received(c);
    if (c.random.chance(0.4) && r.queries && r.keys) draw_map(c);
    if (c.random.chance(0.4)) draw_rows(c);
    if (c.random.chance(0.6)) {
        c.tell("weights");
        r.observe.weights_out = room(c.outputs.weights, of_queries * r.keys * c.wide());
    }
}

}  // namespace cases
