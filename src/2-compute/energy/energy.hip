// What does an FMA cost in energy, and a byte from each level?
//
// A board reports its power some ten times per second, and often counts its energy. So each row
// runs one kind of work on all CUs for most of a second: power over rate is the energy of one FMA
// or one byte. The power is taken over one of two bases:
//   - the idle board ("energy"): all that the work costs, with clocks, schedulers and the issue of
//     instructions, which at low rates are most of it.
//   - a board that spins ("added energy"), one wave on each SIMD counting: what the work adds to a
//     GPU that is awake. Only these figures may be added up.
// Both bases are measured before and after the rows of a sweep, since a warm chip leaks more. The
// error includes half of that difference, the sensor's resolution, and the difference between the
// halves of the window. What is less than twice its error is left out.
//
// Wires take energy when they change, so the same instruction runs with zeros, small integers and
// random bits. Sweep sum tests the method: it predicts the power of a kernel of FMAs and LDS reads
// from the power of each alone.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "findings.h"
#include "meter.h"
#include "mixed.h"
#include "multiply.h"
#include "peer.h"
#include "reads.h"
#include "registers.h"

namespace energy {
namespace {

// The sensors, found by the first sweep that asks; and the bases that were measured last.
struct Board {
  std::shared_ptr<board::Sensors> sensors{};
  std::shared_ptr<std::optional<Bases>> latest = std::make_shared<std::optional<Bases>>();
};

struct Sizes {
  hipscope::Size warm_up;
  hipscope::Size window;
  hipscope::Size launch;
  hipscope::Size footprint;
  std::shared_ptr<Board> board;
};

Lengths lengths_of(const Sizes& sizes) {
  constexpr double milli = 1e-3;
  constexpr double micro = 1e-6;
  return {.warm_up = milli * static_cast<double>(sizes.warm_up),
          .window = milli * static_cast<double>(sizes.window),
          .launch = micro * static_cast<double>(sizes.launch)};
}

std::shared_ptr<board::Sensors> own_sensors(Sweep& sweep, const Sizes& sizes) {
  if (!sizes.board->sensors) {
    sizes.board->sensors = std::make_shared<board::Sensors>(sweep.telemetry());
  }
  return sizes.board->sensors;
}

Meter meter_of(Sweep& sweep, const Sizes& sizes) {
  return {sweep, lengths_of(sizes), {own_sensors(sweep, sizes)}};
}

std::string label_of(const std::string& thing, Data data) { return thing + ", " + name_of(data); }

// The board without work: idle, spinning, and launching kernels of nothing.
void measure_power(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "board"});
  sweep.headline("power");
  Meter meter = meter_of(sweep, sizes);
  if (!meter.has_sensors()) {
    sweep.note("energies are left out: " + meter.why_not());
  }
  std::optional<MeanPower> idle;
  if (meter.has_sensors()) {
    auto point = sweep.point("idle", idle_row);
    const Load load = meter.measure_idle();
    idle = load.power;
    add_power(point, load);
  }
  auto spinning = sweep.point("spinning", spinning_row);
  add_power(spinning, meter.measure_spinning(&spinning));

  auto launching = sweep.point("launching empty kernels", launching_row);
  const unsigned batch = sweep.is_hardware() ? 256 : 1;
  DeviceBuffer<unsigned> output(1);
  constexpr unsigned written = 23;
  const Load load = meter.measure([&] {
    for (unsigned i = 0; i < batch; ++i) {
      hipscope::launch(empty_kernel, {.grid = dim3(1), .block = dim3(1)}, output.data(), written);
    }
  });
  launching.check("what it stored", output.to_host(), [](std::uint64_t /*i*/) { return written; });
  const double launches = batch * load.launches_per_second;
  constexpr double micro = 1e-6;
  add_energy(launching, "energy", "error",
             load.power && idle ? std::optional(hipscope::net_energy(*load.power, *idle, launches))
                                : std::nullopt,
             micro, "uJ");
  launching.value("launches", 1e-3 * launches, "1000/s");
  add_power(launching, load);
}

