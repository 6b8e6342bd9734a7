// Sweep waits: a chain of kernels whose order is kept by one stream, or by events between two.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "findings.h"
#include "stream.h"

namespace streams {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;

// The chain's kernel `number`: all before it must have ended. If they had not, `ahead`, of its
// place in the chain, says how many of them it has overtaken.
static __global__ void __launch_bounds__(1)
    link_kernel(unsigned* done, unsigned number, unsigned* ahead) {
  const unsigned before = *done;
  if (before < number) {
    *ahead = number - before;
  }
  *done = before + 1;
}

inline void measure_waits(Sweep& sweep, unsigned length) {
  sweep.axis({.name = "chain"});
  sweep.headline("device per kernel");
  sweep.note(
      "each kernel looks whether all before it have ended; device: the mean of chains that begin "
      "in "
      "one stream and in the other, whose queues may differ; enqueue: the calls alone, by the "
      "host's clock");
  const std::vector<Stream> pair(2);
  std::vector<Event> timed;
  std::vector<Event> untimed;
  for (unsigned i = 0; i < length; ++i) {
    timed.emplace_back(hipEventDefault);
    untimed.emplace_back(hipEventDisableTiming);
  }
  const auto row = [&](const std::string& label, double x, unsigned used, const Event* events) {
    auto point = sweep.point(label, x);
    DeviceBuffer<unsigned> done(1);
    DeviceBuffer<unsigned> ahead(length);  // of any run
    done.clear();
    ahead.clear();
    unsigned number = 0;
    const auto enqueue = [&](unsigned first) {
      for (unsigned i = 0; i < length; ++i) {
        const Stream& stream = pair[(first + i % used) % 2];
        launch(link_kernel, {.grid = dim3(1), .block = dim3(1), .stream = stream.get()},
               done.data(), number++, ahead.data() + i);
        if (events != nullptr) {
          events[i].record(stream);
        }
        if (used > 1) {
          events[i].hold_up(pair[(first + i + 1) % 2]);
        }
      }
    };
    const auto device = point.measure_in_turn(
        {[&] { enqueue(0); }, [&] { enqueue(1); }},
        {{.name = "device", .batch = 1}, {.name = "device, other stream first", .batch = 1}});
    const auto calls = point.measure_on_host(
        "enqueue", [&] { enqueue(0); }, [] { check(hipDeviceSynchronize()); });
    point.check("kernels before each that had not ended", ahead.to_host(),
                [](std::uint64_t) { return 0U; });
    point.check_value("last kernel", done.to_host()[0], number);
    constexpr double micro = 1e6;
    const double both = device[0].seconds().median + device[1].seconds().median;
    point.value("device per kernel", micro * both / (2 * length), "us");
    point.value("enqueue per kernel", micro * calls.seconds().median / length, "us");
  };
  row("one stream", 1, 1, nullptr);
  row("one stream, an event after each", 2, 1, timed.data());
  row("two streams, an event and a wait", 3, 2, timed.data());
  row("one stream, an event without a time", 4, 1, untimed.data());
  row("two streams, a wait for such an event", 5, 2, untimed.data());
}

}  // namespace streams
