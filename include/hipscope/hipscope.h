// All that an experiment includes.
#pragma once

#include <hip/hip_runtime.h>

#include "hipscope/buffer.h"
#include "hipscope/check.h"
#include "hipscope/compute_unit.h"
#include "hipscope/cycle_counter.h"
#include "hipscope/experiment.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/launch.h"
#include "hipscope/lds.h"
#include "hipscope/random_bits.h"
#include "hipscope/statistics.h"
#include "hipscope/timed_rounds.h"