// Each instruction with each kind of operands.
void measure_instructions(Sweep& sweep, const Sizes& sizes,
                          const std::vector<Instruction>& instructions) {
  sweep.axis({.name = "instruction and operands"});
  sweep.headline("energy");
  if (instructions.empty()) {
    sweep.note("this device has no matrix instruction");
    return;
  }
  Meter meter = meter_of(sweep, sizes);
  Rows rows(sweep, meter, sizes.board->latest);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const Data data : kinds_of_data) {
      auto point = sweep.point(label_of(instructions[i].title(), data), row_of(i, data));
      double fmas_of_launch = 0;
      const Load load =
          measure_multiply(sweep, meter, point, instructions[i], data, fmas_of_launch);
      rows.add(point, load, fmas(fmas_of_launch));
    }
  }
  rows.finish();
}

// Where two of an FMA's operands come from. All loads are measured in turns, and what one takes
// more than another is of the same turns: so the bases, and what drifts, are in none of it.
void measure_registers(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "two of three operands"});
  sweep.headline("energy");
  Meter meter = meter_of(sweep, sizes);
  Rows all(sweep, meter, sizes.board->latest);
  const auto rows = operand_rows(sweep);
  std::vector<std::function<void()>> loads;
  std::vector<double> fmas_of_launch;
  for (const auto& row : rows) {
    const unsigned rounds = meter.rounds_for([&](unsigned wanted) { row->run(wanted); });
    fmas_of_launch.push_back(row->fmas(rounds));
    loads.push_back([&row, rounds] { row->run(rounds); });
  }
  const std::vector<Load> seen = meter.measure_in_turns(loads);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all.add(rows[i]->point(), seen[i], fmas(fmas_of_launch[i]));
  }
  const Bases bases = all.finish();
  const auto rate = [&](std::size_t i) { return fmas_of_launch[i] * seen[i].launches_per_second; };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Operands from : {Operands::shared, Operands::same, Operands::one_other}) {
      const std::size_t other = index_of(rows, from, rows[i]->data());
      const bool is_known = seen[i].power && seen[other].power && bases.spinning;
      Point point = rows[i]->point();
      add_difference(
          point, from,
          is_known ? std::optional(hipscope::difference(*seen[i].power, rate(i), *seen[other].power,
                                                        rate(other), *bases.spinning))
                   : std::nullopt);
    }
  }
}

// The levels that bytes come from, in the order of their rows.
const Things& levels() {
  static const Things all = {"LDS", "L1", "L2", "memory", "host to device", "device to host"};
  return all;
}
constexpr std::size_t first_link = 4;

void measure_bytes(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "level and data"});
  sweep.headline("energy");
  Meter meter = meter_of(sweep, sizes);
  const std::uint64_t footprint = sizes.footprint / tile_bytes * tile_bytes;
  sweep.require_memory(footprint, "--footprint");
  constexpr std::uint64_t least_l2 = std::uint64_t{1} << 20;
  const std::uint64_t quarter = std::max(sweep.device().l2_bytes / 4, least_l2);
  const std::uint64_t of_l2 = std::min(footprint, quarter) / tile_bytes * tile_bytes;
  const std::uint64_t copied = std::min(footprint, std::uint64_t{1} << 26);
  hipscope::prefer_level_1_cache(read_kernel<Hint::none>);
  Rows rows(sweep, meter, sizes.board->latest);
  for (std::size_t level = 0; level < levels().size(); ++level) {
    const std::string& name = levels()[level];
    const bool is_link = level >= first_link;
    for (const Data data : kinds_of_data) {
      if (is_link && data != Data::random) {
        continue;  // the link scrambles what it sends
      }
      auto point = sweep.point(label_of(name, data), row_of(level, data));
      double moved = 0;
      Load load;
      if (name == "LDS") {
        load = measure_lds(sweep, meter, point, data, moved);
      } else if (name == "L1") {
        // Two tiles, half of the smallest L1 that is known.
        load = measure_level<Hint::none>(sweep, meter, point, {name, 2 * tile_bytes, false}, data,
                                         moved);
      } else if (name == "L2") {
        load = measure_level<Hint::past_l1>(sweep, meter, point, {name, of_l2, true}, data, moved);
      } else if (name == "memory") {
        load =
            measure_level<Hint::past_l1>(sweep, meter, point, {name, footprint, true}, data, moved);
      } else {
        load = measure_link(sweep, meter, point, name == "host to device", data, copied, moved);
      }
      rows.add(point, load, bytes(moved));
    }
  }
  rows.finish();
}

