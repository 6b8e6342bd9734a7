// How a kernel whose blocks store whole groups of four planes is launched.
#pragma once

#include "places.h"
#include "read_ahead.h"
#include "stage.h"

namespace hipscope::padding {

template <unsigned Threads, unsigned Rounds>
Stage tile_stage(const std::string& name, void (*kernel)(const float*, float*, unsigned, ReadAhead),
                 std::uint64_t clump_bytes) {
  return {.name = name,
          .is_of_fixed_shape = true,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned planes = Tile<Threads, Rounds>::planes;
            const std::uint64_t tiles = (arrays.sizes.planes + planes - 1) / planes;
            launch(kernel, launch_shape(tiles * Threads, Threads), arrays.input.data(),
                   arrays.output.data(), arrays.sizes.planes, ahead_of(arrays, clump_bytes, tiles));
          }};
}

}  // namespace hipscope::padding
