// The two ways into a computation.
#pragma once

#include <nanobind/nanobind.h>

namespace clearhead {

// Any call, read in Python and handed over in pieces; `out` and what is observed are filled.
void attention(int kind, nanobind::handle query, nanobind::handle key, nanobind::handle value,
               nanobind::handle out, double scale, double softcap, nanobind::handle mask,
               nanobind::handle extras, nanobind::handle observe);

// A plain call, whose arrays are looked at here: the output, or None where anything is unusual, so
// that the call goes the other way. Then nothing has been touched. Of a mask that is not None
// `resolve(mask, shape of the output, number of keys)` gives the fields of a ResolvedMask, or None;
// `observe(shape, keys)`, if it is not None, the room for what is seen, as Seen.handed.
nanobind::object plain(nanobind::handle query, nanobind::handle key, nanobind::handle value,
                       nanobind::handle scale, nanobind::handle mask, nanobind::handle resolve,
                       nanobind::handle observe);

}  // namespace clearhead
