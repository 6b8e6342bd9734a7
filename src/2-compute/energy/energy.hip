// What does an FMA cost in energy, and a byte from each level?
//
// A board reports its power some ten times per second, and often counts its energy. So each row
// runs one kind of work on all CUs for most of a second: power over rate is the energy of one FMA
// or one byte. The power is taken over one of two bases:
//   - the idle board ("energy"): all that the work costs, with clocks, schedulers and the issue of
//     instructions, which at low rates are most of it.
//   - a board that spins ("added energy"), one wave on each SIMD counting: what the work adds to a
//     GPU that is awake. Only these figures may be added up.
// Both bases are measured before and after the rows of a sweep, since a warm chip leaks more; the
// error includes half of that difference. What is less than twice its error is left out.
//
// Wires take energy when they change, so the same instruction runs with zeros, small integers and
// random bits. Sweep sum tests the method: it predicts the power of a kernel of FMAs and LDS reads
// from the power of each alone.
#include <hipscope/describe_device.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings.h"
#include "hipscope/matrix/kernels.h"
#include "meter.h"
#include "mixed.h"
#include "reads.h"
#include "registers.h"

namespace energy {
namespace {

__global__ void __launch_bounds__(1) empty_kernel(unsigned* output, unsigned value) {
  output[0] = value;
}

std::string label_of(const std::string& thing, Data data) { return thing + ", " + name_of(data); }

// The board without work: idle, spinning, and launching kernels of nothing.
void measure_power(Sweep& sweep, Board& board) {
  sweep.axis({.name = "board"});
  sweep.headline("power");
  Meter meter(sweep, board);
  Load idle;
  if (meter.has_sensors()) {
    auto point = sweep.point("idle", idle_row);
    idle = meter.measure_idle();
    add_power(point, idle);
  }
  auto spinning = sweep.point("spinning", 2);
  add_power(spinning, meter.measure_spinning(&spinning));

  auto launching = sweep.point("launching empty kernels", 3);
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
  add_energy(launching, "energy", "error", net_of(load, idle, launches), 1e-6, "uJ");
  launching.value("launches", 1e-3 * launches, "1000/s");
  add_power(launching, load);
}

// --- FMAs and matrix instructions -------------------------------------------------------------

using matrix_rate::Instruction;

// Dense ones, and of wgmma the widest alone: a product of matrices has no use for narrower ones. Of
// vector instructions FP32, FP64 and packed half.
template <typename Code>
constexpr bool is_worth_it() {
  constexpr std::string_view format = Code::format;
  if (matrix_rate::is_vector<Code>) {
    return format == "FP32 vector" || format == "FP64 vector" || format == "FP16 packed";
  }
#if !defined(HIPSCOPE_BACKEND_HOST)
  if (matrix_rate::is_of_groups<Code> && Code::n < 256) {
    return false;
  }
#endif
  return Code::sparsity == matrix_rate::Sparsity::dense;
}

// Those of the vector units, or the matrix instructions: of each format that with the most FMAs,
// of several the last.
std::vector<Instruction> instructions_of(const hipscope::DeviceDescription& device,
                                         bool of_matrices) {
  std::vector<Instruction> list;
  matrix_rate::visit_instructions(device, [&]<typename Code>(const Code* /*type*/) {
    if constexpr (is_worth_it<Code>()) {
      if (matrix_rate::is_vector<Code> == of_matrices) {
        return;
      }
      const auto instruction = matrix_rate::with_multiply_kernel<Code, false>();
      const auto same = std::ranges::find(list, instruction.format, &Instruction::format);
      if (same == list.end()) {
        list.push_back(instruction);
      } else if (instruction.fmas() >= same->fmas()) {
        *same = instruction;
      }
    }
  });
  return list;
}

// A row of FMAs; verified, and measured.
Row measure_multiply(Meter& meter, Point point, const Instruction& instruction, Data data) {
  auto launcher =
      matrix_rate::full_launcher(meter.sweep(), instruction, static_cast<matrix_rate::Data>(data));
  launcher.verify(point);
  const Load load = meter.measure_rounds([&](unsigned rounds) { launcher.run(rounds); });
  return {point, load, Per::fma, matrix_rate::fmas_of_launch(instruction, launcher, load.rounds)};
}

// Each instruction with each kind of operands.
void measure_instructions(Sweep& sweep, Board& board, bool of_matrices) {
  const std::vector<Instruction> instructions = instructions_of(sweep.device(), of_matrices);
  sweep.axis({.name = "instruction and operands"});
  sweep.headline("energy");
  if (instructions.empty()) {
    sweep.note("this device has no matrix instruction");
    return;
  }
  Meter meter(sweep, board);
  Rows rows(meter, board.latest);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    for (const Data data : kinds_of_data) {
      const auto point = sweep.point(label_of(instructions[i].title(), data), row_of(i, data));
      rows.add(measure_multiply(meter, point, instructions[i], data));
    }
  }
  rows.finish();
}

// Where two of an FMA's operands come from. All loads are measured in turns, and what one takes
// more than another is of the same turns: so the bases, and what drifts, are in none of it.
void measure_registers(Sweep& sweep, Board& board) {
  sweep.axis({.name = "two of three operands"});
  sweep.headline("energy");
  Meter meter(sweep, board);
  Rows all(meter, board.latest);
  auto kinds = operand_rows(meter);
  const std::vector<Load> loads = meter.measure_in_turns(kinds);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    rows.push_back(kinds[i].row(loads[i]));
    all.add(rows[i]);
  }
  const auto base = all.finish().spinning.power;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const Operands from : {Operands::shared, Operands::same, Operands::one_other}) {
      const Row& other = rows[index_beside(i, from)];
      NetEnergy more = {.joules = unknown, .error = unknown};
      if (rows[i].load.power && other.load.power && base) {
        more = hipscope::difference(*rows[i].load.power, rows[i].rate(), *other.load.power,
                                    other.rate(), *base);
      }
      rows[i].point.value(difference_name(from), more.joules / pico, "pJ");
      rows[i].point.value(difference_name(from) + " error", more.error / pico, "pJ");
    }
  }
}

