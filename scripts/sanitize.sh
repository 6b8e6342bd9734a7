#!/usr/bin/env bash
# Runs every kernel under NVIDIA's compute-sanitizer, at small sizes, and says what it found.
#
# Usage: sanitize.sh [OPTION...]
#
#   --tools REGEX    only tools whose name matches, of memcheck, racecheck, initcheck and synccheck
#   --only REGEX     only experiments whose name matches
#   --device N       the device with this index (see the binaries' --devices)
#   -j N             N runs at once on that device (default: 4)
#   --limit SECONDS  the longest that a run may take (default: 300)
#   --build-dir DIR  build here instead of build/nvidia
#   --no-build       run the binaries as they are
#   --no-setup       do not look for missing packages, and install none
#   --help           prints this
#
# The sizes are those of --tiny. What a tool said is in DIR/sanitize/<experiment>.<tool>.log.
#
# A few kernels have blocks that wait for one another. racecheck may not run such blocks at the same
# time, so that the kernel never ends, and fails in itself on some of them. It leaves them out, and
# checks them in a second run, which may end at the limit (a quarter of the others') or by such a
# failure: that is said, but does not count.
# No tool sees the vendors' libraries, whose kernels are not ours to mend: the binaries are told not to
# call them.
# initcheck runs without the poison that else fills fresh device memory and would hide every read of
# what no kernel has written. Whole buffers are copied back to see that nothing was written beside a
# result, so initcheck looks at kernels only, not at copies to the host.
#
# Exit status: 0 all clean, 1 a tool found something, or a run failed or did not finish, 2 bad usage,
# 77 there is no compute-sanitizer or no NVIDIA GPU, 130 and 143 when interrupted.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/jobs.sh
source "$here/jobs.sh"
# shellcheck source=scripts/experiments.sh
source "$here/experiments.sh"

all_tools=(memcheck racecheck initcheck synccheck)

# checkers NAME TOPIC: the second field of each line on this topic of an experiment's checkers.txt,
# "TOPIC | WHAT | why":
# "waits under racecheck", parts of the mangled names of kernels whose blocks wait for one another; "not under
# racecheck", sweeps (a regular expression).
checkers() {
  local file
  for file in "$root"/src/*/"$1"/checkers.txt; do
    [[ ! -e $file ]] || sed -n "s/^$2 | \(.*\) | .*/\1/p" "$file"
  done
}

tools_wanted=
device=
at_once=4
limit=300
build=true
setup=true
tools=()
declare -A run_of_process=() began=() outcome=()

parse_options() {
  while (($#)); do
    case $1 in
      --no-build) build=false ;;
      --no-setup) setup=false ;;
      --tools | --only | --device | -j | --limit | --build-dir)
        need_value "$1" $#
        set_option "$1" "$2"
        shift
        ;;
      --help | -h)
        show_help "$0"
        exit 0
        ;;
      *) usage_error "unknown option '$1'; see --help." ;;
    esac
    shift
  done
}

# require_count OPTION VALUE: ends the script unless the value is a number from 1 to 9999.
require_count() {
  [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "$1 takes a number from 1 to 9999, not '$2'."
}

set_option() {
  [[ -n $2 ]] || usage_error "$1 needs a value that is not empty."
  case $1 in
    --tools)
      require_regex "$1" "$2"
      tools_wanted=$2
      ;;
    --only)
      require_regex "$1" "$2"
      only=$2
      ;;
    --device)
      [[ $2 =~ ^[0-9]{1,4}$ ]] || usage_error "--device takes an index such as 0, not '$2'."
      device=$2
      ;;
    -j)
      require_count "$1" "$2"
      at_once=$2
      ;;
    --limit)
      require_count "$1" "$2"
      limit=$2
      ;;
    --build-dir) build_dir=$2 ;;
  esac
}

