// The table of one instruction set.
#include "kernels/entries.h"

namespace clearhead::CLEARHEAD_ISA {

const Kernels kernels[3] = {
    {forward_scratch_float, sweep_scratch_float, forward_float, sweep_keys_float, sweep_rows_float},
    {forward_scratch_double, sweep_scratch_double, forward_double, sweep_keys_double,
     sweep_rows_double},
    {forward_scratch_bfloat, sweep_scratch_bfloat, forward_bfloat, sweep_keys_bfloat,
     sweep_rows_bfloat},
};

}  // namespace clearhead::CLEARHEAD_ISA
