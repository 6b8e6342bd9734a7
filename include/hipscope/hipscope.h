// What every experiment includes: the device, a launch, its time and its results.
//   experiment.h    options, sweeps, points, results: the frame of `main`
//   buffer.h        device memory with an owner, poisoned
//   launch.h        a checked launch
//   check.h         a checked HIP call
//   cycle_counter.h the cycle counter of a compute unit, in a kernel
//   random_bits.h   inputs that host and device compute from an index
//   statistics.h    median and spread
//   format.h        numbers as text
// Only some experiments include these:
//   timed_rounds.h  kernels that repeat one body and take its time by the cycle counter
//   pause.h         a pause of a wave that watches a clock
//   timer.h         the timer of a constant rate, in a kernel
//   compute_unit.h  which compute unit a thread runs on
//   elements.h      arrays whose elements follow from the index: filled, and checked
//   footprint.h     a kernel's use of a compute unit: registers, scratch, resident blocks
//   lds.h           loads and stores of LDS, each as one instruction of a chosen width
//   lds_copies.h    copies to LDS past the registers
//   wait_for_lds.h  the wait for LDS that a kernel asks for by itself
//   scheduling_barrier.h the compiler moves no instruction across it
//   cache_hint.h    loads and stores that tell the caches what to do
//   divisor.h       division by a number that the host knows
//   half.h          16-bit floating-point types; half_values.h: from and to floats
//   powers_of_two.h values for an axis that doubles
//   graph.h         launches recorded as a graph
//   keep_busy.h     launches one after the other for a while, for slow sensors
//   mean_power.h    power from readings of slow sensors, and its error
//   telemetry.h     a device's sensors and counters
//   describe_device.h the driver's description of a device
//   matrix/         matrix instructions: a table for each family, operands, launches and checks
//   inference.h     ways to read a curve: levels, steps, fits (for findings.cpp)
//   logarithmic.h   a curve on logarithmic axes, and its noise
//   capacity_laws.h how loads begin to miss in a cache
//   confidence.h    the confidence of an answer that something contradicts
//   libraries/      the vendors' libraries, as references for kernels
// experiment.h includes three more: device.h, the device as the harness sees it, measure.h, a
// measurement, and comparison.h, a kernel's results against the expected ones.
#pragma once

#include <hip/hip_runtime.h>

#include "hipscope/buffer.h"
#include "hipscope/check.h"
#include "hipscope/cycle_counter.h"
#include "hipscope/experiment.h"
#include "hipscope/format.h"
#include "hipscope/launch.h"
#include "hipscope/random_bits.h"
#include "hipscope/statistics.h"