// --- Bytes ------------------------------------------------------------------------------------

// What bytes come from, in the order of their rows.
constexpr std::array levels = {"LDS", "L1", "L2", "memory", "host to device", "device to host"};
constexpr std::size_t first_link = 4;
constexpr std::uint64_t least_l2 = std::uint64_t{1} << 20;

// Whole tiles in `bytes`, or in the footprint if that is less.
std::uint64_t tiles_in(std::uint64_t bytes, std::uint64_t footprint) {
  return std::min(bytes, footprint) / tile_bytes * tile_bytes;
}

Row measure_bytes_from(const std::string& level, Meter& meter, std::uint64_t footprint,
                       const Point& point, Data data) {
  if (level == "LDS") {
    return measure_lds(meter, point, data);
  }
  if (level == "L1") {  // two tiles, half of the smallest that is known
    return measure_level<Hint::none>(meter, point, data, 2 * tile_bytes, false);
  }
  if (level == "L2" || level == "memory") {
    const std::uint64_t quarter = std::max(meter.sweep().device().l2_bytes / 4, least_l2);
    return measure_level<Hint::past_l1>(
        meter, point, data, tiles_in(level == "L2" ? quarter : footprint, footprint), true);
  }
  const std::uint64_t copied = tiles_in(std::uint64_t{1} << 26, footprint);
  return measure_link(meter, point, data, copied, level == "host to device");
}

