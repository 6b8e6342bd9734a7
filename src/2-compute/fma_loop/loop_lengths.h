// The lengths of fma_loop's sweeps unroll-N.
#pragma once

#include <vector>

namespace hipscope::trial {

inline constexpr double loop_bytes = 48;  ///< of the loop's own instructions

/// In bytes, for the numbers of FMAs that the sweeps have.
inline std::vector<double> loop_lengths(double bytes_per_fma) {
  std::vector<double> xs;
  for (const double fmas :
       {1,    2,    4,    8,    16,   32,   64,   100,  128,  192,  256,  384,  512,   768,  1024,
        1536, 2048, 3072, 3584, 4000, 4096, 4608, 6144, 7168, 8000, 8192, 9216, 12288, 16384}) {
    xs.push_back(fmas * bytes_per_fma + loop_bytes);
  }
  return xs;
}

/// The FMAs of a loop of `bytes`.
inline double fmas_of(double bytes, double bytes_per_fma) {
  return (bytes - loop_bytes) / bytes_per_fma;
}

}  // namespace hipscope::trial
