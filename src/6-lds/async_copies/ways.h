// The ways of a wave to copy a piece of an array to LDS. Each is a class template of the bytes of a
// piece and of how many slots for pieces the wave has there:
//   begin(slot, piece)            asks for a piece
//   finish<younger>(slot, turn)   waits until it is in LDS, for all lanes of the wave; `younger`
//                                 pieces that were asked for after it may still be in flight
//   release()                     before the slot is filled anew: all lanes have read it
// It also says its name, which devices have it, and what it takes for an array.
#pragma once

#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>
#include <hipscope/lds_copies.h>
#include <hipscope/scheduling_barrier.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "slots.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA) && !defined(__grid_constant__)
// CUDA's word for a parameter that a tensor copy reads in place.
#define __grid_constant__  // NOLINT(bugprone-reserved-identifier)
#endif

namespace async_copies {

using hipscope::DeviceDescription;

template <unsigned Bytes>
struct Piece {
  static constexpr unsigned bytes = Bytes;
  static constexpr unsigned barrier_bytes = 0;  // of a slot
  static constexpr unsigned words = Bytes / sizeof(unsigned);
  static constexpr unsigned pitch = Bytes < sizeof(Line) ? sizeof(Line) : Bytes;  // in LDS
  static_assert(Bytes % 16 == 0);
};

// --- Through registers

template <unsigned Width>
using Access = std::conditional_t<Width == 4, unsigned, uint4>;

/// Past L1, as cp.async of 16 bytes; on AMD, where that would change L2's policy too, like loads to
/// LDS.
#if defined(HIPSCOPE_BACKEND_NVIDIA)
inline constexpr hipscope::Hint hint = hipscope::Hint::past_l1;
#else
inline constexpr hipscope::Hint hint = hipscope::Hint::none;
#endif

/// Loads of `Width` bytes per lane, and stores to LDS.
template <unsigned Width, unsigned Bytes, unsigned InFlight>
class LoadAndStore : public Piece<Bytes> {
 public:
  using Array = const unsigned*;
  static constexpr unsigned in_flight = InFlight;
  // Dwords of a lane in flight, and for many small loads as many of addresses, or it would spill.
  static constexpr bool fits = Bytes * InFlight / 32 / (Width == 4 ? 2 : 4) <= 128;
  static std::string name() { return "load and store " + std::to_string(Width); }
  static bool is_on(const DeviceDescription&) { return true; }
  static Array array_of(const unsigned* words, std::uint64_t) { return words; }

  __device__ LoadAndStore(const Array& array, const Slots& slots) : array_(array), slots_(slots) {}

  __device__ void begin(unsigned slot, unsigned piece) {
    const auto* const from =
        reinterpret_cast<const Access<Width>*>(array_) + std::size_t{piece} * (Bytes / Width);
#pragma unroll
    for (unsigned i = 0; i < accesses; ++i) {
      if (is_there(i)) {
        value_[slot][i] = hipscope::load<hint>(from + place(i));
      }
    }
    // Else clang stores some before it loads others, to save registers.
    hipscope::memory_scheduling_barrier();
  }

  template <unsigned younger>
  __device__ void finish(unsigned slot, unsigned) {
    wave_barrier();  // no load sinks below another one's store
#pragma unroll
    for (unsigned i = 0; i < accesses; ++i) {
      if (is_there(i)) {
        hipscope::lds_store<Width>(slots_.lds,
                                   slots_.address(slot * Piece<Bytes>::pitch + place(i) * Width),
                                   words_of(value_[slot][i]));
      }
    }
    wave_barrier();
  }

  __device__ void release() { wave_barrier(); }

 private:
  static constexpr unsigned wave_bytes = fewest_lanes * Width;
  static constexpr unsigned accesses = (Bytes + wave_bytes - 1) / wave_bytes;

  [[nodiscard]] __device__ unsigned place(unsigned i) const { return slots_.lane + i * lanes(); }
  [[nodiscard]] __device__ bool is_there(unsigned i) const { return place(i) < Bytes / Width; }

  static __device__ hipscope::LdsWords<4> words_of(unsigned value) { return {{value}}; }
  static __device__ hipscope::LdsWords<16> words_of(const uint4& value) {
    return {{value.x, value.y, value.z, value.w}};
  }

