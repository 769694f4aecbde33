// Arrays of NumPy and torch, looked at without Python code: what they hold, where they lie, and a
// new one beside them. Anything unusual is not looked at: another type, a subclass, another device,
// a gradient that is wanted, a kind that no kernel has. Both are told from Python, so that neither
// is imported, or needed to build, here.
#pragma once

#include "bindings/views.h"

namespace clearhead {

// One library; the arrays of a call are all of one.
class Library {
  public:
    virtual ~Library() = default;

    // What is there to read; false for anything unusual, with no exception set.
    virtual bool look(PyObject* array, Arguments& arguments, Kind* kind, View* out) const = 0;

    // A new array of the kind of `like`; `shape` is a tuple.
    virtual nanobind::object make(PyObject* shape, Kind kind, PyObject* like) const = 0;

    // The library of an array whose type is exactly NumPy's or torch's; nullptr for others.
    static const Library* of(PyObject* array);
};

// numpy.ndarray, numpy.empty and the dtype objects by code of Kind.
void use_numpy(nanobind::handle type, nanobind::handle empty, nanobind::handle dtypes);

// torch.Tensor and its __dlpack_c_exchange_api__; a capsule of another version changes nothing.
void use_torch(nanobind::handle type, nanobind::handle capsule);

}  // namespace clearhead
