#!/usr/bin/env bash
# Builds everything with ROCm 7's compiler and runs the ISA tests there, on a machine that has another.
#
# Usage: rocm7.sh [--targets LIST | --all] [--only REGEX]
#                 [--device | --report | --predict | --host | --emulator | --make]
#                 [--chroot DIR] [--build DIR] [--mirror URL]
#
#   --targets LIST  GPU architectures, in one argument (default "gfx942 gfx1100")
#   --all           gfx90a, gfx942, gfx950, gfx1100, gfx1151 and gfx1201
#   --device        build no binaries: the ISA tests compile the device code alone, by themselves
#   --report        instead of that, report on the machine code for these targets in results/isa
#   --predict       instead of that, predict shares of peak from the machine code for these targets, in
#                   results/isa/predictions.md
#   --host          instead of that, build the host backend with the g++ there, the newest, and with clang 22,
#                   and run the unit tests and the functional ones with both
#   --emulator      instead of that, run what clang 22 makes for gfx90a in the emulator of tests/emulator
#   --make          instead of that, only make the system with ROCm 7, where there is none
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
all_targets="gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1201"
what=kernels
only=.
chroot=${HIPSCOPE_ROCM7:-/var/cache/hipscope/rocm7}
build=$root/build/rocm7

mirror=http://deb.debian.org/debian
# hipBLASLt's header includes one of libhipblas-common-dev, which its package does not ask for.
rocm_packages=(hipcc libamdhip64-dev librocprim-dev librocblas-dev libhipblaslt-dev libhipblas-common-dev
  libmiopen-dev rocminfo)
build_packages=(ca-certificates g++ cmake ninja-build git libcli11-dev nlohmann-json3-dev libfmt-dev
  libfccp-dev libgtest-dev libgmock-dev libboost-context-dev
  python3-yaml python3-jsonschema python3-matplotlib python3-pytest)

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
      mkdir -p "$build/isa" "$source/results/isa"
      mount --bind "$source/results/isa" "$folder/hipscope/build/isa"
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

# experiments [FOLDER]: those of a build that are asked for.
experiments() {
  sed 's#.*/##' "$build/${1:-cmake}/experiments.txt" | grep -E "$only" || true
}

# run_tests FOLDER OPTION...: those tests of a build that ctest's options choose; adds to the sums.
run_tests() {
  local total wrong out
  inside "$chroot" ctest --test-dir "/hipscope/build/$1" "${@:2}" -j "$(nproc)" \
    --output-on-failure --no-tests=error --output-junit /hipscope/build/tests.xml >"$build/tests.log" 2>&1 ||
    grep -vE '^ +Start|Passed' "$build/tests.log" || true
  total=$(number_of tests) wrong=$(number_of failures) out=$(($(number_of skipped) + $(number_of disabled)))
  if ((total == 0)); then
    wrong=1 total=1
  fi
  passed=$((passed + total - wrong - out)) failed=$((failed + wrong)) left_out=$((left_out + out))
}

# test_kernels FOLDER: the experiments' kernels and, when all are asked for, what question 10 is about.
test_kernels() {
  local tests=() name
  for name in $(experiments "$1") $([[ $only != . ]] || printf two_statements); do
    tests+=("${name/./[.]}")
  done
  run_tests "$1" -R "^isa[.]($(IFS='|' && printf '%s' "${tests[*]}"))[.]"
}

# configure NAME OPTION...: in the folder NAME.
configure() {
  logged "configure-$1" cmake -S /hipscope/source -B "/hipscope/build/$1" -DHIPSCOPE_TESTS=ON \
    -DHIPSCOPE_WERROR=ON "${@:2}"
}