  const unsigned* array_;
  Slots slots_;
#if defined(HIPSCOPE_BACKEND_HOST)
  // g++ 16 does not see that what is stored has been loaded under the same condition.
  Access<Width> value_[InFlight][accesses] = {};
#else
  Access<Width> value_[InFlight][accesses];
#endif
};

#if defined(HIPSCOPE_BACKEND_NVIDIA)

// --- By each lane

/// cp.async: as LoadAndStore, without the register between.
template <unsigned Width, unsigned Bytes, unsigned InFlight>
class LaneCopy : public Piece<Bytes> {
 public:
  using Array = const unsigned*;
  static constexpr unsigned in_flight = InFlight;
  static constexpr bool fits = true;
  static std::string name() { return "cp.async " + std::to_string(Width); }
  static bool is_on(const DeviceDescription& device) {
    return hipscope::has_lane_copies(device.architecture);
  }
  static Array array_of(const unsigned* words, std::uint64_t) { return words; }

  __device__ LaneCopy(const Array& array, const Slots& slots) : array_(array), slots_(slots) {}

  __device__ void begin(unsigned slot, unsigned piece) {
    const unsigned char* const from =
        reinterpret_cast<const unsigned char*>(array_) + std::size_t{piece} * Bytes;
    unsigned char* const to = slots_.at(slot * Piece<Bytes>::pitch);
#pragma unroll 16
    for (unsigned at = slots_.lane * Width; at < Bytes; at += fewest_lanes * Width) {
      hipscope::copy_to_lds<Width>(to + at, from + at);
    }
    hipscope::end_group();
  }

  template <unsigned younger>
  __device__ void finish(unsigned, unsigned) {
    hipscope::wait_for_groups<younger>();
    wave_barrier();
  }

  __device__ void release() { wave_barrier(); }

 private:
  const unsigned* array_;
  Slots slots_;
};

// --- By the CU's copy unit

/// What bulk and tensor copies share: one lane asks, a barrier of each slot counts what arrives.
template <unsigned Bytes, unsigned InFlight>
class CountedCopy : public Piece<Bytes> {
 public:
  static constexpr unsigned barrier_bytes = sizeof(std::uint64_t);
  static constexpr unsigned in_flight = InFlight;
  static constexpr bool fits = true;
  static bool is_on(const DeviceDescription& device) {
    return hipscope::has_bulk_copies(device.architecture);
  }

  __device__ explicit CountedCopy(const Slots& slots) : slots_(slots) {
#if defined(HIPSCOPE_BULK_COPIES)
    if (slots.lane == 0) {
      for (unsigned slot = 0; slot < InFlight; ++slot) {
        hipscope::init_barrier(slots.arrived + slot, 1);
      }
      hipscope::publish_barriers();
    }
    wave_barrier();
#endif
  }

  template <unsigned younger>
  __device__ void finish([[maybe_unused]] unsigned slot, [[maybe_unused]] unsigned turn) {
#if defined(HIPSCOPE_BULK_COPIES)
    hipscope::wait_for(slots_.arrived + slot, turn % 2);
#endif
  }

  __device__ void release() { wave_barrier(); }

 protected:
  // `ask` is given the slot and its barrier.
  template <typename Ask>
  __device__ void begin_with([[maybe_unused]] unsigned slot, [[maybe_unused]] Ask ask) {
#if defined(HIPSCOPE_BULK_COPIES)
    if (slots_.lane == 0) {
      hipscope::arrive_expecting(slots_.arrived + slot, Bytes);
      ask(slots_.at(slot * Piece<Bytes>::pitch), slots_.arrived + slot);
    }
#endif
  }

 private:
  Slots slots_;
};

/// cp.async.bulk: one copy of `Bytes`.
template <unsigned Bytes, unsigned InFlight>
class BulkCopy : public CountedCopy<Bytes, InFlight> {
 public:
  using Array = const unsigned*;
  static std::string name() { return "bulk"; }
  static Array array_of(const unsigned* words, std::uint64_t) { return words; }

  __device__ BulkCopy(const Array& array, const Slots& slots)
      : CountedCopy<Bytes, InFlight>(slots), array_(array) {}

  __device__ void begin(unsigned slot, unsigned piece) {
    this->begin_with(slot, [&](void* to, std::uint64_t* arrived) {
#if defined(HIPSCOPE_BULK_COPIES)
      hipscope::copy_bulk(to, array_ + std::size_t{piece} * Piece<Bytes>::words, Bytes, arrived);
#endif
    });
  }

