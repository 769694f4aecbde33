// The table of one instruction set.
#include "kernels/entries.h"

namespace clearhead::CLEARHEAD_ISA {

const Kernels kernels[3] = {
#if defined(CLEARHEAD_BFLOAT16_ALONE)
    {},
    {},
#else
    {forward_scratch_float, thin_scratch_float, sweep_scratch_float, sums_size_float, forward_float,
     thin_float, join_float, sweep_keys_float, sweep_rows_float},
    {forward_scratch_double, thin_scratch_double, sweep_scratch_double, sums_size_double,
     forward_double, thin_double, join_double, sweep_keys_double, sweep_rows_double},
#endif
#if defined(CLEARHEAD_ISA_amx)
    {forward_scratch_bfloat, nullptr, sweep_scratch_bfloat, nullptr, forward_bfloat, nullptr,
     nullptr, sweep_keys_bfloat, sweep_rows_bfloat},
#else
    {forward_scratch_bfloat, thin_scratch_bfloat, sweep_scratch_bfloat, sums_size_float,
     forward_bfloat, thin_bfloat, join_float, sweep_keys_bfloat, sweep_rows_bfloat},
#endif
};

}  // namespace clearhead::CLEARHEAD_ISA