void measure_bytes(Sweep& sweep, Board& board, std::uint64_t footprint) {
  sweep.axis({.name = "level and data"});
  sweep.headline("energy");
  Meter meter(sweep, board);
  sweep.require_memory(tiles_in(footprint, footprint), "--footprint");
  hipscope::prefer_level_1_cache(read_kernel<Hint::none>);
  Rows rows(meter, board.latest);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for (const Data data : kinds_of_data) {
      if (level >= first_link && data != Data::random) {
        continue;  // the link scrambles what it sends
      }
      const auto point = sweep.point(label_of(levels[level], data), row_of(level, data));
      rows.add(measure_bytes_from(levels[level], meter, footprint, point, data));
    }
  }
  rows.finish();
}

// What is copied between two devices, in the order of the rows, and within one to hold it against:
// the boards' memories have their part in it.
constexpr std::array peer_copies = {"peer link, memory to memory", "peer link, L2 to L2",
                                    "copy within one device"};
constexpr std::size_t from_l2 = 1;
constexpr std::size_t within = 2;

// Opens the memory of each of two devices to the other; false where the hardware cannot.
bool open_both(int here, int other) {
  for (const auto& [from, to] : {std::pair(other, here), std::pair(here, other)}) {
    int can = 0;
    hipscope::check(hipDeviceCanAccessPeer(&can, from, to));
    if (can == 0) {
      return false;
    }
    hipscope::check(hipSetDevice(from));
    hipscope::check(hipDeviceEnablePeerAccess(to, 0));
  }
  return true;
}

void measure_peer(Sweep& sweep, Board& board, std::uint64_t footprint) {
  int devices = 0;
  hipscope::check(hipGetDeviceCount(&devices));
  if (devices < 2) {
    sweep.note("there is one device: a link between two was not measured");
    return;
  }
  const int here = sweep.device().index;
  const int other = here == 0 ? 1 : 0;
  sweep.axis({.name = "copy and data"});
  sweep.headline("energy");
  sweep.note("power of both boards, and energy beyond both idle; device " + std::to_string(here) +
             " copies to device " + std::to_string(other));
  if (!open_both(here, other)) {
    sweep.note("neither names the other's memory: these copies go through the host");
  }
  const std::uint64_t bytes = tiles_in(std::uint64_t{1} << 28, footprint);
  const std::uint64_t of_l2 = tiles_in(std::max(sweep.device().l2_bytes / 8, least_l2), footprint);
  sweep.require_memory(2 * bytes, "--footprint");
  const auto telemetry = hipscope::Telemetry::open(hipscope::describe_device(other));
  hipscope::check(hipSetDevice(here));
  board::Sensors other_sensors(telemetry);
  Meter meter(sweep, board, &other_sensors);
  std::optional<Bases> latest;
  Rows rows(meter, latest);
  for (std::size_t thing = 0; thing < peer_copies.size(); ++thing) {
    for (const Data data : {Data::zeros, Data::random}) {
      const auto point = sweep.point(label_of(peer_copies[thing], data), row_of(thing, data));
      rows.add(measure_peer_copy(meter, point, data, thing == from_l2 ? of_l2 : bytes, here,
                                 thing == within ? here : other));
    }
  }
  rows.finish();
}

