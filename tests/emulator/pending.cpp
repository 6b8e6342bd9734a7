#include "pending.h"

#include <algorithm>

#include "wave.h"

namespace emulator {
namespace {

// What a counter of six bits can tell; at one more access the hardware waits.
constexpr std::size_t most_in_flight = 64;

}  // namespace

Pending::Access Pending::access_of(const Instruction& instruction, Kind kind) {
  const Operand& loaded = instruction.destination;
  Access access{number_, kind, loaded.is_scalar(), loaded.index, 0};
  if (loaded.is_vector() || loaded.is_scalar()) {
    access.count = loaded.count;
  }
  return access;
}

void Pending::push(Wave& wave, std::vector<Access>& queue, Access access) {
  for (unsigned reg = access.first; reg < access.first + access.count; ++reg) {
    (access.is_scalar ? scalar_[reg] : vector_[reg]) = access.number;
  }
  queue.push_back(access);
  if (queue.size() > most_in_flight) {
    retire(wave, queue, 0);
  }
}

void Pending::begin(Wave& wave, const Instruction& instruction) {
  switch (instruction.unit) {
    case Unit::vector_memory:
      push(wave, vector_memory_, access_of(instruction, Kind::vector_memory));
      break;
    case Unit::lds:
      push(wave, lds_and_scalar_, access_of(instruction, Kind::lds));
      break;
    case Unit::scalar_memory:
      push(wave, lds_and_scalar_, access_of(instruction, Kind::in_no_order));
      break;
    case Unit::flat: {
      // It counts in both, in no order with LDS accesses.
      push(wave, vector_memory_, access_of(instruction, Kind::vector_memory));
      push(wave, lds_and_scalar_, {number_, Kind::in_no_order, false, 0, 0});
      break;
    }
    default:
      break;
  }
}

void Pending::retire(Wave& wave, std::vector<Access>& queue, std::size_t position) {
  const Access access = queue[position];
  for (unsigned reg = access.first; reg < access.first + access.count; ++reg) {
    Qword& writer = access.is_scalar ? scalar_[reg] : vector_[reg];
    if (writer == access.number) {
      writer = 0;
    }
  }
  if (access.kind == Kind::vector_memory) {
    wave.settle_stores(access.number);
    wave.settle_lds_loads(access.number);
  }
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(position));
}

void Pending::wait(Wave& wave, unsigned vector_memory, unsigned lds_and_scalar) {
  while (vector_memory_.size() > vector_memory) {
    retire(wave, vector_memory_, 0);
  }
  if (lds_and_scalar == 0) {
    while (!lds_and_scalar_.empty()) {
      retire(wave, lds_and_scalar_, 0);
    }
    return;
  }
  if (lds_and_scalar_.size() <= lds_and_scalar) {
    return;
  }
  // LDS accesses end in order among themselves, scalar loads in any, which only 0 waits for.
  const auto is_lds = [](const Access& access) { return access.kind == Kind::lds; };
  auto in_flight = static_cast<std::size_t>(
      std::count_if(lds_and_scalar_.begin(), lds_and_scalar_.end(), is_lds));
  for (std::size_t position = 0; position < lds_and_scalar_.size() && in_flight > lds_and_scalar;) {
    if (is_lds(lds_and_scalar_[position])) {
      retire(wave, lds_and_scalar_, position);
      --in_flight;
    } else {
      ++position;
    }
  }
}

bool Pending::has_lds() const {
  return std::any_of(lds_and_scalar_.begin(), lds_and_scalar_.end(),
                     [](const Access& access) { return access.kind == Kind::lds; });
}

// A load may have the destination of one in flight that is sure to end before it.
bool Pending::ends_in_order(const Instruction& instruction, Qword number) const {
  const auto is_it = [&](const Access& access) { return access.number == number; };
  if (instruction.unit == Unit::vector_memory) {
    return std::any_of(vector_memory_.begin(), vector_memory_.end(), is_it);
  }
  if (instruction.unit == Unit::lds) {
    return std::any_of(lds_and_scalar_.begin(), lds_and_scalar_.end(), [&](const Access& access) {
      return is_it(access) && access.kind == Kind::lds;
    });
  }
  return false;
}

void Pending::check(Wave& wave, const Instruction& instruction, const Operand& operand,
                    unsigned use) {
  const bool is_vector = operand.is_vector();
  if (!is_vector && !operand.is_scalar()) {
    return;
  }
  const unsigned first = is_vector ? wave.indexed(operand, use) : operand.index;
  for (unsigned reg = first; reg < first + operand.count; ++reg) {
    Qword& writer = is_vector ? vector_[reg] : scalar_[reg];
    if (writer == 0 || (use == destination_use && ends_in_order(instruction, writer))) {
      continue;
    }
    writer = 0;
    wave.report(mistake::missing_wait, instruction, [&] {
      const char* file = !is_vector ? "s" : reg < first_accumulator ? "v" : "a";
      return file + std::to_string(reg % first_accumulator) + " is " +
             (use == destination_use ? "written" : "read") + " before its load has been waited for";
    });
  }
}

}  // namespace emulator
