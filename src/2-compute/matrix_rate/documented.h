// FMAs per cycle and CU (NVIDIA: SM): those that vendors state, beside those that were measured.
//
// NVIDIA, "NVIDIA H100 Tensor Core GPU Architecture" (white paper, table 2): 989.4 TFLOP/s of dense
// FP16 by 132 SMs at 1830 MHz are 2048 FMAs per cycle and SM, 494.7 of TF32 1024, 1978.9 of FP8 and
// INT8 4096; 66.9 of FP64 at 1980 MHz are 128; the H200 has the same SMs. Sparse counts twice,
// zeros that are not multiplied included. Vector units: CUDA C++ programming guide, throughput of
// native arithmetic instructions, compute capability 9.0.
//
// AMD's white papers on CDNA, CDNA 2, CDNA 3 and CDNA 4, in FLOPs per cycle and CU, which are two
// per FMA. RDNA 3 and 4 by their peaks: 122.8 TFLOP/s of FP16 by 96 CUs at 2500 MHz (RX 7900 XTX),
// 195 by 64 CUs at 2970 MHz (RX 9070 XT).
#pragma once

#include <hipscope/hipscope.h>

#include <limits>
#include <string>
#include <string_view>

namespace matrix_rate {

struct DocumentedRate {
  std::string_view architecture;
  std::string_view format;
  double fmas;  ///< per cycle and CU
};

inline constexpr DocumentedRate documented_rates[] = {
    {"sm_90", "FP64", 128},
    {"sm_90", "TF32", 1024},
    {"sm_90", "FP16", 2048},
    {"sm_90", "FP16, FP16 sums", 2048},
    {"sm_90", "BF16", 2048},
    {"sm_90", "FP8 E4M3", 4096},
    {"sm_90", "FP8 E5M2", 4096},
    {"sm_90", "INT8", 4096},
    {"sm_90", "TF32 sparse", 2048},
    {"sm_90", "FP16 sparse", 4096},
    {"sm_90", "BF16 sparse", 4096},
    {"sm_90", "FP8 E4M3 sparse", 8192},
    {"sm_90", "FP8 E5M2 sparse", 8192},
    {"sm_90", "INT8 sparse", 8192},
    {"sm_90", "FP16 packed", 256},
    {"sm_90", "BF16 packed", 256},
    {"sm_90", "FP32 vector", 128},
    {"sm_90", "FP64 vector", 64},
    {"gfx908", "FP32", 128},
    {"gfx908", "FP16", 512},
    {"gfx908", "BF16", 256},
    {"gfx908", "INT8", 512},
    {"gfx90a", "FP64", 128},
    {"gfx90a", "FP32", 128},
    {"gfx90a", "FP16", 512},
    {"gfx90a", "BF16", 512},
    {"gfx90a", "INT8", 512},
    {"gfx942", "FP64", 128},
    {"gfx942", "FP32", 128},
    {"gfx942", "XF32", 512},
    {"gfx942", "FP16", 1024},
    {"gfx942", "BF16", 1024},
    {"gfx942", "FP8 E4M3", 2048},
    {"gfx942", "FP8 E5M2", 2048},
    {"gfx942", "INT8", 2048},
    {"gfx950", "FP64", 64},
    {"gfx950", "FP32", 128},
    {"gfx950", "FP16", 2048},
    {"gfx950", "BF16", 2048},
    {"gfx950", "FP8 E4M3", 4096},
    {"gfx950", "FP8 E5M2", 4096},
    {"gfx950", "INT8", 4096},
    {"gfx950", "FP6 E3M2", 8192},
    {"gfx950", "FP6 E2M3", 8192},
    {"gfx950", "FP4 E2M1", 8192},
    {"gfx1100", "FP16", 256},
    {"gfx1100", "BF16", 256},
    {"gfx1201", "FP16", 512},
    {"gfx1201", "BF16", 512},
    {"gfx1201", "FP8 E4M3", 1024},
    {"gfx1201", "FP8 E5M2", 1024},
};

/// 0: none found.
inline double documented_rate(const std::string& architecture, std::string_view format) {
  const std::string family = architecture.substr(0, architecture.find(':'));
  for (const DocumentedRate& rate : documented_rates) {
    if (rate.architecture == family && rate.format == format) {
      return rate.fmas;
    }
  }
  return 0;
}

inline const double unknown = std::numeric_limits<double>::quiet_NaN();

/// What that many FMAs of each CU come to, in cycles and in seconds.
inline void add_rates(hipscope::Point& point, const hipscope::Measurement& time,
                      double fmas_of_unit, double units, std::string_view format) {
  const double rate = fmas_of_unit / time.cycles();
  const double documented = documented_rate(point.device().architecture, format);
  point.value("rate", rate, "FMAs/cycle/CU");
  point.value("share of documented", documented > 0 ? 100 * rate / documented : unknown, "%");
  point.value("peak", 2e-12 * fmas_of_unit * units / time.seconds().median, "TFLOP/s or TOP/s");
  point.value("clock", 1e-6 * time.cycles() / time.seconds().median, "MHz");
}

}  // namespace matrix_rate
