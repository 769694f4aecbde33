// What Python hands over, as one Request: every shape and size is checked here, and nowhere after.
#pragma once

#include "bindings/views.h"

namespace clearhead {

// A request of query, key and value alone; std::exception where they do not fit together.
Request read_arrays(Kind kind, const View& query, const View& key, const View& value);

// How many numbers its output has: (B, H, N, d_v).
int64_t outputs(const Request& r);

// The fields of ResolvedMask that mask, in the order of struct Mask.
void read_mask(Arguments& arguments, Request& r, nanobind::handle mask);

// The outputs of an observation, as Seen.handed in core/handing.py puts them.
void read_observe(Arguments& arguments, Request& r, nanobind::handle observe);

// The whole request; its pointers live as long as `arguments`. `kind` is a code of Kind.
Request read_request(Arguments& arguments, int kind, nanobind::handle query, nanobind::handle key,
                     nanobind::handle value, nanobind::handle out, double scale, double softcap,
                     nanobind::handle mask, nanobind::handle extras, nanobind::handle observe);

}  // namespace clearhead