choose_tools() {
  local tool
  for tool in "${all_tools[@]}"; do
    if grep -Eq -e "$tools_wanted" <<<"$tool"; then
      tools+=("$tool")
    fi
  done
  ((${#tools[@]})) || usage_error "no tool's name matches '$tools_wanted'; there are ${all_tools[*]}."
}

# nothing_to_run SENTENCE: ends the script as one that this machine cannot run.
nothing_to_run() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 77
}

find_sanitizer() {
  local toolkit=${CUDA_PATH:-/usr/local/cuda}
  sanitizer=$(find_program compute-sanitizer "$toolkit/bin" "$toolkit/compute-sanitizer") ||
    nothing_to_run "there is no compute-sanitizer here; the CUDA toolkit has it."
}

require_device() {
  local first=$build_dir/bin/${experiments[0]} status=0
  [[ -x $first ]] || usage_error "there is no binary $first; build first."
  "$first" --devices </dev/null >/dev/null 2>&1 || status=$?
  case $status in
    0) ;;
    77) nothing_to_run "the binaries in $build_dir find no NVIDIA GPU here." ;;
    *) usage_error "$first --devices ended with status $status." ;;
  esac
}

# Ends the script when an experiment's checkers.txt names a kernel that it does not have.
check_kernels() {
  local name part
  for name in "${experiments[@]}"; do
    for part in $(checkers "$name" "waits under racecheck"); do
      grep -aq -e "$part" "$build_dir/bin/$name" ||
        usage_error "no kernel of $name has '$part' in its name; mend its checkers.txt."
    done
  done
}

# start_run EXPERIMENT TOOL: starts it; racecheck.waiting is racecheck's second run.
start_run() {
  local name=$1 tool=$2 seconds=$limit kernel tool_options=()
  local environment=(HIPSCOPE_LIBRARIES=no)
  local run_options=(--tiny) skipped log=$logs/$name.$tool.log
  case $tool in
    # Bytes between buffers, so that an access past the end of one does not hit the next.
    memcheck) tool_options=(--padding 256) ;;
    initcheck)
      tool_options=(--check-api-memory-access no)
      environment+=(HIPSCOPE_POISON=no)
      ;;
    racecheck*)
      [[ $tool == racecheck ]] || seconds=$(((limit + 3) / 4))
      for kernel in $(checkers "$name" "waits under racecheck"); do
        if [[ $tool == racecheck ]]; then
          tool_options+=(--kernel-name-exclude "kernel_substring=$kernel")
        else
          tool_options+=(--kernel-name "kernel_substring=$kernel")
        fi
      done
      skipped=$(checkers "$name" "not under racecheck")
      [[ -z $skipped ]] || run_options+=(--filter "^(?!$skipped\$)")
      ;;
  esac
  [[ -z $device ]] || run_options+=(--device "$device")
  rm -f "$log"
  # A process group of its own, which timeout keeps, so that one signal ends all of it.
  set -m
  timeout -k 5 "$seconds" env "${environment[@]}" "$sanitizer" --tool "${tool%.*}" --print-limit 10000 \
    --log-file "$log" "${tool_options[@]}" \
    "$build_dir/bin/$name" "${run_options[@]}" >"${log%.log}.out" 2>&1 </dev/null 3>&- &
  set +m
  run_of_process[$!]="$name $tool"
  began[$!]=$(now)
}

# counted_errors LOG: the number in a tool's summary; nothing when it made none.
counted_errors() {
  sed -n 's/^=* *\(ERROR\|RACECHECK\) SUMMARY: \([0-9]\{1,\}\) .*/\2/p' "$1" 2>/dev/null | head -n 1
}

