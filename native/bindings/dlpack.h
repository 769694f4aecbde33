// The part of DLPack that says where a tensor lies, as a C function: what torch offers since 2.10
// as torch.Tensor.__dlpack_c_exchange_api__, a capsule with a table of functions. Asking it takes
// 20 ns, where the protocol of Python's __dlpack__ takes 2 us.
//
// Layout: dmlc/dlpack, include/dlpack/dlpack.h, version 1; it stays as long as the major version.
#pragma once

#include <cstdint>

namespace clearhead::dlpack {

constexpr const char* kCapsule = "dlpack_exchange_api";
constexpr uint32_t kMajor = 1;
constexpr int32_t kCpu = 1;                 // of a device
constexpr uint8_t kFloat = 2, kBfloat = 4;  // codes of kinds of numbers

struct Tensor {
    void* data;
    struct {
        int32_t type, id;
    } device;
    int32_t axes;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } kind;
    int64_t *shape, *stride;  // in elements
    uint64_t byte_offset;
};

// Fills in where the tensor lies; not 0, and a Python exception set, where it lies nowhere.
using Describe = int (*)(void* object, Tensor* out);

struct Functions {
    struct {
        uint32_t major, minor;
    } version;
    void* older;
    void *allocate, *give, *take;  // not used here
    Describe describe;             // may be absent
    void* stream;
};

}  // namespace clearhead::dlpack
