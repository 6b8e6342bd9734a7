#!/usr/bin/env bash
# Builds everything with ROCm 7's compiler and runs the ISA tests there, on a machine that has another.
#
# Usage: rocm7.sh [--targets LIST] [--only REGEX] [--chroot DIR] [--build DIR] [--mirror URL]
#
#   --targets LIST  GPU architectures, in one argument (default "gfx942 gfx1100")
#   --only REGEX    only the experiments that the regular expression matches
#   --chroot DIR    where the system with ROCm 7 is, or is to be made (default: HIPSCOPE_ROCM7 of the
#                   environment, or else /var/cache/hipscope/rocm7)
#   --build DIR     the build folder (default build/rocm7)
#   --mirror URL    of Debian (default http://deb.debian.org/debian)
#   --help          prints this
#
# As root, with debootstrap and Debian's mirror: it makes a Debian sid with the packages of experimental in
# DIR (6 GB), which nothing else on the machine sees. Where that cannot be, it says so in one sentence and
# ends with status 77. The last line is the sum of the tests, "N passed, N failed, N skipped".
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/common.sh
source "$here/common.sh"

skipped_status=77
targets="gfx942 gfx1100"
only=.
chroot=${HIPSCOPE_ROCM7:-/var/cache/hipscope/rocm7}
build=$root/build/rocm7

mirror=http://deb.debian.org/debian
rocm_packages=(hipcc libamdhip64-dev librocprim-dev librocblas-dev libmiopen-dev rocminfo)
build_packages=(ca-certificates g++ cmake ninja-build git libcli11-dev nlohmann-json3-dev libfmt-dev
  libfccp-dev libgtest-dev libgmock-dev libboost-context-dev
  python3-yaml python3-jsonschema python3-matplotlib)

# skip SENTENCE: what this needs is not there.
skip() {
  printf 'skipped: %s\n' "$1"
  exit "$skipped_status"
}

# The system's folder gets its name only once all is in it, so that half of one is never taken for it.
make_chroot() {
  local new=$chroot.new
  printf 'making a Debian sid with ROCm 7 in %s\n' "$chroot"
  rm -rf "$new"
  mkdir -p "$new"
  debootstrap --variant=minbase sid "$new" "$mirror" >"$new.log" 2>&1 || return
  printf 'deb %s sid main\ndeb %s experimental main\n' "$mirror" "$mirror" >"$new/etc/apt/sources.list"
  # A mirror of these two may be days behind, by which time its lists would be refused.
  printf 'Acquire::Check-Valid-Until "false";\n' >"$new/etc/apt/apt.conf.d/99-hipscope"
  cp /etc/resolv.conf "$new/etc/resolv.conf"
  # What starts a service would start it on this machine.
  printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
  chmod +x "$new/usr/sbin/policy-rc.d"
  install_system "$new" >>"$new.log" 2>&1 || return
  mkdir -p "$new/hipscope/source" "$new/hipscope/build"
  mv "$new" "$chroot"
  rm -f "$new.log"
}

install_system() {
  local new=$1 install=(apt-get install -y --no-install-recommends) llvm
  inside "$new" apt-get update || return
  inside "$new" "${install[@]}" -t experimental "${rocm_packages[@]}" || return
  inside "$new" "${install[@]}" "${build_packages[@]}" || return
  # FileCheck, of the LLVM that hipcc depends on.
  llvm=$(inside "$new" apt-cache depends hipcc | sed -n 's/.*Depends: \(llvm-[0-9]*\)$/\1/p' | head -n 1)
  inside "$new" "${install[@]}" "$llvm-tools" || return
  inside "$new" apt-get clean
}

