// The Python module clearhead._native: one call to compute, the others about the machine.
// The documentation is in src/clearhead/core/: fused.py, machine.py, openmp.py. Nobody else calls
// this.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <new>

#include "attention.h"
#include "bindings/arguments.h"
#include "openmp.h"

namespace nb = nanobind;

namespace clearhead {
namespace {

// Whether Ctrl-C was pressed (or another signal raised); its exception is set then.
bool interrupted(void*) {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

void attention(int kind, nb::handle query, nb::handle key, nb::handle value, nb::handle out,
               double scale, double softcap, nb::handle mask, nb::handle extras,
               nb::handle observe) {
    Arguments arguments;
    const Request request = read_request(arguments, kind, query, key, value, out, scale, softcap,
                                         mask, extras, observe);
    Ended ended;
    {
        const nb::gil_scoped_release others;
        ended = run(request, interrupted, nullptr);
    }
    if (ended == Ended::kInterrupted) throw nb::python_error();
    if (ended == Ended::kNoMemory) throw std::bad_alloc();
}

}  // namespace
}  // namespace clearhead

NB_MODULE(_native, m) {
    clearhead::watch_forks();
    m.def("attention", &clearhead::attention, nb::arg("kind"), nb::arg("query"), nb::arg("key"),
          nb::arg("value"), nb::arg("out"), nb::arg("scale"), nb::arg("softcap"),
          nb::arg("mask").none(), nb::arg("extras").none(), nb::arg("observe").none());
    m.def("isa", [] { return std::string(clearhead::isa()); });
    m.def("isas_built", [] { return std::string(clearhead::isas_built()); });
    m.def("set_threads", &clearhead::set_threads);
    m.def("threads", &clearhead::threads);
    m.def("use_openmp", [](const std::string& file) { clearhead::openmp::use(file.c_str()); });
}
