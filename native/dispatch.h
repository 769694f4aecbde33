// Which instruction set runs, chosen once, at first use.
#pragma once

#include "kernels/table.h"

namespace clearhead {

// The table of the kind; throws std::runtime_error where CLEARHEAD_ISA names what cannot run here.
const Kernels& kernels_for(Kind kind);

}  // namespace clearhead
