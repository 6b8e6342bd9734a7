// Bytes from one device to another: copies by an engine, with the power of both boards, beyond what
// both take when they are idle. The boards' memories have their part in it: so copies also go from
// one L2 to the other, and, for what the memory takes, within one device.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "2-compute/board_sensors.h"
#include "9-transfers-and-sync/peer_copies/devices.h"
#include "data.h"
#include "meter.h"

namespace energy {

/// The sensors of a device's board, found by its PCI address.
inline std::shared_ptr<board::Sensors> sensors_of(int device, const std::string& architecture) {
  struct Board {
    explicit Board(const hipscope::DeviceDescription& device)
        : telemetry(hipscope::Telemetry::open(device)), sensors(telemetry) {}
    hipscope::Telemetry telemetry;
    board::Sensors sensors;
  };
  hipDeviceProp_t properties{};
  hipscope::check(hipGetDeviceProperties(&properties, device));
  std::array<char, 32> address{};
  std::snprintf(address.data(), address.size(), "%04x:%02x:%02x.0",
                static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID),
                static_cast<unsigned>(properties.pciDeviceID));
  const auto board = std::make_shared<Board>(hipscope::DeviceDescription{
      .architecture = architecture, .index = device, .pci_address = address.data()});
  return {board, &board->sensors};
}

/// A device and another one, if there is one, and whether copies go between them without the host.
struct Pair {
  int here = 0;
  std::optional<int> other{};
  bool is_direct = false;
};

/// `here` and the first other device; opens the memory of each to the other where that can be done.
inline Pair pair_with(int here) {
  if (peer_copies::device_total() < 2) {
    return {.here = here};
  }
  const int other = here == 0 ? 1 : 0;
  return {.here = here,
          .other = other,
          .is_direct = peer_copies::open_peer(here, other) && peer_copies::open_peer(other, here)};
}

/// A row that was measured, kept until the boards have been idle again.
struct PeerRow {
  Point point;
  Load load;
  double bytes_per_second;
};

/// Copies `bytes` bytes of such data again and again, to the other device or within this one,
/// checks every word, and returns the row, to which finish_peer_rows adds its values.
inline PeerRow measure_peer_copy(Sweep& sweep, Meter& meter, Point point, const Pair& pair,
                                 bool is_within, Data data, std::uint64_t bytes) {
  const RepeatedData source(data, bytes, sweep.seed());
  const peer_copies::Place destination(is_within ? pair.here : *pair.other,
                                       bytes / sizeof(unsigned));
  const auto run = [&](unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      hipscope::check(hipMemcpyPeerAsync(destination.data(), destination.device(), source.quads(),
                                         pair.here, bytes, nullptr));
    }
  };
  const unsigned rounds = meter.rounds_for(run);
  const Load load = meter.measure([&] { run(rounds); });
  hipscope::check(hipDeviceSynchronize());
  std::vector<unsigned> arrived(destination.words());
  {
    const peer_copies::On on(destination.device());
    hipscope::check(hipMemcpy(arrived.data(), destination.data(), bytes, hipMemcpyDeviceToHost));
  }
  point.check("every word", arrived, [&](std::uint64_t i) { return source.word(i); });
  return {point, load, static_cast<double>(bytes) * rounds * load.launches_per_second};
}

/// Adds to the rows what needs the idle power of both boards, which was measured before and after:
/// energy per byte, and power; and notes that idle power.
inline void finish_peer_rows(Sweep& sweep, const std::vector<PeerRow>& rows,
                             const Load& idle_before, const Load& idle_after) {
  const auto idle = hipscope::mean_of(idle_before.power, idle_after.power);
  constexpr double giga = 1e9;
  for (const PeerRow& row : rows) {
    Point point = row.point;
    const bool is_known = row.load.power && idle;
    add_energy(
        point, "energy", "error",
        is_known ? std::optional(hipscope::net_energy(*row.load.power, *idle, row.bytes_per_second))
                 : std::nullopt,
        pico, "pJ");
    point.value("bandwidth", row.bytes_per_second / giga, "GB/s");
    const auto watts = [&](std::size_t board) {
      return is_known ? row.load.boards[board].watts : unknown;
    };
    point.value("this board", watts(0), "W");
    point.value("the other board", watts(1), "W");
    add_power(point, row.load);
  }
  if (idle_before.power && idle_after.power) {
    const auto both = [](const Load& load) {
      return hipscope::number(load.boards[0].watts, 4) + " and " +
             hipscope::number(load.boards[1].watts, 4) + " W";
    };
    sweep.note("idle: " + both(idle_before) + " before, " + both(idle_after) + " after; by " +
               (idle->by_counter ? "the counters of energy" : "samples of power"));
  }
}

}  // namespace energy
