// OpenMP's team of threads, found while the program runs: this library links no copy of its own.
//
// A process should hold one team. torch brings a libgomp, in some releases under a name of its own;
// a second copy beside it would mean two teams that fight for the same cores. So the first call
// that would share its work takes, in this order,
//
//   1. the copy that torch has loaded, or will load where torch is installed (`use`)
//   2. any copy that is in the process already
//   3. the system's
//
// and where there is none at all, everything runs on the calling thread.
#pragma once

namespace clearhead::openmp {

// The file of the copy that torch brings, "" where torch is not installed. Counts before the first
// call of those below.
void use(const char* file);

// How many threads a region gets by default: 1 where there is no OpenMP.
int max_threads();

// Whether the caller is in a region already.
bool in_region();

// work(context, thread) on `threads` threads, thread 0 being the caller.
void region(void (*work)(void* context, int thread), void* context, int threads);

}  // namespace clearhead::openmp
