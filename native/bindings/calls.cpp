// A short call takes 5 us in the kernels, and took 10 us in Python before them: looking at three
// tensors, checking their shapes, making the output. `plain` does these natively in 1.5 us; room
// for what is observed is made in Python. It has no rules of its own: `read_arrays` checks its
// shapes as those of every call, and what does not pass is left to the other way, where all errors
// are made.
#include "bindings/calls.h"

#include <cmath>
#include <new>

#include "bindings/arguments.h"
#include "bindings/libraries.h"

namespace nb = nanobind;

namespace clearhead {
namespace {

// Whether Ctrl-C was pressed (or another signal raised); its exception is set then.
bool interrupted(void*) {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

// False where there is no memory.
bool compute(const Request& request) {
    Ended ended;
    {
        const nb::gil_scoped_release others;
        ended = run(request, interrupted, nullptr);
    }
    if (ended == Ended::kInterrupted) throw nb::python_error();
    return ended == Ended::kDone;
}

constexpr int64_t kMostOutputs = int64_t{1} << 22;  // beyond, the memory that is left is asked for
constexpr double kMostScale = 1e30;                 // no kind allows less

// What `scale` says, 1 / sqrt(d_k) for None; false where it is not a plain number.
bool read_scale(nb::handle scale, Request& r) {
    if (scale.is_none()) {
        r.scale = r.d_k ? 1.0 / std::sqrt(static_cast<double>(r.d_k)) : 1.0;
        return true;
    }
    if (!PyFloat_CheckExact(scale.ptr())) return false;
    r.scale = PyFloat_AS_DOUBLE(scale.ptr());
    return std::fabs(r.scale) <= kMostScale;
}

// (..., H, N, d_v)
nb::object shape_of_output(const Request& r) {
    nb::object shape = nb::steal(PyTuple_New(r.batch_axes + 3));
    const auto put = [&](int axis, int64_t size) {
        PyTuple_SET_ITEM(shape.ptr(), axis, PyLong_FromLongLong(size));
    };
    for (int axis = 0; axis < r.batch_axes; ++axis) put(axis, r.batch_shape[axis]);
    put(r.batch_axes, r.heads);
    put(r.batch_axes + 1, r.queries);
    put(r.batch_axes + 2, r.d_v);
    return shape;
}

// A request, the objects whose memory it names, and its output.
struct Plain {
    nb::object fields, seen, out;
    Request request;
};

// The request with its output; false for anything unusual.
bool read_plain(Arguments& arguments, nb::handle query, nb::handle key, nb::handle value,
                nb::handle scale, nb::handle mask, nb::handle resolve, nb::handle observe,
                Plain& plain) {
    const Library* library = Library::of(query.ptr());
    if (!library || Library::of(key.ptr()) != library || Library::of(value.ptr()) != library)
        return false;
    View views[3];
    Kind kinds[3];
    const nb::handle arrays[] = {query, key, value};
    for (int i = 0; i < 3; ++i)
        if (!library->look(arrays[i].ptr(), arguments, &kinds[i], &views[i])) return false;
    if (kinds[1] != kinds[0] || kinds[2] != kinds[0]) return false;
    Request& r = plain.request = read_arrays(kinds[0], views[0], views[1], views[2]);
    if (!read_scale(scale, r) || outputs(r) > kMostOutputs) return false;
    const nb::object shape = shape_of_output(r);
    if (!mask.is_none()) {
        plain.fields = resolve(mask, shape, r.keys);
        if (!plain.fields.is_none()) read_mask(arguments, r, plain.fields);
    }
    plain.out = library->make(shape.ptr(), r.kind, query.ptr());
    View made;
    if (Library::of(plain.out.ptr()) != library) return false;
    if (!library->look(plain.out.ptr(), arguments, &kinds[1], &made)) return false;
    r.out = made.data;
    if (kinds[1] != kinds[0] || made.count() != outputs(r)) return false;
    if (observe.is_none()) return true;
    plain.seen = observe(shape, r.keys);
    read_observe(arguments, r, plain.seen);
    return true;
}

}  // namespace

void attention(int kind, nb::handle query, nb::handle key, nb::handle value, nb::handle out,
               double scale, double softcap, nb::handle mask, nb::handle extras,
               nb::handle observe) {
    Arguments arguments;
    const Request request = read_request(arguments, kind, query, key, value, out, scale, softcap,
                                         mask, extras, observe);
    if (!compute(request)) throw std::bad_alloc();
}

nb::object plain(nb::handle query, nb::handle key, nb::handle value, nb::handle scale,
                 nb::handle mask, nb::handle resolve, nb::handle observe) {
    Plain plain;
    Arguments arguments;
    try {
        if (!read_plain(arguments, query, key, value, scale, mask, resolve, observe, plain))
            return nb::none();
        isa();  // throws where the environment names one that cannot run
    } catch (const nb::python_error& error) {  // told in words where the call goes next
        if (!error.matches(PyExc_Exception)) throw;
        return nb::none();
    } catch (const std::exception&) {
        return nb::none();
    }
    return compute(plain.request) ? plain.out : nb::none();
}

}  // namespace clearhead