# judge TOOL LOG STATUS: prints what became of a run in a few words, of which "clean" is the only
# good one.
judge() {
  local tool=$1 log=$2 status=$3 errors
  if ((status == 124 || status == 137)); then
    printf 'not finished'
    return
  fi
  if grep -qs '^=* *Internal Sanitizer Error' "$log"; then
    printf 'the tool failed'
    return
  fi
  errors=$(counted_errors "$log")
  if [[ -z $errors ]] ||
    grep -Pq '^=* *(Error:(?! Race reported)|Target application terminated)' "$log"; then
    printf 'FAILED (status %d)' "$status"
    return
  fi
  # Without poison it shows as wrong that nothing was written beside a result; three tools look at that.
  if [[ $tool == initcheck ]] && ((status == 1)); then
    status=0
  fi
  if ((errors)); then
    printf '%d errors' "$errors"
  elif ((status == 1)); then
    printf 'wrong result'
  elif ((status)); then
    printf 'FAILED (status %d)' "$status"
  else
    printf 'clean'
  fi
}

# Waits for one run and files how it went.
finish_run() {
  local process='' status=0 name tool said
  wait -n -p process || status=$?
  read -r name tool <<<"${run_of_process[$process]}"
  unset "run_of_process[$process]"
  said=$(judge "$tool" "$logs/$name.$tool.log" "$status")
  outcome["$name $tool"]=$said
  printf '%s, %s ... %s s %s\n' "$name" "${tool/.waiting/ of blocks that wait}" \
    "$(seconds_since "${began[$process]}")" "$said"
}

# queue_run EXPERIMENT TOOL: starts it as soon as there is room.
queue_run() {
  while ((${#run_of_process[@]} >= at_once)); do
    finish_run
  done
  start_run "$@"
}

run_all_tools() {
  local name tool
  for tool in "${tools[@]}"; do
    for name in "${experiments[@]}"; do
      queue_run "$name" "$tool"
      if [[ $tool == racecheck && -n $(checkers "$name" "waits under racecheck") ]]; then
        queue_run "$name" racecheck.waiting
      fi
    done
  done
  while ((${#run_of_process[@]})); do
    finish_run
  done
}

print_table() {
  local name tool
  printf '\n%-20s' experiment
  printf '%-20s' "${all_tools[@]}"
  printf '\n'
  for name in "${experiments[@]}"; do
    printf '%-20s' "$name"
    for tool in "${all_tools[@]}"; do
      printf '%-20s' "${outcome["$name $tool"]-not run}"
    done
    printf '\n'
  done | sed 's/ *$//'
  for name in "${experiments[@]}"; do
    [[ -z ${outcome["$name racecheck.waiting"]-} ]] ||
      printf 'racecheck of the kernels of %s whose blocks wait (%s), which its column leaves out: %s\n' \
        "$name" "$(checkers "$name" "waits under racecheck" | paste -sd " ")" "${outcome["$name racecheck.waiting"]}"
  done
}

conclude() {
  local run bad=0
  for run in "${!outcome[@]}"; do
    case $run:${outcome[$run]} in
      *:clean | *.waiting:'not finished' | *.waiting:'the tool failed') ;;
      *) bad=$((bad + 1)) ;;
    esac
  done
  print_table
  printf 'Logs: %s\nTime taken: %s s\n' "$(shown "$logs")" "$(seconds_since "$started")"
  if ((bad)); then
    printf '%d of %d runs were not clean.\n' "$bad" "${#outcome[@]}"
    exit 1
  fi
  printf 'All clean.\n'
}

parse_options "$@"
choose_tools
on_interrupt='the logs that were whole by then are kept'
catch_signals
started=$(now)
backend=nvidia
build_dir=${build_dir:-$root/build/$backend}
find_sanitizer
if $build; then
  [[ $("$here/detect_backend.sh") == nvidia ]] || nothing_to_run "$("$here/detect_backend.sh" --explain)."
  if $setup; then
    install_packages nvidia
  fi
  configure_build
  build_targets "the experiments" "${experiments[@]}"
elif [[ ! -d $build_dir ]]; then
  usage_error "there is no build folder $build_dir."
else
  choose_experiments
fi
require_device
check_kernels
logs=$build_dir/sanitize
mkdir -p "$logs" 2>/dev/null || usage_error "the folder $logs cannot be made."
run_all_tools
conclude
