#include "bindings/arguments.h"

namespace nb = nanobind;

namespace clearhead {
namespace {

// A tuple of another size was put together for another build: its items would be misread.
void holds(nb::handle tuple, const char* name, Py_ssize_t size) {
    if (!PyTuple_Check(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) != size)
        refuse(name, "found a tuple of another size; build the native part anew");
}

// The last three axes of a view, and its batch axes: those of the query, or all of them in one.
Array array_of(const View& view, Kind kind, const Request& r, const char* name, int64_t heads,
               int64_t rows, int64_t columns) {
    const int batch = view.axes - 3;
    const bool joined = batch == 1 && view.shape[0] == r.batch;
    bool fits = joined || batch == r.batch_axes;
    for (int axis = 0; fits && !joined && axis < batch; ++axis)
        fits = view.shape[axis] == r.batch_shape[axis];
    if (!fits || view.shape[batch] != heads || view.shape[batch + 1] != rows ||
        view.shape[batch + 2] != columns)
        refuse(name, "found a shape that does not fit the other arrays");
    Array out{view.data, kind, view.stride[batch], view.stride[batch + 1], view.stride[batch + 2],
              batch,     {}};
    for (int axis = 0; axis < batch; ++axis) out.batch[axis] = view.stride[axis];
    return out;
}

Kind kind_of(int64_t code) {
    if (code < 0 || code > 3) refuse("kind", "found an unknown code");
    return static_cast<Kind>(code);
}

// bias, its kind, the slopes and anchor of alibi, sinks.
void read_extras(Arguments& arguments, Request& r, nb::handle extras) {
    holds(extras, "extras", 5);
    if (!item(extras, 0).is_none()) {
        const Kind of_bias = kind_of(whole(item(extras, 1)));
        r.bias = array_of(arguments.view(item(extras, 0), "bias", size_of(of_bias)), of_bias, r,
                          "bias", r.heads, r.queries, r.keys);
    }
    r.slopes = static_cast<const double*>(arguments.dense(item(extras, 2), "slopes", 8, r.heads));
    r.anchor = static_cast<const int64_t*>(arguments.dense(item(extras, 3), "anchor", 8, r.batch));
    r.sinks = static_cast<const double*>(arguments.dense(item(extras, 4), "sinks", 8, r.heads));
    if (r.slopes && !r.anchor) refuse("slopes", "found no anchor");
}

}  // namespace

void read_observe(Arguments& arguments, Request& r, nb::handle observe) {
    holds(observe, "observe", 15);
    const int64_t rows = r.batch * r.heads * r.queries;
    Observe& see = r.observe;
    const int64_t wide = r.kind == Kind::kFloat64 ? 8 : 4;
    const auto output = [&](Py_ssize_t at, const char* name, int64_t bytes, int64_t count) {
        return arguments.dense(item(observe, at), name, bytes, count, true);
    };
    see.visible = static_cast<uint8_t*>(output(0, "visible", 1, rows));
    if (!see.visible) refuse("visible", "found None");
    see.top = whole(item(observe, 1));
    if (see.top < 0 || r.keys > INT32_MAX) refuse("top", "found more keys than int32 counts");
    see.top_keys = static_cast<int32_t*>(output(2, "top_keys", 4, rows * see.top));
    see.top_weights = output(3, "top_weights", wide, rows * see.top);
    if (see.top && (!see.top_keys || !see.top_weights)) refuse("top", "found no output");
    see.entropy = output(4, "entropy", wide, rows);
    see.lse = output(5, "lse", wide, rows);
    see.received = output(6, "received", wide, r.batch * r.heads * r.keys);
    see.received_last = whole(item(observe, 7));
    see.map_queries = whole(item(observe, 9));
    see.map_keys = whole(item(observe, 10));
    if (!item(observe, 8).is_none() && rows && r.keys) {
        if (see.map_queries < 1 || see.map_keys < 1) refuse("map", "found an empty block");
        const int64_t down = (r.queries + see.map_queries - 1) / see.map_queries;
        const int64_t across = (r.keys + see.map_keys - 1) / see.map_keys;
        see.map = output(8, "map", wide, r.batch * r.heads * down * across);
    }
    see.row_count = whole(item(observe, 12));
    see.rows =
        static_cast<const int64_t*>(arguments.dense(item(observe, 11), "rows", 8, see.row_count));
    for (int64_t i = 0; see.rows && i < see.row_count; ++i)
        if (see.rows[i] < 0 || see.rows[i] >= r.queries) refuse("rows", "found no such query");
    see.rows_out = output(13, "rows", wide, r.batch * r.heads * see.row_count * r.keys);
    if (see.rows_out && !see.rows) refuse("rows", "found no list");
    see.weights_out = output(14, "weights", wide, rows * r.keys);
}

int64_t outputs(const Request& r) {
    return r.batch * r.heads * r.queries * r.d_v;
}

void read_mask(Arguments& arguments, Request& r, nb::handle mask) {
    holds(mask, "mask", 7);
    const auto per_sample = [&](Py_ssize_t at, const char* name) {
        return static_cast<const int64_t*>(arguments.dense(item(mask, at), name, 8, r.batch));
    };
    r.mask.low = per_sample(0, "low");
    r.mask.high = per_sample(1, "high");
    if (!r.mask.low != !r.mask.high) refuse("mask", "found one of low and high");
    r.mask.key_lengths = per_sample(2, "key_lengths");
    r.mask.query_lengths = per_sample(3, "query_lengths");
    for (int64_t b = 0; b < r.batch; ++b) {
        if (r.mask.key_lengths &&
            static_cast<uint64_t>(r.mask.key_lengths[b]) > static_cast<uint64_t>(r.keys))
            refuse("key_lengths", "found a length beyond the keys");
        if (r.mask.query_lengths &&
            static_cast<uint64_t>(r.mask.query_lengths[b]) > static_cast<uint64_t>(r.queries))
            refuse("query_lengths", "found a length beyond the queries");
    }
    r.mask.key_segments = static_cast<const int32_t*>(
        arguments.dense(item(mask, 4), "key_segments", 4, r.batch * r.keys));
    r.mask.query_segments = static_cast<const int32_t*>(
        arguments.dense(item(mask, 5), "query_segments", 4, r.batch * r.queries));
    if (!r.mask.key_segments != !r.mask.query_segments)
        refuse("mask", "found segments of one side");
    if (!item(mask, 6).is_none())
        r.mask.allowed = array_of(arguments.view(item(mask, 6), "allowed", 1), Kind::kBool, r,
                                  "allowed", r.heads, r.queries, r.keys);
}

Request read_arrays(Kind kind, const View& q, const View& k, const View& v) {
    Request r{};
    r.kind = kind;
    if (q.axes < 3 || k.axes != q.axes || v.axes != q.axes)
        refuse("query, key, value", "found numbers of axes that differ or are below 3");
    r.batch_axes = q.axes - 3;
    r.batch = 1;
    for (int axis = 0; axis < r.batch_axes; ++axis) r.batch *= r.batch_shape[axis] = q.shape[axis];
    const int64_t* last = q.shape + r.batch_axes;
    r.heads = last[0];
    r.queries = last[1];
    r.d_k = last[2];
    r.key_heads = k.shape[r.batch_axes];
    r.keys = k.shape[r.batch_axes + 1];
    r.d_v = v.shape[r.batch_axes + 2];
    if (r.key_heads ? r.heads % r.key_heads != 0 : r.heads != 0)
        refuse("query", "found heads that the heads of the keys do not divide");
    r.query = array_of(q, r.kind, r, "query", r.heads, r.queries, r.d_k);
    r.key = array_of(k, r.kind, r, "key", r.key_heads, r.keys, r.d_k);
    r.value = array_of(v, r.kind, r, "value", r.key_heads, r.keys, r.d_v);
    return r;
}

Request read_request(Arguments& arguments, int code, nb::handle query, nb::handle key,
                     nb::handle value, nb::handle out, double scale, double softcap,
                     nb::handle mask, nb::handle extras, nb::handle observe) {
    const Kind kind = kind_of(code);
    const int64_t size = size_of(kind);
    Request r = read_arrays(kind, arguments.view(query, "query", size),
                            arguments.view(key, "key", size), arguments.view(value, "value", size));
    r.out = arguments.dense(out, "out", size, outputs(r), true);
    r.scale = scale;
    r.softcap = softcap;
    if (!mask.is_none()) read_mask(arguments, r, mask);
    if (!extras.is_none()) read_extras(arguments, r, extras);
    if (!observe.is_none()) read_observe(arguments, r, observe);
    return r;
}

}  // namespace clearhead
