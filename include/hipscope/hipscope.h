// What every experiment includes: the device, a launch, its time and what becomes of it.
//   experiment.h    options, sweeps, points, results: the frame of `main`
//   buffer.h        device memory with an owner, poisoned
//   launch.h        a checked launch
//   check.h         a checked HIP call
//   cycle_counter.h the cycle counter of a compute unit, in a kernel
//   random_bits.h   inputs that host and device tell from an index
//   statistics.h    median and spread
//   format.h        numbers as text
// What only some need they include by themselves:
//   timed_rounds.h  kernels that repeat one body and take its time by the cycle counter
//   pause.h         a pause of a wave that watches a clock
//   timer.h         the timer of a constant rate, in a kernel
//   compute_unit.h  which compute unit a thread runs on
//   elements.h      arrays whose elements follow from the index: filled, and checked
//   footprint.h     what a kernel takes of a compute unit: registers, scratch, resident blocks
//   lds.h           loads and stores of LDS, each as one instruction of a chosen width
//   lds_copies.h    copies to LDS past the registers
//   wait_for_lds.h  the wait for LDS that a kernel asks for by itself
//   scheduling_barrier.h a place that the compiler moves no instruction across
//   cache_hint.h    loads and stores that tell the caches what to do
//   divisor.h       division by a number that the host knows
//   half.h          16-bit floating-point types; half_values.h: from and to floats
//   powers_of_two.h values for an axis that doubles
//   graph.h         launches recorded as a graph
//   keep_busy.h     launches one after the other for a while, as slow sensors need it
//   mean_power.h    power from readings of slow sensors, and how exactly
//   telemetry.h     what a device's sensors and counters say
//   describe_device.h what the driver says of a device
//   matrix/         matrix instructions: a table for each family, operands, launches and checks
//   inference.h     ways to read a curve: levels, steps, fits (for findings.cpp)
//   confidence.h    a confidence by what speaks against an answer
//   libraries/      the vendors' libraries, as references beside kernels
// experiment.h is made of three more: device.h, the device as the harness sees it, measure.h, what
// a measurement is, and comparison.h, what a kernel computed beside what it should have.
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
