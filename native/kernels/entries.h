// The functions of one instruction set that its table points to; declared here, defined in
// forward.cpp, decode.cpp and sweep.cpp.
#pragma once

#include "kernels/table.h"

namespace clearhead::CLEARHEAD_ISA {

size_t forward_scratch_float(const Request&, int64_t);
size_t forward_scratch_double(const Request&, int64_t);
size_t forward_scratch_bfloat(const Request&, int64_t);
void forward_float(const Request&, const Task&, const Normalisers&, void*);
void forward_double(const Request&, const Task&, const Normalisers&, void*);
void forward_bfloat(const Request&, const Task&, const Normalisers&, void*);

size_t thin_scratch_float(const Request&);
size_t thin_scratch_double(const Request&);
size_t thin_scratch_bfloat(const Request&);
size_t sums_size_float(const Request&);
size_t sums_size_double(const Request&);
void thin_float(const Request&, const Task&, const Part&, const Normalisers&, void*);
void thin_double(const Request&, const Task&, const Part&, const Normalisers&, void*);
void thin_bfloat(const Request&, const Task&, const Part&, const Normalisers&, void*);
void join_float(const Request&, const Task&, void*, int64_t, const Normalisers&, void*);
void join_double(const Request&, const Task&, void*, int64_t, const Normalisers&, void*);

size_t sweep_scratch_float(const Request&);
size_t sweep_scratch_double(const Request&);
size_t sweep_scratch_bfloat(const Request&);
void sweep_keys_float(const Request&, const Task&, const Normalisers&, void*);
void sweep_keys_double(const Request&, const Task&, const Normalisers&, void*);
void sweep_keys_bfloat(const Request&, const Task&, const Normalisers&, void*);
void sweep_rows_float(const Request&, const Task&, const Normalisers&, const int64_t*, void*,
                      int64_t, void*);
void sweep_rows_double(const Request&, const Task&, const Normalisers&, const int64_t*, void*,
                       int64_t, void*);
void sweep_rows_bfloat(const Request&, const Task&, const Normalisers&, const int64_t*, void*,
                       int64_t, void*);

}  // namespace clearhead::CLEARHEAD_ISA
