#!/usr/bin/env bash
# Installs what hipscope needs to be built, run and tested, on Debian and Ubuntu.
#
# Usage: setup.sh [--check] [--for PURPOSE]
#
#   --check        only lists what is missing; the exit status is 1 when something is
#   --for PURPOSE  amd, nvidia or host: only what building and running that backend takes, which
#                  for host includes AMD's compiler; tests (the default): all that the tests take
#   --help         prints this
#
# What is there already stays as it is. As another user than root it calls sudo, which may ask for the
# password; where that cannot be, it says what works without. A ROCm install (hipcc in $ROCM_PATH/bin, by
# default /opt/rocm/bin) replaces the distribution's HIP packages. NVIDIA's CUDA toolkit is used when it is
# there, but not installed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
source "$here/common.sh"

build_packages=(g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libfmt-dev libfccp-dev git)
report_packages=(python3 python3-matplotlib)
host_packages=(libboost-context-dev python3-yaml)
test_packages=(libgtest-dev libgmock-dev python3-pytest python3-jsonschema python3-pytest-xdist python3-selenium
  clang-format clang-tidy shellcheck mypy)
# What opens the page that html_report.py makes. Ubuntu has no packages of it, only a snap.
browser_packages=(chromium chromium-driver)
# What starts fleet.py on the nodes of most sites: the test starts daemons of its own, in a scratch folder.
slurm_packages=(slurm-wlm munge)
# hipcc depends on the compiler, the linker and the device libraries that belong to it.
hip_packages=(hipcc libamdhip64-dev)
# What is measured beside ours.
amd_library_packages=(librocprim-dev)

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

is_available() {
  local candidate
  candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  [[ -n $candidate && $candidate != '(none)' ]]
}

rocm_hipcc() {
  [[ -x ${ROCM_PATH:-/opt/rocm}/bin/hipcc ]]
}

# The version of the LLVM that hipcc depends on.
llvm_version() {
  local version
  version=$(apt-cache depends hipcc 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
  printf '%s\n' "${version:-15}"
}

# Sets `wanted` to the packages that this machine should have, and splits it into `present` and
# `missing`.
look_up() {
  local package
  wanted=("${build_packages[@]}" "${report_packages[@]}")
  if [[ $purpose =~ ^(host|tests)$ ]]; then
    wanted+=("${host_packages[@]}")
    # Its llvm-mc and llvm-mca are what isa_report.py calls; a ROCm install has its own.
    rocm_hipcc || wanted+=("llvm-$(llvm_version)")
  fi
  if [[ $purpose != nvidia ]] && ! rocm_hipcc; then
    wanted+=("${hip_packages[@]}")
    [[ $purpose == host ]] || wanted+=("${amd_library_packages[@]}")
  fi
  if [[ $purpose == tests ]]; then
    # It has FileCheck, which the ISA tests use.
    wanted+=("${test_packages[@]}" "llvm-$(llvm_version)-tools")
    # It has ruff, which the distribution has not.
    is_any_there ruff npm || wanted+=(npm)
    for package in "${browser_packages[@]}" "${slurm_packages[@]}"; do
      if is_installed "$package" || is_available "$package"; then
        wanted+=("$package")
      fi
    done
  fi
  present=()
  missing=()
  for package in "${wanted[@]}"; do
    if is_installed "$package"; then
      present+=("$package")
    else
      missing+=("$package")
    fi
  done
}

mention_toolkits() {
  local nvcc
  if rocm_hipcc; then
    printf 'hipcc: %s/bin/hipcc, of a ROCm install\n' "${ROCM_PATH:-/opt/rocm}"
  fi
  if nvcc=$(find_nvcc); then
    printf 'nvcc: %s\n' "$nvcc"
  else
    printf 'nvcc: not there; NVIDIA builds are left out (the CUDA toolkit has it).\n'
  fi
}

# without_installing REASON: ends the script, with what a user can do who installs no packages.
without_installing() {
  local tools=()
  is_any_there c++ g++ clang++ || tools+=("a C++20 compiler")
  is_any_there cmake || tools+=("CMake 3.24")
  is_any_there ninja make || tools+=("Ninja or make")
  ((${#tools[@]} == 0)) || printf 'Not here, and needed to build: %s\n' "$(join_comma "${tools[@]}")"
  printf '%s: %s. Without that %s, and what else may be missing comes by: %s\n' "${0##*/}" "$1" \
    'CMake downloads the libraries that it does not find (or takes them from the folder HIPSCOPE_ARCHIVES)' \
    'python3 -m pip install --user cmake ninja -r requirements.txt' >&2
  exit 1
}

is_any_there() {
  local program
  for program in "$@"; do
    if type -P "$program" >/dev/null; then
      return
    fi
  done
  return 1
}

join_comma() {
  local first=$1
  shift
  printf '%s' "$first" "${@/#/, }"
}

is_root() {
  [[ $(id -u) == 0 ]]
}

# Whether as_root can do it: root, or a sudo that needs no password or has somebody to ask.
can_be_root() {
  is_root || { type -P sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; }
}

# as_root COMMAND...: runs it as root.
as_root() {
  if is_root; then
    "$@"
  else
    sudo "$@"
  fi
}

read_package_lists() {
  printf 'reading the package lists\n'
  as_root apt-get update -qq ||
    printf '%s: apt-get update failed; going on with the package lists as they are.\n' "${0##*/}" >&2
}

install_missing() {
  local package status=0
  local offered=() unknown=()
  for package in "${missing[@]}"; do
    if is_available "$package"; then
      offered+=("$package")
    else
      unknown+=("$package")
    fi
  done
  if ((${#offered[@]})); then
    printf 'installing: %s\n' "${offered[*]}"
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends "${offered[@]}" >/dev/null; then
      printf '%s: apt-get could not install them; its messages are above.\n' "${0##*/}" >&2
      status=1
    fi
  fi
  if ((${#unknown[@]})); then
    printf '%s: this release (%s) has no package named: %s\n' "${0##*/}" "$(release_name)" \
      "${unknown[*]}" >&2
    status=1
  fi
  return "$status"
}

release_name() {
  sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' /etc/os-release 2>/dev/null ||
    printf 'unknown'
}

check_only=false
purpose=tests
while (($#)); do
  case $1 in
    --check) check_only=true ;;
    --for)
      need_value "$1" $#
      [[ $2 =~ ^(amd|nvidia|host|tests)$ ]] ||
        usage_error "--for takes amd, nvidia, host or tests, not '$2'."
      purpose=$2
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

look_up
if ! type -P apt-get >/dev/null; then
  printf 'Needed (by their Debian names): %s\n' "${wanted[*]}"
  without_installing "there is no apt-get here; install these with the system's own package manager"
fi
if ((${#present[@]})); then
  printf 'already there: %s\n' "${present[*]}"
fi
if ((${#missing[@]} == 0)); then
  printf 'nothing to install\n'
  mention_toolkits
  exit 0
fi
if $check_only; then
  printf 'missing: %s\n' "${missing[*]}"
  mention_toolkits
  exit 1
fi
if ! can_be_root; then
  printf 'missing: %s\n' "${missing[*]}"
  without_installing "installing needs root, and sudo does not give it here"
fi
read_package_lists
# Which LLVM it is is known only once the lists are there.
look_up
status=0
install_missing || status=$?
mention_toolkits
exit "$status"
