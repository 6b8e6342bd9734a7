// Runs the trials and prints their tables: inference_trial [--seeds test|fit|held-out]
// [GoogleTest's options].
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "trial.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using hipscope::trial::Seeds;
  if (argc == 3 && std::string(argv[1]) == "--seeds") {
    const std::string seeds = argv[2];
    hipscope::trial::set_seeds(seeds == "held-out" ? Seeds::held_out
                               : seeds == "fit"    ? Seeds::fit
                                                   : Seeds::test);
  } else if (argc != 1) {
    std::cerr << "usage: inference_trial [--seeds test|fit|held-out] [GoogleTest's options]\n";
    return 2;
  }
  const int status = RUN_ALL_TESTS();
  std::cout << '\n' << hipscope::trial::tables();
  return status;
}
