// The Python module clearhead._native: two calls to compute, the others about the machine and about
// who is who. The documentation is in src/clearhead/core/: fused.py, machine.py, openmp.py. Nobody
// else calls this.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "attention.h"
#include "bindings/calls.h"
#include "bindings/libraries.h"
#include "openmp.h"

namespace nb = nanobind;

NB_MODULE(_native, m) {
    clearhead::watch_forks();
    m.def("attention", &clearhead::attention, nb::arg("kind"), nb::arg("query"), nb::arg("key"),
          nb::arg("value"), nb::arg("out"), nb::arg("scale"), nb::arg("softcap"),
          nb::arg("mask").none(), nb::arg("extras").none(), nb::arg("observe").none());
    m.def("plain", &clearhead::plain, nb::arg().none(), nb::arg().none(), nb::arg().none(),
          nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none() = nb::none());
    m.def("use_numpy", &clearhead::use_numpy);
    m.def("use_torch", &clearhead::use_torch);
    m.def("isa", [] { return std::string(clearhead::isa()); });
    m.def("isas_built", [] { return std::string(clearhead::isas_built()); });
    m.def("set_threads", &clearhead::set_threads);
    m.def("threads", &clearhead::threads);
    m.def("use_openmp", [](const std::string& file) { clearhead::openmp::use(file.c_str()); });
}