// What is copied between two devices, in the order of the rows, and within one to hold it against.
const Things& peer_copies_of() {
  static const Things all = {"peer link, memory to memory", "peer link, L2 to L2",
                             "copy within one device"};
  return all;
}
constexpr std::size_t from_l2 = 1;
constexpr std::size_t within = 2;

void measure_peer(Sweep& sweep, const Sizes& sizes) {
  const Pair pair = pair_with(sweep.device().index);
  if (!pair.other) {
    sweep.note("there is one device: a link between two was not measured");
    return;
  }
  sweep.axis({.name = "copy and data"});
  sweep.headline("energy");
  sweep.note("power of both boards, and energy beyond both idle; device " +
             std::to_string(pair.here) + " copies to device " + std::to_string(*pair.other));
  if (!pair.is_direct) {
    sweep.note("neither names the other's memory: these copies go through the host");
  }
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
  constexpr std::uint64_t least_l2 = std::uint64_t{1} << 20;
  const std::uint64_t bytes = std::min(sizes.footprint / tile_bytes * tile_bytes, most_bytes);
  sweep.require_memory(2 * bytes, "--footprint");
  const std::uint64_t of_l2 =
      std::min(bytes, std::max(sweep.device().l2_bytes / 8, least_l2)) / tile_bytes * tile_bytes;
  const std::vector<std::shared_ptr<board::Sensors>> boards = {
      own_sensors(sweep, sizes), sensors_of(*pair.other, sweep.device().architecture)};
  Meter meter(sweep, lengths_of(sizes), boards);
  if (!meter.has_sensors()) {
    sweep.note("energies are left out: " + meter.why_not());
  }
  const auto idle = [&] { return meter.has_sensors() ? meter.measure_idle() : Load{}; };
  const Load before = idle();
  std::vector<PeerRow> rows;
  for (std::size_t thing = 0; thing < peer_copies_of().size(); ++thing) {
    for (const Data data : {Data::zeros, Data::random}) {
      auto point = sweep.point(label_of(peer_copies_of()[thing], data), row_of(thing, data));
      rows.push_back(measure_peer_copy(sweep, meter, point, pair, thing == within, data,
                                       thing == from_l2 ? of_l2 : bytes));
    }
  }
  finish_peer_rows(sweep, rows, before, idle());
}

// The sum check. Parts and the whole are measured side by side, with random bits. The FMAs are
// those of the whole: neighbours among sweep fma's share their operands, and take less.
void measure_sum(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "work"});
  sweep.headline("power");
  Meter meter = meter_of(sweep, sizes);
  Rows rows(sweep, meter, sizes.board->latest);
  auto of_fmas = sweep.point("FMAs alone, from registers", 1);
  MixedWork fma_work;
  const Load fma_load = measure_product<false>(sweep, meter, of_fmas, fma_work);
  rows.add(of_fmas, fma_load, fmas(fma_work.fmas));
  auto of_reads = sweep.point("LDS reads alone", 2);
  double bytes_of_launch = 0;
  const Load read_load = measure_lds(sweep, meter, of_reads, Data::random, bytes_of_launch);
  rows.add(of_reads, read_load, bytes(bytes_of_launch));
  auto of_both = sweep.point("both, as in a product of matrices", 3);
  MixedWork work;
  const Load load = measure_product<true>(sweep, meter, of_both, work);
  rows.add(of_both, load, fmas(work.fmas));
  const Bases bases = rows.finish();
  if (!load.power || !fma_load.power || !read_load.power || !bases.spinning) {
    return;
  }
  const NetEnergy per_fma = hipscope::net_energy(*fma_load.power, *bases.spinning,
                                                 fma_work.fmas * fma_load.launches_per_second);
  const NetEnergy per_byte = hipscope::net_energy(*read_load.power, *bases.spinning,
                                                  bytes_of_launch * read_load.launches_per_second);
  const double fma_rate = work.fmas * load.launches_per_second;
  const double byte_rate = work.bytes * load.launches_per_second;
  const double predicted =
      bases.spinning->watts + fma_rate * per_fma.joules + byte_rate * per_byte.joules;
  const double deviation = deviation_of(predicted, load.power->watts);
  const double error = std::hypot(bases.spinning->error, fma_rate * per_fma.error,
                                  std::hypot(byte_rate * per_byte.error, load.power->error)) /
                       load.power->watts;
  of_both.value("predicted", predicted, "W");
  of_both.value("deviation", 100 * deviation, "%");
  of_both.value("deviation's error", 100 * error, "%");
  of_both.verify("the sum of its parts' power, within 15 % and two errors",
                 std::abs(deviation) <= largest_deviation + 2 * error ? 0 : 1, 1,
                 [&](hipscope::Comparison& comparison) {
                   comparison.compare(0, load.power->watts, predicted);
                 });
}

