// Runs the trials and prints their tables: inference_trial [--seeds test|fit|held-out|NUMBER]
// [GoogleTest's options]. A number is that of a lot.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "trial.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  namespace lot = hipscope::trial::lot;
  if (argc == 3 && std::string(argv[1]) == "--seeds") {
    const std::string seeds = argv[2];
    hipscope::trial::set_lot(seeds == "held-out" ? lot::held_out
                             : seeds == "fit"    ? lot::fit
                             : seeds == "test"   ? lot::test
                                                 : static_cast<unsigned>(std::stoul(seeds)));
  } else if (argc != 1) {
    std::cerr << "usage: inference_trial [--seeds test|fit|held-out|NUMBER] [GoogleTest's "
                 "options]\n";
    return 2;
  }
  const int status = RUN_ALL_TESTS();
  std::cout << '\n' << hipscope::trial::tables();
  return status;
}
