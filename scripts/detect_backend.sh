#!/usr/bin/env bash
# Prints the backend that fits this machine: amd, nvidia or host.
#
# Usage: detect_backend.sh [--explain]
#
#   amd     an AMD GPU's driver is loaded, this user may open /dev/kfd, and hipcc is there
#   nvidia  nvidia-smi lists a GPU and nvcc is there
#   host    otherwise: the kernels run on the CPU
#
#   --explain  prints one sentence on why instead
#   --help     prints this
#
# hipcc is looked for on PATH and in $ROCM_PATH/bin (/opt/rocm/bin), nvcc on PATH and in
# $CUDA_PATH/bin (/usr/local/cuda/bin). HIPSCOPE_KFD names another file than /dev/kfd, HIPSCOPE_KFD_NODES
# another folder than the driver's of its devices, for tests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
source "$here/common.sh"

find_nvidia_smi() {
  find_program nvidia-smi /usr/local/nvidia/bin /usr/bin
}

nvidia_gpu_listed() {
  local nvidia_smi gpus
  nvidia_smi=$(find_nvidia_smi)
  # A driver in trouble may make nvidia-smi wait for ever.
  gpus=$(timeout 30 "$nvidia_smi" -L 2>/dev/null) || return 1
  [[ $gpus == *GPU* ]]
}

can_be_opened() {
  { : <>"$1"; } 2>/dev/null
}

# Whether the driver has a GPU among its devices; the processor is one of them, too. Where it does not tell,
# there is one.
driver_has_gpu() {
  local nodes=${HIPSCOPE_KFD_NODES:-/sys/class/kfd/kfd/topology/nodes}
  ! grep -qs '^simd_count ' "$nodes"/*/properties || grep -qs '^simd_count [1-9]' "$nodes"/*/properties
}

# Sets backend and reason.
detect() {
  local kfd=${HIPSCOPE_KFD:-/dev/kfd}
  local missing=()
  backend=host
  if [[ ! -e $kfd ]]; then
    missing+=("no AMD GPU driver ($kfd is not there)")
  elif ! can_be_opened "$kfd"; then
    missing+=("an AMD GPU driver, but this user may not open $kfd, as members of its group, render or video, may")
  elif ! driver_has_gpu; then
    missing+=("an AMD GPU driver but no GPU that it can compute on")
  elif ! find_hipcc >/dev/null; then
    missing+=("an AMD GPU driver but no hipcc")
  else
    backend=amd
    reason="$kfd and hipcc are there"
    return
  fi
  if ! find_nvidia_smi >/dev/null; then
    missing+=("no NVIDIA GPU driver (there is no nvidia-smi)")
  elif ! nvidia_gpu_listed; then
    missing+=("no NVIDIA GPU (nvidia-smi lists none)")
  elif ! find_nvcc >/dev/null; then
    missing+=("an NVIDIA GPU but no nvcc")
  else
    backend=nvidia
    reason="nvidia-smi lists a GPU and nvcc is there"
    return
  fi
  reason="${missing[0]}; ${missing[1]}"
}

explain=false
while (($#)); do
  case $1 in
    --explain) explain=true ;;
    --help | -h)
      show_help "$0"
      exit 0
      ;;
    *) usage_error "unknown argument '$1'; see --help." ;;
  esac
  shift
done

detect
if $explain; then
  printf '%s\n' "$reason"
else
  printf '%s\n' "$backend"
fi
