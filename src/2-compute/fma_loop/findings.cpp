#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace fma_loop {

using hipscope::number;

namespace {

constexpr unsigned largest_block = 1024;

// Noise is under 1 %.
constexpr double smallest_step = 1.02;

// What blocks of other sizes say: they share the cache, so their full speed ends at the same
// length.
enum class Others { not_measured, agree, disagree, see_none };

Others others_say(const hipscope::Results& results, unsigned threads, double bytes) {
  Others say = Others::not_measured;
  for (const unsigned other : unroll_threads) {
    const auto curve = results.curve(unroll_name(other), "cycles per FMA");
    if (other == threads || other >= largest_block || curve.empty()) {
      continue;
    }
    const auto end = hipscope::find_plateau_end(curve, smallest_step);
    const Others says = !end                        ? Others::see_none
                        : end->last_flat_x == bytes ? Others::agree
                                                    : Others::disagree;
    say = std::max(say, says);
  }
  return say;
}

// What a loop loses that no longer fits: less is no end.
constexpr double smallest_loss = 1.08;

// The end of full speed by sweep edge-N, where it is about the end that unroll-N shows.
std::optional<hipscope::LevelEnd> edge_of(const hipscope::Results& results, unsigned threads) {
  const auto coarse = hipscope::find_plateau_end(
      results.curve(unroll_name(threads), "cycles per FMA"), smallest_step);
  if (!coarse) {
    return std::nullopt;
  }
  constexpr double about = 1.25;
  for (const auto& level :
       hipscope::find_levels(results.curve(edge_name(threads), "cycles per FMA"), smallest_loss)) {
    if (level.end && level.end->capacity && level.end->last_x <= about * coarse->next_x &&
        about * level.end->risen_x >= coarse->last_flat_x) {
      return level.end;
    }
  }
  return std::nullopt;
}

// What sweep edge-N, if it was measured, says of the end that unroll-N shows. Where it finds no
// clear one, what misses first may have begun to before.
void tell_finer(const hipscope::Results& results, unsigned threads, hipscope::Inference& longest) {
  if (const auto edge = edge_of(results, threads)) {
    longest.value = edge->last_x;
    longest.interval = {.low = edge->last_x, .high = edge->risen_x};
    longest.evidence.insert(longest.evidence.begin(), "by coarse lengths " + longest.statement);
    longest.statement = "a loop of " + number(edge->last_x, 6) +
                        " bytes is the longest at full speed, by lengths as fine as " +
                        number(edge->risen_x - edge->last_x, 5) + " bytes";
  } else if (!results.curve(edge_name(threads), "cycles per FMA").empty()) {
    longest.confidence = std::min(longest.confidence, hipscope::unsure);
    longest.evidence.emplace_back("finer lengths show no clear end there");
  }
}

// Where the loop has outgrown an instruction cache.
void infer_longest_loop(hipscope::Results& results, unsigned threads) {
  const auto curve = results.curve(unroll_name(threads), "cycles per FMA");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "largest loop at full speed, " + std::to_string(threads) + " threads",
      .unit = "bytes",
      .statement = "no loop length up to " + number(curve.back().x, 6) +
                   " bytes slows down for good: the instruction supply keeps up, or the cache is "
                   "larger"};
  auto end = hipscope::find_plateau_end(curve, smallest_step);
  if (end && curve.back().y < smallest_loss * end->flat_y) {
    end.reset();  // a clock that falls costs as much
  }
  const Others others = end ? others_say(results, threads, end->last_flat_x) : Others::not_measured;
  if (end && others == Others::see_none) {
    inference.statement = "a loop of more than " + number(end->last_flat_x, 6) +
                          " bytes slows down, but not in a block of another size: no cache that "
                          "they share";
  } else if (end) {
    inference.value = end->last_flat_x;
    inference.interval = {.low = end->last_flat_x, .high = end->next_x};
    inference.confidence = end->confidence;
    inference.statement = "a loop of " + number(end->last_flat_x, 6) +
                          " bytes is the longest at full speed; with " + number(end->next_x, 6) +
                          " an FMA takes " + number(end->ratio, 4) + " times as long";
    inference.evidence = {"the longest loop, " + number(curve.back().x, 6) +
                          " bytes: " + number(curve.back().y / end->flat_y, 3) + " times as long"};
    tell_finer(results, threads, inference);
    if (end->outliers > 0) {
      inference.evidence.push_back(hipscope::outliers_text(end->outliers, curve.size()));
    }
    if (others == Others::disagree) {
      inference.confidence *= hipscope::unsure;
      inference.evidence.emplace_back("a block of another size slows down elsewhere");
    }
  }
  results.infer(inference);
}

std::string in_kib(double bytes) {
  constexpr double kib = 1024;
  return number(bytes / kib, 4) + " KiB";
}

