// HIP's name for the header; its namespace is CUDA's, which has names of its own for what this
// backend's macros of HIP's votes would change.
#pragma once

#include <hip/hip_runtime.h>

#pragma push_macro("__all")
#pragma push_macro("__ballot")
#undef __all
#undef __ballot
#include <cooperative_groups.h>
#pragma pop_macro("__all")
#pragma pop_macro("__ballot")