// The sum check. Parts and the whole are measured side by side, with random bits. The FMAs are
// those of the whole: neighbours among sweep fma's share their operands, and take less.
void measure_sum(Sweep& sweep, Board& board) {
  sweep.axis({.name = "work"});
  sweep.headline("power");
  Meter meter(sweep, board);
  Rows rows(meter, board.latest);
  const Row fma = measure_product<false>(meter, sweep.point("FMAs alone, from registers", 1));
  rows.add(fma);
  const Row read = measure_lds(meter, sweep.point("LDS reads alone", 2), Data::random);
  rows.add(read);
  Row both = measure_product<true>(meter, sweep.point("both, as in a product of matrices", 3));
  rows.add(both);
  const Load spinning = rows.finish().spinning;
  const auto per_fma = net_of(fma.load, spinning, fma.rate());
  const auto per_byte = net_of(read.load, spinning, read.rate());
  if (!both.load.power || !per_fma || !per_byte) {
    return;
  }
  const double measured = both.load.power->watts;
  const double byte_rate = bytes_of_fma * both.rate();
  const double predicted =
      spinning.power->watts + both.rate() * per_fma->joules + byte_rate * per_byte->joules;
  const double deviation = (predicted - measured) / measured;
  const double error = std::hypot(spinning.power->error, both.rate() * per_fma->error,
                                  std::hypot(byte_rate * per_byte->error, both.load.power->error)) /
                       measured;
  both.point.value("predicted", predicted, "W");
  both.point.value("deviation", 100 * deviation, "%");
  both.point.value("deviation's error", 100 * error, "%");
  // Parts of a chip share clocks, voltage and leakage, so a sum of few percent is no more exact
  // than it happens to be; one that leaves a part out is farther off.
  constexpr double largest_deviation = 0.15;
  both.point.verify(
      "the sum of its parts' power, within 15 % and two errors",
      std::abs(deviation) <= largest_deviation + 2 * error ? 0 : 1, 1,
      [&](hipscope::Comparison& comparison) { comparison.compare(0, measured, predicted); });
}

Things names_of(const hipscope::DeviceDescription& device, bool of_matrices,
                const std::string& unit) {
  Things names;
  for (const Instruction& instruction : instructions_of(device, of_matrices)) {
    names.push_back(std::string(instruction.format) + " " + unit);
  }
  return names;
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "energy", {.question = "What does an FMA cost in energy, and a byte from each level?",
                 .sources = {"hipscope's own"}});
  Board board = {
      .warm_up =
          experiment.size("--warm", "milliseconds of the same work before a window",
                          {.gpu = 200, .quick = 100, .host = 1, .minimum = 1, .maximum = 60'000}),
      .window =
          experiment.size("--window", "milliseconds of each row in which power is read",
                          {.gpu = 600, .quick = 400, .host = 1, .minimum = 1, .maximum = 600'000}),
      .launch = experiment.size(
          "--launch", "microseconds of one launch (approximate)",
          {.gpu = 10'000, .quick = 10'000, .host = 1, .minimum = 1, .maximum = 1'000'000})};
  const auto footprint = experiment.size("--footprint", "bytes read from memory",
                                         {.gpu = std::uint64_t{1} << 32,
                                          .quick = std::uint64_t{1} << 32,
                                          .host = std::uint64_t{1} << 14,
                                          .minimum = tile_bytes,
                                          .maximum = std::uint64_t{1} << 36,
                                          .share_of_memory = 0.25});
  const auto add = [&](const std::string& name, const std::string& title, auto measure,
                       hipscope::InTiny in_tiny = hipscope::InTiny::measured) {
    experiment.sweep(
        name, title, [&board, measure](Sweep& sweep) { measure(sweep, board); }, in_tiny);
  };
  constexpr auto left_out = hipscope::InTiny::left_out;
  add("power", "the board without work", measure_power);
  add("fma", "energy per FMA of the vector units",
      [](Sweep& sweep, Board& of) { measure_instructions(sweep, of, false); });
  add(
      "matrix", "energy per FMA of matrix instructions",
      [](Sweep& sweep, Board& of) { measure_instructions(sweep, of, true); }, left_out);
  add("registers", "what an FMA's operands take", measure_registers);
  add("bytes", "energy per byte from each level",
      [&](Sweep& sweep, Board& of) { measure_bytes(sweep, of, footprint); });
  add(
      "peer", "energy per byte to another device",
      [&](Sweep& sweep, Board& of) { measure_peer(sweep, of, footprint); }, left_out);
  add("sum", "whether energies add up", measure_sum);
  experiment.conclude([](hipscope::Results& results) {
    conclude(results, names_of(results.device(), false, "FMA"),
             names_of(results.device(), true, "matrix FMA"), Things(levels.begin(), levels.end()),
             Things(peer_copies.begin(), peer_copies.end()));
  });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace energy

int main(int argc, char** argv) { return energy::run(argc, argv); }
