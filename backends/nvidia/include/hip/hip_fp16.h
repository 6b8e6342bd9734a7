// HIP's half precision is CUDA's: the names that the experiments use are the same in both.
#pragma once

#include <cuda_fp16.h>
