// What segments and a boolean array say of whole tiles, found once per call.
#pragma once

#include "attention.h"
#include "room.h"

namespace clearhead {

// The span of every query's segment, into r.mask: the first and the last key of it. False where
// there is no memory.
bool find_segments(Request& r, Room& spans, Room& runs);

// Rows of the boolean array that are not the same by a stride of 0, and room for what is said of
// them, into r.mask; 0 where nothing can be said since its keys do not lie side by side, or there
// is no array. -1 where there is no memory.
int64_t prepare_allowed(Request& r, Room& spans, Room& classes);

// Says it of rows [begin, end). Rows may be taken by several threads.
void class_allowed(const Request& r, int64_t begin, int64_t end);

}  // namespace clearhead