 private:
  const unsigned* array_;
};

/// cp.async.bulk.tensor: a box of a matrix, of rows as long as a box may be wide.
template <unsigned Bytes, unsigned InFlight>
class TensorCopy : public CountedCopy<Bytes, InFlight> {
 public:
  using Array = hipscope::TensorMap;
  static std::string name() { return "tensor"; }
  static Array array_of(const unsigned* words, std::uint64_t bytes) {
    return hipscope::tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT32, words,
                                static_cast<unsigned>(bytes / sizeof(unsigned) / columns), columns,
                                columns, {.rows = rows, .columns = columns},
                                CU_TENSOR_MAP_SWIZZLE_NONE);
  }

  __device__ TensorCopy(const Array& array, const Slots& slots)
      : CountedCopy<Bytes, InFlight>(slots), map_(&array) {}

  __device__ void begin(unsigned slot, unsigned piece) {
    this->begin_with(slot, [&](void* to, std::uint64_t* arrived) {
#if defined(HIPSCOPE_BULK_COPIES)
      hipscope::copy_box(to, map_, 0, piece * rows, arrived);
#endif
    });
  }

 private:
  static constexpr unsigned most_columns = 256;
  static constexpr unsigned columns =
      Piece<Bytes>::words < most_columns ? Piece<Bytes>::words : most_columns;
  static constexpr unsigned rows = Piece<Bytes>::words / columns;

  const hipscope::TensorMap* map_;
};

#elif defined(HIPSCOPE_BACKEND_AMD)

// --- Loads to LDS

enum class LdsLoad { global, buffer, wide };

template <LdsLoad kind, unsigned Bytes, unsigned InFlight>
class LoadToLds : public Piece<Bytes> {
 public:
  using Array = const unsigned*;
  static constexpr unsigned in_flight = InFlight;
  static constexpr bool fits = true;
  static std::string name() {
    return kind == LdsLoad::global   ? "global load to LDS 4"
           : kind == LdsLoad::buffer ? "buffer load to LDS 4"
                                     : "global load to LDS 16";
  }
  static bool is_on(const DeviceDescription& device) {
    return kind == LdsLoad::wide ? hipscope::has_wide_lds_loads(device.architecture)
                                 : hipscope::has_lds_loads(device.architecture);
  }
  static Array array_of(const unsigned* words, std::uint64_t) { return words; }

  __device__ LoadToLds(const Array& array, const Slots& slots)
      : array_(array), lane_(slots.lane * width), to_(same_for_all_lanes(slots.address(0))) {}

  __device__ void begin([[maybe_unused]] unsigned slot, [[maybe_unused]] unsigned piece) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    if (lane_ < Bytes) {
#pragma unroll
      for (unsigned at = 0; at < Bytes; at += step) {
        const unsigned to = to_ + slot * Piece<Bytes>::pitch + at;
        const auto* const from = reinterpret_cast<const unsigned char*>(array_) +
                                 std::size_t{piece} * Bytes + at + lane_;
        if constexpr (kind == LdsLoad::global) {
          hipscope::load_to_lds<loads>(to, from);
        } else if constexpr (kind == LdsLoad::buffer) {
          hipscope::load_buffer_to_lds<loads>(to, hipscope::buffer_of(array_),
                                              piece * Bytes + at + lane_);
        } else {
          hipscope::load_wide_to_lds(to, from);
        }
      }
    }
#endif
  }

  template <unsigned younger>
  __device__ void finish(unsigned, unsigned) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<younger * loads*((Bytes + step - 1) / step)>();
#endif
    wave_barrier();
  }

  // Loads from LDS may still wait for their turn when a load to LDS is asked for.
  __device__ void release() {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_lds_loads();
#endif
    wave_barrier();
  }

 private:
  static constexpr unsigned wave_lanes = 64;
  static constexpr unsigned width = kind == LdsLoad::wide ? 16 : 4;
  static constexpr bool is_by_four = kind != LdsLoad::wide && Bytes >= 4 * wave_lanes * width;
  static constexpr unsigned loads = is_by_four ? 4 : 1;  // of one statement
  static constexpr unsigned step = loads * wave_lanes * width;

  const unsigned* array_;
  unsigned lane_;
  unsigned to_;
};

#endif

}  // namespace async_copies
