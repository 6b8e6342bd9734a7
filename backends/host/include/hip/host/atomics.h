// HIP's atomic functions and memory fences. Each atomic returns the value that it replaced.
//
// Plain reads and writes do: one OS thread runs all lanes and leaves a lane only at a barrier or a
// wave operation, so nothing comes between an atomic's read and its write.
#pragma once

#include <concepts>
#include <type_traits>

namespace hip_host {

template <typename Value, typename... Candidates>
concept OneOf = (std::same_as<Value, Candidates> || ...);

template <typename Value>
concept AtomicInteger = OneOf<Value, int, unsigned, unsigned long, unsigned long long>;

template <typename Value>
concept AtomicNumber = AtomicInteger<Value> || OneOf<Value, float, double>;

/// Replaces *address by update(*address) and returns the former value.
template <typename Value, typename Update>
Value replace(Value* address, Update update) {
  const Value former = *address;
  *address = update(former);
  return former;
}

/// Returns a + b; integers wrap around, as on a GPU, also where C++ leaves it undefined.
template <AtomicNumber Value>
Value wrapping_sum(Value a, Value b) {
  if constexpr (std::is_integral_v<Value>) {
    using Unsigned = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

/// Returns a - b; integers wrap around.
template <AtomicNumber Value>
Value wrapping_difference(Value a, Value b) {
  if constexpr (std::is_integral_v<Value>) {
    using Unsigned = std::make_unsigned_t<Value>;
    return static_cast<Value>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  } else {
    return a - b;
  }
}

}  // namespace hip_host

template <hip_host::AtomicNumber Value>
Value atomicAdd(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(address,
                           [&](Value former) { return hip_host::wrapping_sum(former, value); });
}

template <hip_host::AtomicNumber Value>
Value atomicSub(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(
      address, [&](Value former) { return hip_host::wrapping_difference(former, value); });
}

template <hip_host::AtomicNumber Value>
Value atomicMin(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(address, [&](Value former) { return value < former ? value : former; });
}

template <hip_host::AtomicNumber Value>
Value atomicMax(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(address, [&](Value former) { return former < value ? value : former; });
}

template <hip_host::AtomicInteger Value>
Value atomicOr(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(address, [&](Value former) { return former | value; });
}

template <hip_host::AtomicNumber Value>
Value atomicExch(Value* address, std::type_identity_t<Value> value) {
  return hip_host::replace(address, [&](Value) { return value; });
}

/// Writes `value` if *address equals `compare`.
template <hip_host::AtomicNumber Value>
Value atomicCAS(Value* address, std::type_identity_t<Value> compare,
                std::type_identity_t<Value> value) {
  return hip_host::replace(address,
                           [&](Value former) { return former == compare ? value : former; });
}

/// Counts up to `limit`, then starts again at 0.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return hip_host::replace(address,
                           [&](unsigned former) { return former >= limit ? 0U : former + 1U; });
}

// One thread runs at a time, so that every scope is the system's.

template <hip_host::AtomicNumber Value>
Value atomicAdd_system(Value* address, std::type_identity_t<Value> value) {
  return atomicAdd(address, value);
}

template <hip_host::AtomicNumber Value>
Value atomicMin_system(Value* address, std::type_identity_t<Value> value) {
  return atomicMin(address, value);
}

template <hip_host::AtomicNumber Value>
Value atomicMax_system(Value* address, std::type_identity_t<Value> value) {
  return atomicMax(address, value);
}

template <hip_host::AtomicNumber Value>
Value atomicExch_system(Value* address, std::type_identity_t<Value> value) {
  return atomicExch(address, value);
}

template <hip_host::AtomicNumber Value>
Value atomicCAS_system(Value* address, std::type_identity_t<Value> compare,
                       std::type_identity_t<Value> value) {
  return atomicCAS(address, compare, value);
}

// The fences have nothing to order, for the reason above; they only keep the compiler from moving
// memory accesses over them.
inline void __threadfence_block() { __asm__ __volatile__("" ::: "memory"); }
inline void __threadfence() { __threadfence_block(); }
inline void __threadfence_system() { __threadfence_block(); }