// How much the cache holds, as the data caches are read (memory_latency): by the laws of
// replacement that explain how a longer and longer loop begins to miss. A loop is a walk that takes
// every line in turn.
void infer_instruction_cache(hipscope::Results& results) {
  std::vector<hipscope::Capacity> found;
  hipscope::Inference inference{.name = "instruction cache capacity",
                                .unit = "bytes",
                                .statement = "no sweep of finer lengths shows an end clearly"};
  std::size_t measured = 0;
  for (const unsigned threads : edge_threads) {
    measured += results.curve(edge_name(threads), "cycles per FMA").empty() ? 0 : 1;
    if (const auto edge = edge_of(results, threads)) {
      const hipscope::Capacity& capacity = *edge->capacity;
      found.push_back(capacity);
      inference.evidence.push_back(std::to_string(threads) + " threads: " + in_kib(capacity.value) +
                                   "; a tenth is lost at " + in_kib(capacity.knee) + ", half at " +
                                   in_kib(capacity.half) + ", nine tenths at " +
                                   in_kib(capacity.full));
    }
  }
  if (measured == 0) {
    return;
  }
  const auto surest =
      std::max_element(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.confidence < b.confidence; });
  constexpr double smallest_confidence = 0.3;
  if (surest != found.end() && surest->confidence >= smallest_confidence) {
    inference.value = surest->value;
    inference.interval = {.low = surest->low, .high = surest->high};
    inference.confidence = surest->confidence;
    inference.statement = in_kib(surest->low) + " to " + in_kib(surest->high) +
                          ", by the laws of replacement that explain how loops begin to miss";
    // The blocks share the cache, so what they say must be the same.
    constexpr double agreement = 1.125;
    const bool agree = std::all_of(found.begin(), found.end(), [&](const auto& other) {
      return other.value < agreement * surest->value && agreement * other.value > surest->value;
    });
    if (!agree || found.size() < measured) {
      inference.confidence = std::min(inference.confidence, hipscope::unsure);
      inference.evidence.emplace_back("blocks of another size do not say the same");
    }
  }
  results.infer(inference);
}

// Time per iteration over FMAs per iteration: a straight line, whose slope is the latency of an FMA
// and whose start is what the end of an iteration costs.
void infer_loop_cost(hipscope::Results& results, unsigned wave_threads) {
  std::vector<double> fmas;
  std::vector<double> cycles;
  constexpr double shortest = 16;
  constexpr double longest = 512;
  const auto counts = results.curve(unroll_name(wave_threads), "FMAs in the loop");
  const auto per_fma = results.curve(unroll_name(wave_threads), "cycles per FMA");
  for (std::size_t i = 0; i < std::min(counts.size(), per_fma.size()); ++i) {
    const double count = counts[i].y;
    if (count >= shortest && count <= longest) {
      fmas.push_back(count);
      cycles.push_back(count * per_fma[i].y);
    }
  }
  if (fmas.size() < 3) {
    return;
  }
  const auto line = hipscope::fit_robust_line(fmas, cycles);
  // Right is what is within a twentieth, of which a part is left to what shows in no residual.
  constexpr double tolerance = 0.03;
  const double confidence = hipscope::slope_confidence(line, tolerance);
  const std::string evidence =
      "straight line through the cycles per iteration of " + number(fmas.front()) + " ... " +
      number(fmas.back()) + " FMAs, largest error " +
      number(100 * line.largest_relative_residual, 2) + " %" +
      (line.outliers > 0 ? "; " + hipscope::outliers_text(line.outliers, fmas.size()) : "");
  results.infer({.name = "FMA latency",
                 .value = line.slope,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement = "each further dependent FMA in the loop adds this much",
                 .evidence = {evidence}});
  results.infer({.name = "cost of an iteration's end",
                 .value = line.intercept,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement =
                     "what one wave pays for count, compare and branch, in iterations of 16 "
                     "FMAs and more",
                 .evidence = {evidence}});
}

}  // namespace

std::vector<unsigned> edge_chunks(std::span<const hipscope::CurvePoint> coarse, double chunk_bytes,
                                  unsigned most_chunks) {
  const auto end = hipscope::find_plateau_end(coarse, smallest_step);
  if (!end) {
    return {};
  }
  // A loop that is longer than the cache by one way of each set misses all the time: an eighth in a
  // cache of 8 ways. Levels must be 0.4 octaves long to count.
  constexpr double dense_before = 1.03;
  constexpr double dense_after = 1.15;
  constexpr double sparse_before = 1.5;
  constexpr double sparse_after = 1.8;
  constexpr double dense_points = 32;
  constexpr double per_octave = 12;
  const auto reach = [&](double bytes) { return bytes / chunk_bytes; };
  const double dense_first = reach(end->last_flat_x / dense_before);
  const double dense_last = reach(end->next_x * dense_after);
  const double last = std::min<double>(most_chunks, reach(end->next_x * sparse_after));
  if (dense_last > last) {
    return {};
  }
  std::set<unsigned> chunks;
  const auto add = [&](double length) {
    chunks.insert(std::max(1U, static_cast<unsigned>(std::lround(length))));
  };
  const double dense_step = std::max(1.0, (dense_last - dense_first) / dense_points);
  for (double length = dense_first; length < dense_last; length += dense_step) {
    add(length);
  }
  const double sparse_step = std::exp2(1 / per_octave);
  for (double length = dense_last; length <= last; length *= sparse_step) {
    add(length);
  }
  for (double length = dense_first; length >= reach(end->last_flat_x / sparse_before);
       length /= sparse_step) {
    add(length);
  }
  return {chunks.begin(), chunks.end()};
}

void conclude(hipscope::Results& results) {
  infer_loop_cost(results, unroll_threads.front());
  for (const unsigned threads : unroll_threads) {
    // Many waves fetch for each other, so that the rate of a full block falls slowly.
    if (threads < largest_block) {
      infer_longest_loop(results, threads);
    }
  }
  infer_instruction_cache(results);
}

}  // namespace fma_loop
