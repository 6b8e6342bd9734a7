// Three buffers of A, and waits that count.
//
// Against 07.5: there a tile's loads must be complete when the tile before is multiplied, and the
// barrier waits for all loads of the wave. They take no registers, so A can be loaded a tile
// earlier, if LDS has room. Loads complete in order: the wait leaves in flight as many as A's
// newest tile has. B, which is transposed in registers, comes as before; its loads are issued
// before A's, so that they are not among the newest. Up to gfx942 the 64 KiB of LDS have room for a
// third buffer of 128 rows, with 64 x 64 of C for each wave, which then reads a third more from LDS
// for each product; gfx950 keeps its tile. Not measured.
#pragma once

#include "07.5-loads-to-lds.h"
#include "stage.h"

namespace hgemm {

inline std::vector<Stage> three_lds_buffers_stages() {
  using Codes = Instructions<Half>;
  const std::string what = ", three LDS buffers";
  return {stage_of_lds_loads<LargeTile<Codes::Mfma, 128>, 2>(what),
          stage_of_lds_loads<LargeTile<Codes::MfmaOf950>, 2>(what)};
}

}  // namespace hgemm