# configure_and_build NAME OPTION...: only what matches, if anything is to match.
configure_and_build() {
  local name=$1 chosen=()
  configure "$@"
  if [[ $name != host-* || $only != . ]]; then
    mapfile -t chosen < <(experiments "$name")
    ((${#chosen[@]})) || usage_error "no experiment matches '$only'."
    [[ $name != emulator ]] || chosen+=(hipscope_emulated_runtime)
    chosen=(--target "${chosen[@]}")
  fi
  logged "build-$name" cmake --build "/hipscope/build/$name" -j "$(nproc)" "${chosen[@]}"
}

build_and_test_kernels() {
  inside "$chroot" sh -c 'hipcc --version; echo' | sed -n 's/^.*clang version/clang/p;s/^HIP version/HIP/p' | head -n 2
  configure_and_build cmake --preset amd-test "-DHIPSCOPE_AMD_TARGETS=${targets// /;}"
  test_kernels cmake
}

test_device_code() {
  configure device --preset amd-test "-DHIPSCOPE_AMD_TARGETS=${targets// /;}" -DHIPSCOPE_KEEP_ASSEMBLY=OFF
  test_kernels device
}

# With --only, what is asked of those binaries; else all that ctest has but for what takes long.
build_and_test_host() {
  local compiler
  inside "$chroot" python3 -c 'import pytest' 2>/dev/null ||
    logged pytest apt-get install -y --no-install-recommends python3-pytest
  for compiler in g++ clang++-22; do
    inside "$chroot" "$compiler" --version | head -n 1
    configure_and_build "host-$compiler" --preset host "-DCMAKE_CXX_COMPILER=$compiler"
    if [[ $only == . ]]; then
      run_tests "host-$compiler" -E '^functional[.](hostile|sizes)'
    else
      inside "$chroot" env "HIPSCOPE_BUILD=/hipscope/build/host-$compiler" HIPSCOPE_SOURCE=/hipscope/source \
        HIPSCOPE_BACKEND=host HIPSCOPE_HOST_WAVE_SIZE=64 python3 -m pytest -q -p no:cacheprovider \
        --junitxml /hipscope/build/tests.xml /hipscope/source/tests/functional/test_results.py \
        -k "$(experiments "host-$compiler" | paste -sd ' ' | sed 's/ / or /g')" >"$build/tests.log" 2>&1 ||
        tail -n 40 "$build/tests.log"
      passed=$((passed + $(number_of tests) - $(number_of failures) - $(number_of errors) - $(number_of skipped)))
      failed=$((failed + $(number_of failures) + $(number_of errors))) left_out=$((left_out + $(number_of skipped)))
    fi
  done
}

build_and_emulate() {
  local log=$build/emulator.log sum
  targets=gfx90a
  # ROCm's libraries want the runtime's own symbols, which the stand-in has not.
  configure_and_build emulator --preset amd-test -DHIPSCOPE_AMD_TARGETS=gfx90a -DHIPSCOPE_VENDOR_LIBRARIES=OFF
  inside "$chroot" python3 /hipscope/source/tests/emulator/run_experiments.py --build /hipscope/build/emulator \
    --words target=gfx90a --only "^($(experiments emulator | paste -sd '|'))\$" >"$log" 2>&1 || true
  grep -v '^good: ' "$log" || true
  sum=$(tail -n 1 "$log")
  if [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} left_out=${BASH_REMATCH[3]}
  else
    failed=1
  fi
}

# report_on_code [OPTION...]: by isa_report.py, with these options.
report_on_code() {
  inside "$chroot" python3 /hipscope/source/scripts/isa_report.py --out /hipscope/build/isa \
    --targets "${targets// /,}" ${only:+--only "$only"} "$@"
}

# number_of ATTRIBUTE: a count of the tests' JUnit file.
number_of() {
  grep -oE "\b$1=\"[0-9]+\"" "$build/tests.xml" 2>/dev/null | head -n 1 | grep -oE '[0-9]+' || printf '0\n'
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
    --all) targets=$all_targets ;;
    --device) what=device ;;
    --report) what=report ;;
    --predict) what=predict ;;
    --host) what=host ;;
    --emulator) what=emulator ;;
    --make) what='make' ;;
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
mkdir -p "$build" "${chroot%/*}"
# Of two at a time one makes the system, the other waits for it.
exec 9>"$chroot.lock"
flock 9
if [[ ! -d $chroot ]]; then
  type -P debootstrap >/dev/null || skip "there is no debootstrap to make a system with ROCm 7 with"
  make_chroot || skip "a system with ROCm 7 could not be made (log: $chroot.new.log)"
fi

exec 9>&-

passed=0 failed=0 left_out=0
case $what in
  make) exit ;;
  kernels) build_and_test_kernels ;;
  device) test_device_code ;;
  host) build_and_test_host ;;
  emulator) build_and_emulate ;;
  report)
    report_on_code --changed
    exit
    ;;
  predict)
    report_on_code --predict
    exit
    ;;
esac
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$left_out"
((failed == 0))
