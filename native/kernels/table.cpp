// The table of one instruction set.
#include "kernels/entries.h"

namespace clearhead::CLEARHEAD_ISA {

const Kernels kernels[2] = {
    {forward_scratch_float, sweep_scratch_float, forward_float, sweep_keys_float, sweep_rows_float},
    {forward_scratch_double, sweep_scratch_double, forward_double, sweep_keys_double,
     sweep_rows_double},
};

}  // namespace clearhead::CLEARHEAD_ISA
