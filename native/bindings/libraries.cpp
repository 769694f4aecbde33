#include "bindings/libraries.h"

#include "bindings/dlpack.h"

namespace nb = nanobind;

namespace clearhead {
namespace {

PyObject* word(const char* text) {
    PyObject* kept = PyUnicode_InternFromString(text);
    if (!kept) throw nb::python_error();
    return kept;
}

// Whether the result of a question, whose reference is taken, is False.
bool no(PyObject* answer) {
    if (!answer) PyErr_Clear();
    Py_XDECREF(answer);
    return answer == Py_False;
}

nb::object result(PyObject* made) {
    if (!made) throw nb::python_error();
    return nb::steal(made);
}

class NumPy : public Library {
  public:
    PyTypeObject* type = nullptr;
    PyObject* empty = nullptr;
    PyObject* dtypes[4] = {};

    bool look(PyObject* array, Arguments& arguments, Kind* kind, View* out) const override {
        static PyObject* const name = word("dtype");
        PyObject* dtype = PyObject_GetAttr(array, name);
        Py_XDECREF(dtype);  // the array has it still
        int code = 0;
        while (code < 4 && dtypes[code] != dtype) ++code;
        if (code == 4) return false;  // foreign byte order and equal dtypes of another birth, too
        *kind = static_cast<Kind>(code);
        const int64_t size = size_of(*kind);
        *out = arguments.view(array, "array", size);
        return reinterpret_cast<uintptr_t>(out->data) % static_cast<uintptr_t>(size) == 0;
    }

    nb::object make(PyObject* shape, Kind kind, PyObject*) const override {
        PyObject* arguments[] = {shape, dtypes[static_cast<int>(kind)]};
        return result(PyObject_Vectorcall(empty, arguments, 2, nullptr));
    }
};

class Torch : public Library {
  public:
    PyTypeObject* type = nullptr;
    dlpack::Describe describe = nullptr;

    bool look(PyObject* array, Arguments&, Kind* kind, View* out) const override {
        static PyObject *const gradient = word("requires_grad"), *const negated = word("is_neg");
        dlpack::Tensor t;
        if (describe(array, &t)) {  // sparse, nested, or of no memory at all
            PyErr_Clear();
            return false;
        }
        if (!t.data || t.device.type != dlpack::kCpu || t.axes > View::kMaxAxes) return false;
        if (!kind_of(t, kind)) return false;
        if (!no(PyObject_GetAttr(array, gradient))) return false;
        if (!no(PyObject_CallMethodNoArgs(array, negated))) return false;
        out->data = static_cast<char*>(t.data) + t.byte_offset;
        out->axes = t.axes;
        for (int axis = 0; axis < t.axes; ++axis) {
            out->shape[axis] = t.shape[axis];
            out->stride[axis] = t.stride[axis];
        }
        return true;
    }

    nb::object make(PyObject* shape, Kind, PyObject* like) const override {
        static PyObject* const name = word("new_empty");
        PyObject* arguments[View::kMaxAxes + 1] = {like};  // one by one: torch reads tuples slowly
        const Py_ssize_t axes = PyTuple_GET_SIZE(shape);
        for (Py_ssize_t axis = 0; axis < axes; ++axis)
            arguments[axis + 1] = PyTuple_GET_ITEM(shape, axis);
        return result(
            PyObject_VectorcallMethod(name, arguments, static_cast<size_t>(axes) + 1, nullptr));
    }

  private:
    static bool kind_of(const dlpack::Tensor& t, Kind* kind) {
        const auto is = [&](uint8_t code, uint8_t bits) {
            return t.kind.code == code && t.kind.bits == bits && t.kind.lanes == 1;
        };
        if (is(dlpack::kFloat, 32))
            *kind = Kind::kFloat32;
        else if (is(dlpack::kFloat, 64))
            *kind = Kind::kFloat64;
        else if (is(dlpack::kFloat, 16))
            *kind = Kind::kFloat16;
        else if (is(dlpack::kBfloat, 16))
            *kind = Kind::kBFloat16;
        else
            return false;
        return true;
    }
};

// Filled once, with references that are never given back: the interpreter may end before them.
NumPy& numpy() {
    static NumPy* const one = new NumPy;
    return *one;
}
Torch& torch() {
    static Torch* const one = new Torch;
    return *one;
}

}  // namespace

const Library* Library::of(PyObject* array) {
    if (Py_TYPE(array) == numpy().type) return &numpy();
    if (Py_TYPE(array) == torch().type) return &torch();
    return nullptr;
}

void use_numpy(nb::handle type, nb::handle empty, nb::handle dtypes) {
    numpy().empty = nb::borrow(empty).release().ptr();
    for (int code = 0; code < 4; ++code)
        numpy().dtypes[code] = nb::borrow(item(dtypes, code)).release().ptr();
    numpy().type = reinterpret_cast<PyTypeObject*>(nb::borrow(type).release().ptr());
}

void use_torch(nb::handle type, nb::handle capsule) {
    const auto* functions = static_cast<const dlpack::Functions*>(
        PyCapsule_GetPointer(capsule.ptr(), dlpack::kCapsule));
    if (!functions) throw nb::python_error();
    if (functions->version.major != dlpack::kMajor || !functions->describe) return;
    torch().describe = functions->describe;
    torch().type = reinterpret_cast<PyTypeObject*>(nb::borrow(type).release().ptr());
}

}  // namespace clearhead