Things names_of(const std::vector<Instruction>& instructions, const std::string& unit) {
  Things names;
  for (const Instruction& instruction : instructions) {
    names.push_back(std::string(instruction.format) + " " + unit);
  }
  return names;
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "energy", {.question = "What does an FMA cost in energy, and a byte from each level?",
                 .sources = {"hipscope's own"}});
  const Sizes sizes = {
      .warm_up =
          experiment.size("--warm", "milliseconds of the same work before a window",
                          {.gpu = 200, .quick = 100, .host = 1, .minimum = 1, .maximum = 60'000}),
      .window =
          experiment.size("--window", "milliseconds of each row in which power is read",
                          {.gpu = 600, .quick = 400, .host = 1, .minimum = 1, .maximum = 600'000}),
      .launch = experiment.size(
          "--launch", "microseconds of one launch (approximate)",
          {.gpu = 10'000, .quick = 10'000, .host = 1, .minimum = 1, .maximum = 1'000'000}),
      .footprint = experiment.size("--footprint", "bytes read from memory",
                                   {.gpu = std::uint64_t{1} << 32,
                                    .quick = std::uint64_t{1} << 32,
                                    .host = std::uint64_t{1} << 14,
                                    .minimum = tile_bytes,
                                    .maximum = std::uint64_t{1} << 36,
                                    .share_of_memory = 0.25}),
      .board = std::make_shared<Board>()};
  experiment.sweep("power", "the board without work",
                   [=](Sweep& sweep) { measure_power(sweep, sizes); });
  experiment.sweep("fma", "energy per FMA of the vector units", [=](Sweep& sweep) {
    measure_instructions(sweep, sizes, vector_instructions(sweep.device()));
  });
  experiment.sweep(
      "matrix", "energy per FMA of matrix instructions",
      [=](Sweep& sweep) {
        measure_instructions(sweep, sizes, matrix_instructions(sweep.device()));
      },
      hipscope::InTiny::left_out);
  experiment.sweep("registers", "what an FMA's operands take",
                   [=](Sweep& sweep) { measure_registers(sweep, sizes); });
  experiment.sweep("bytes", "energy per byte from each level",
                   [=](Sweep& sweep) { measure_bytes(sweep, sizes); });
  experiment.sweep(
      "peer", "energy per byte to another device",
      [=](Sweep& sweep) { measure_peer(sweep, sizes); }, hipscope::InTiny::left_out);
  experiment.sweep("sum", "whether energies add up",
                   [=](Sweep& sweep) { measure_sum(sweep, sizes); });
  experiment.conclude([](hipscope::Results& results) {
    conclude(results, names_of(vector_instructions(results.device()), "FMA"),
             names_of(matrix_instructions(results.device()), "matrix FMA"), levels(),
             peer_copies_of());
  });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace energy

int main(int argc, char** argv) { return energy::run(argc, argv); }
