// Python arrays as pointer, shape and strides.
//
// An array comes as an object with the buffer protocol (NumPy) or as a tuple (address, shape,
// strides in elements) (torch: three cheap calls in Python, where DLPack takes 2 us per tensor).
// Nothing is converted or copied. Sizes are checked again here, whatever Python has checked.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

#include "attention.h"

namespace clearhead {

struct View {
    static constexpr int kMaxAxes = kMaxBatchAxes + 3;
    char* data = nullptr;
    int axes = 0;
    int64_t shape[kMaxAxes];
    int64_t stride[kMaxAxes];  // in elements

    int64_t count() const;
};

[[noreturn]] void refuse(const char* name, const std::string& why);

// The item `at` of a tuple.
nanobind::handle item(nanobind::handle tuple, Py_ssize_t at);

int64_t whole(nanobind::handle object);

// Reads arrays and keeps their buffers until the call is over. Made and destroyed with the GIL.
class Arguments {
  public:
    Arguments() : count_(0) {}
    Arguments(const Arguments&) = delete;
    ~Arguments();

    // `name` is for messages; `size` the bytes of an element; `writable` for outputs.
    View view(nanobind::handle object, const char* name, int64_t size, bool writable = false);

    // The data of a dense array of `count` elements; nullptr for None.
    void* dense(nanobind::handle object, const char* name, int64_t size, int64_t count,
                bool writable = false);

  private:
    static constexpr int kMostBuffers = 32;  // a call has 25 arrays at most
    Py_buffer held_[kMostBuffers];           // not filled, not on the heap: calls are short
    int count_;
};

}  // namespace clearhead
