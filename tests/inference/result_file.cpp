#include "result_file.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace hipscope::trial {

namespace {

using Json = nlohmann::ordered_json;

DeviceDescription read_device(const Json& json) {
  DeviceDescription device = fake::describe();
  device.name = json.at("name");
  device.architecture = json.at("architecture");
  device.compute_units = json.at("compute_units");
  device.wave_size = json.at("wave_size");
  device.maximum_shader_mhz = json.at("maximum_shader_mhz");
  device.memory_mhz = json.at("memory_mhz");
  device.memory_bus_bits = json.at("memory_bus_bits");
  device.memory_bytes = json.at("memory_bytes");
  device.l2_bytes = json.at("l2_bytes");
  device.registers_per_block = json.at("registers_per_block");
  return device;
}

// Of the row's measurements, each of which has its quartiles, and the median between them.
double largest_spread(const Json& row) {
  double spread = 0;
  if (row.contains("measurements")) {
    for (const Json& measurement : row.at("measurements")) {
      const double range = measurement.at(4).get<double>() - measurement.at(2).get<double>();
      spread = std::max(spread, range / measurement.at(3).get<double>());
    }
  }
  return spread;
}

// The values of a row go by their names, or are as many as the sweep's units, in their order. One
// is a number, or a number with a unit of its own; null where there is none.
void add_row(const Json& sweep, const Json& row, MadeResults& made) {
  if (!row.contains("values")) {
    return;
  }
  const Json& values = row.at("values");
  auto unit = sweep.at("units").begin();
  for (auto value = values.begin(); value != values.end(); ++value) {
    const std::string name = values.is_array() ? (unit++).key() : value.key();
    const Json& number = value->is_array() ? value->at(0) : *value;
    if (number.is_number()) {
      const CurvePoint point = {
          .x = row.at("x"), .y = number, .relative_spread = largest_spread(row)};
      made.curve(sweep.at("name"), name, std::vector<CurvePoint>{point});
    }
  }
}

}  // namespace

MadeResults read_result_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("there is no file " + path);
  }
  const Json json = Json::parse(file);
  const Json& clock = json.at("clock").at("shader_mhz");
  MadeResults made(json.at("experiment"), read_device(json.at("device")),
                   clock.is_number() ? clock.get<double>() : 0);
  for (const Json& sweep : json.at("sweeps")) {
    for (const Json& row : sweep.at("rows")) {
      add_row(sweep, row, made);
    }
  }
  return made;
}

}  // namespace hipscope::trial
