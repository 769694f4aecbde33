#include "bindings/views.h"

namespace nb = nanobind;

namespace clearhead {

[[noreturn]] void refuse(const char* name, const std::string& why) {
    throw nb::value_error((std::string(name) + ": " + why).c_str());
}

int64_t whole(nb::handle object) {
    return nb::cast<int64_t>(object);
}

// The item `at` of a tuple, or None.
nb::handle item(nb::handle tuple, Py_ssize_t at) {
    if (!PyTuple_Check(tuple.ptr()) || PyTuple_GET_SIZE(tuple.ptr()) <= at)
        refuse("request", "found a tuple that is too short");
    return PyTuple_GET_ITEM(tuple.ptr(), at);
}

int64_t View::count() const {
    int64_t product = 1;
    for (int axis = 0; axis < axes; ++axis) product *= shape[axis];
    return product;
}

Arguments::~Arguments() {
    for (int i = 0; i < count_; ++i) PyBuffer_Release(&held_[i]);
}

View Arguments::view(nb::handle object, const char* name, int64_t size, bool writable) {
    View out;
    if (PyTuple_Check(object.ptr())) {
        const nb::handle shape = item(object, 1), stride = item(object, 2);
        out.data = reinterpret_cast<char*>(nb::cast<uintptr_t>(item(object, 0)));
        out.axes = static_cast<int>(PyTuple_GET_SIZE(shape.ptr()));
        if (out.axes > View::kMaxAxes) refuse(name, "found too many axes; wanted 19 at most");
        for (int axis = 0; axis < out.axes; ++axis) {
            out.shape[axis] = whole(item(shape, axis));
            out.stride[axis] = whole(item(stride, axis));
        }
        return out;
    }
    if (count_ == kMostBuffers) refuse(name, "found too many arrays");
    Py_buffer& buffer = held_[count_];
    const int flags = writable ? PyBUF_STRIDED : PyBUF_STRIDED_RO;
    if (PyObject_GetBuffer(object.ptr(), &buffer, flags)) throw nb::python_error();
    ++count_;
    out.data = static_cast<char*>(buffer.buf);
    out.axes = buffer.ndim;
    if (buffer.itemsize != size) refuse(name, "found elements of another size");
    if (out.axes > View::kMaxAxes) refuse(name, "found too many axes; wanted 19 at most");
    for (int axis = 0; axis < out.axes; ++axis) {
        out.shape[axis] = buffer.shape[axis];
        if (buffer.strides[axis] % size) refuse(name, "found a stride of no whole element");
        out.stride[axis] = buffer.strides[axis] / size;
    }
    return out;
}

void* Arguments::dense(nb::handle object, const char* name, int64_t size, int64_t count,
                       bool writable) {
    if (object.is_none()) return nullptr;
    const View found = view(object, name, size, writable);
    if (found.count() != count) refuse(name, "found a shape that does not fit the other arrays");
    int64_t step = 1;
    for (int axis = found.axes - 1; count && axis >= 0; --axis) {
        if (found.shape[axis] > 1 && found.stride[axis] != step)
            refuse(name, "found an array that is not dense");
        step *= found.shape[axis];
    }
    return found.data;
}

}  // namespace clearhead