# inside FOLDER COMMAND...: runs it in the system that is there, with the sources, which it cannot write,
# and the build folder. The mounts are seen by that command alone and end with it.
inside() {
  # shellcheck disable=SC2016 # the inner shell is to expand it
  unshare --mount bash -ec '
    folder=$1 source=$2 build=$3
    shift 3
    mount -t proc proc "$folder/proc"
    if [[ -d $folder/hipscope ]]; then
      mount --bind -o ro "$source" "$folder/hipscope/source"
      mount --bind "$build" "$folder/hipscope/build"
    fi
    exec chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
      DEBIAN_FRONTEND=noninteractive HIP_PLATFORM=amd "$@"
  ' inside "$1" "$root" "$build" "${@:2}"
}

# logged NAME COMMAND...: runs it inside, with its output in a log, whose end is shown when it fails.
logged() {
  local log=$build/$1.log
  shift
  if ! inside "$chroot" "$@" >"$log" 2>&1; then
    tail -n 80 "$log"
    printf '%s: failed: %s (log: %s)\n' "${0##*/}" "$*" "$log" >&2
    printf '0 passed, 1 failed, 0 skipped\n'
    exit 1
  fi
}

experiments() {
  grep -E "$only" "$build/cmake/experiments.txt" || true
}

run_tests() {
  local tests=() name total failed left_out
  for name in $(experiments); do
    tests+=("${name/./[.]}")
  done
  local expression
  expression=$(IFS='|' && printf '%s' "${tests[*]}")
  inside "$chroot" ctest --test-dir /hipscope/build/cmake -R "^isa[.](symbols[.])?(${expression})[.]" -j "$(nproc)" \
    --output-on-failure --no-tests=error --output-junit /hipscope/build/isa.xml >"$build/isa.log" 2>&1 ||
    grep -vE '^ +Start|Passed' "$build/isa.log" || true
  total=$(number_of tests) failed=$(number_of failures) left_out=$(($(number_of skipped) + $(number_of disabled)))
  if ((total == 0)); then
    failed=1 total=1
  fi
  printf '%d passed, %d failed, %d skipped\n' $((total - failed - left_out)) "$failed" "$left_out"
  ((failed == 0))
}

# number_of ATTRIBUTE: a count of the tests' JUnit file.
number_of() {
  grep -oE "\b$1=\"[0-9]+\"" "$build/isa.xml" 2>/dev/null | head -n 1 | grep -oE '[0-9]+' || printf '0\n'
}

while (($#)); do
  case $1 in
    --targets | --only | --chroot | --build | --mirror)
      need_value "$1" $#
      case $1 in
        --targets) targets=$2 ;;
        --only) only=$2 ;;
        --chroot) chroot=$(realpath -m "$2") ;;
        --build) build=$(realpath -m "$2") ;;
        --mirror) mirror=$2 ;;
      esac
      shift
      ;;
    --help | -h)
      show_help "$0"
      exit 0
      ;;
    *) usage_error "unknown argument '$1'; see --help." ;;
  esac
  shift
done

((EUID == 0)) || skip "a system with ROCm 7 in a folder of its own takes root to make and to enter"
unshare --mount true 2>/dev/null || skip "this machine lets nobody make mounts of their own"
mkdir -p "$build"
if [[ ! -d $chroot ]]; then
  type -P debootstrap >/dev/null || skip "there is no debootstrap to make a system with ROCm 7 with"
  make_chroot || skip "a system with ROCm 7 could not be made (log: $chroot.new.log)"
fi

inside "$chroot" sh -c 'hipcc --version; echo' | sed -n 's/^.*clang version/clang/p;s/^HIP version/HIP/p' | head -n 2
logged configure cmake -S /hipscope/source -B /hipscope/build/cmake --preset amd-test -DHIPSCOPE_TESTS=ON \
  -DHIPSCOPE_WERROR=ON "-DHIPSCOPE_AMD_TARGETS=${targets// /;}"
mapfile -t chosen < <(experiments)
((${#chosen[@]})) || usage_error "no experiment matches '$only'."
logged build cmake --build /hipscope/build/cmake -j "$(nproc)" --target "${chosen[@]}"
run_tests
