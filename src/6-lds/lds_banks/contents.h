// What LDS holds in lds_banks, and what its kernels must give.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <cstdint>
#include <cstring>
#include <numeric>

#include "patterns.h"

namespace lds_banks {

/// Accesses in the body of the loop: not a multiple of the copies, so that a chain does not end
/// where it began.
inline constexpr unsigned body_steps = 127;

/// The copy that a chain goes to from `copy`: by `salt` they go round forwards or backwards.
__host__ __device__ inline unsigned next_copy(unsigned copy, unsigned salt) {
  return (copy + 1 + salt % 2) % copies;
}

/// What dword i of LDS holds; the factor is odd, so that no two hold the same.
__host__ __device__ inline unsigned content(unsigned i, unsigned salt) {
  return (i + 1) * (salt | 1U);
}

/// Where a wave's chains end, what its loads add up to, and what its stores leave: each after
/// `rounds` rounds, those of the warm-up included.
template <unsigned Bytes>
Words chain_ends(const Words& offsets, Copies placement, unsigned salt, std::uint64_t rounds) {
  const auto copy = static_cast<unsigned>(rounds * body_steps * (1 + salt % 2) % copies);
  Words ends = offsets;
  for (unsigned& end : ends) {
    end += copy * placement.pitch;
  }
  return ends;
}

template <unsigned Bytes>
Words load_sums(const Words& offsets, Copies placement, unsigned salt, std::uint64_t rounds) {
  Words lds(placement.words);
  for (unsigned i = 0; i < lds.size(); ++i) {
    lds[i] = content(i, salt);
  }
  Words sums;
  for (const unsigned offset : offsets) {
    unsigned sum = 0;
    for (unsigned step = 0; step < body_steps; ++step) {
      hipscope::LdsWords<Bytes> loaded{};
      const auto* const bytes = reinterpret_cast<const unsigned char*>(lds.data());
      std::memcpy(&loaded, bytes + offset + step % copies * placement.pitch, Bytes);
      sum = std::accumulate(std::begin(loaded.word), std::end(loaded.word), sum);
    }
    sums.push_back(sum * static_cast<unsigned>(rounds));
  }
  return sums;
}

template <unsigned Bytes>
Words stored_words(const Words& offsets, Copies /*placement*/, unsigned salt,
                   std::uint64_t rounds) {
  constexpr unsigned count = hipscope::LdsWords<Bytes>::count;
  Words words;
  for (unsigned lane = 0; lane < offsets.size(); ++lane) {
    for (unsigned copy = 0; copy < copies; ++copy) {
      // The last of body_steps stores to this copy, counted from 1.
      const unsigned last = body_steps - (body_steps - 1 - copy) % copies;
      const auto stores = static_cast<unsigned>((rounds - 1) * body_steps + last);
      for (unsigned i = 0; i < count; ++i) {
        words.push_back(content(lane * count + i, salt) + (i == 0 ? stores : 0));
      }
    }
  }
  return words;
}

}  // namespace lds_banks
