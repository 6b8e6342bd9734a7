#!/usr/bin/env bash
# Runs every kernel under NVIDIA's compute-sanitizer, at small sizes, and says what it found.
#
# Usage: sanitize.sh [OPTION...]
#
#   --tools REGEX    only tools whose name matches, of memcheck, racecheck, initcheck and synccheck
#   --only REGEX     only experiments whose name matches
#   --device N       the device with this index (see the binaries' --devices)
#   -j N             so many runs at once on that device (default: 4)
#   --limit SECONDS  the longest that a run may take (default: 300)
#   --build-dir DIR  build here instead of build/nvidia
#   --no-build       run the binaries as they are
#   --no-setup       do not look for missing packages, and install none
#   --help           prints this
#
# The sizes are in a table in this script. What a tool said is in DIR/sanitize/<experiment>.<tool>.log.
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

# What makes each experiment short. Counts of blocks, loops and bytes need only be large enough for
# every branch of a kernel: several blocks, a partial last one, more than one round of a loop. One wave
# in lds_banks: the waves of a block store the same values to the same places there, on purpose, and
# racecheck does not know that.
declare -A sizes=(
  [timing]="--samples 64 --values 4097 --idle 1 --load 20"
  [thread_rate]="--threads 2^16 --work-threads 2^14 --blocks 64"
  [launch_latency]="--blocks 1024"
  [fma_loop]="--fmas 512"
  [cu_staircase]="--fmas 16 --source-rounds 1 --hold 100"
  [ilp_tlp]="--rounds 1 --peak-rounds 1"
  [matrix_rate]="--rounds 1 --fmas 1 --side 64 --warm 1 --filter chains|adds"
  [energy]="--warm 1 --window 1 --launch 1 --footprint 64Ki --filter power|fma|registers|bytes|sum"
  [soak]="--milliseconds 1 --launch 1 --footprint 64Ki"
  [vgpr_limit]="--fmas 2^20 --blocks-per-cu 2 --hops 3"
  [sgpr_limit]="--operations 2^16"
  [register_pressure]="--nx 24 --ny 16 --nz 16 --steps 2 --largest-awkward 600"
  [wave_divergence]="--iterations 4 --path-iterations 2 --body-iterations 2"
  [memory_latency]="--footprint 1Mi --steps 64 --points 1 --pages 16"
  [cache_line]="--groups 32 --loads 64 --span 1"
  [cache_sharing]="--evict 4096 --flush 64Ki --repeats 1"
  [store_divergence]="--footprint 1Mi --l2-footprint 1Mi --l2-accesses 1024"
  [nchw_index]="--images 8 --small-images 4"
  [memory_channels]="--footprint 4Mi --places 2^11 --l2-footprint 512Ki --l2-accesses 2^12"
  [memory_bandwidth]="--array 256Ki --footprint 128Ki --l2-bytes 64Ki"
  [atomics]="--rounds 1 --threads 64 --values 4099 --floats 3001 --samples 70003"
  [lds_latency]="--rounds 1"
  [lds_banks]="--rounds 1 --threads 32"
  [async_copies]="--footprint 64Ki --unit-bytes 64Ki --steps 16 --filter (latency|unit)-l2"
  [math_functions]="--steps 6 --points 256"
  [reduction]="--values 20001 --largest 2^14"
  [padding]="--images 3 --channels 35 --largest-awkward 257"
  [batchnorm]="--images 128 --channels 4 --height 8 --width 8 --largest-awkward 2^17"
  [sgemm]="--m 136 --n 72 --k 40 --largest 128 --largest-odd 61 --largest-shapes 72 --largest-awkward 67 --limit-k 64"
  [dgemm]="--m 136 --n 72 --k 40 --largest 128 --largest-odd 61 --largest-shapes 72 --largest-awkward 67"
  [hgemm]="--m 392 --n 264 --k 136 --largest 256 --largest-odd 131 --largest-shapes 72 --largest-awkward 67"
  [host_copies]="--bytes 64Ki --managed 64Ki --steps 16"
  [streams]="--hold 20 --large-hold 20 --bytes 65552 --fmas 65 --passes 2 --chain 5"
  [peer_copies]="--bytes 64Ki --copies 2 --steps 16"
  [grid_sync]="--threads 64 --rounds 2 --per-cu 1"
)

# The kernels whose blocks wait for one another, by parts of their mangled names. hgemm's end under
# racecheck; asked for some of its kernels only, it fails in itself on all of them.
declare -A waiting_kernels=(
  [reduction]="early_ticket_kernel"
  [batchnorm]="channel_resident6kernel channel_staying6kernel channel_in_lds6kernel channel_asked_ahead6kernel"
  [sgemm]="split_along_k"
  [dgemm]="split"
  [grid_sync]="rounds_kernel exchange_kernel"
)

# Sweeps that would take racecheck many minutes, and whose kernels run in others too; or in which it fails in
# itself, and of whose kernels all wait for one another: clusters.
declare -A not_under_racecheck=(
  [sgemm]="(awkward|tiles)"
  [dgemm]="(awkward|tiles)"
  [grid_sync]="clusters(-all)?"
)

tools_wanted=
device=
at_once=4
limit=300
build=true
setup=true
tools=()
declare -A run_of_process=() began=() outcome=() waiting_outcome=()

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

# Ends the script when the tables above do not fit the experiments.
check_tables() {
  local name part
  for name in "${experiments[@]}"; do
    [[ -n ${sizes[$name]-} ]] || usage_error "there are no sizes for $name; add them to the table in $0."
    for part in ${waiting_kernels[$name]-}; do
      grep -aq -e "$part" "$build_dir/bin/$name" ||
        usage_error "no kernel of $name has '$part' in its name; mend the table in $0."
    done
  done
}

# start_run EXPERIMENT TOOL PART: starts it; PART is `main`, or `waiting` for racecheck's second run.
start_run() {
  local name=$1 tool=$2 part=$3 seconds=$limit kernel tool_options=()
  local environment=(HIPSCOPE_LIBRARIES=no)
  local run_options=(--once) size_options log=$logs/$name.$tool.log
  case $tool in
    # Bytes between buffers, so that an access past the end of one does not hit the next.
    memcheck) tool_options=(--padding 256) ;;
    initcheck)
      tool_options=(--check-api-memory-access no)
      environment+=(HIPSCOPE_POISON=no)
      ;;
    racecheck)
      for kernel in ${waiting_kernels[$name]-}; do
        if [[ $part == waiting ]]; then
          tool_options+=(--kernel-name "kernel_substring=$kernel")
        else
          tool_options+=(--kernel-name-exclude "kernel_substring=$kernel")
        fi
      done
      [[ -z ${not_under_racecheck[$name]-} ]] || run_options+=(--filter "^(?!${not_under_racecheck[$name]}\$)")
      ;;
  esac
  if [[ $part == waiting ]]; then
    seconds=$(((limit + 3) / 4))
    log=$logs/$name.$tool.waiting.log
  fi
  read -ra size_options <<<"${sizes[$name]}"
  [[ -z $device ]] || run_options+=(--device "$device")
  rm -f "$log"
  # A process group of its own, which timeout keeps, so that one signal ends all of it.
  set -m
  timeout -k 5 "$seconds" env "${environment[@]}" "$sanitizer" --tool "$tool" --print-limit 10000 \
    --log-file "$log" "${tool_options[@]}" \
    "$build_dir/bin/$name" "${run_options[@]}" "${size_options[@]}" >"${log%.log}.out" 2>&1 </dev/null 3>&- &
  set +m
  run_of_process[$!]="$name $tool $part"
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
  local process='' status=0 name tool part log said
  wait -n -p process || status=$?
  read -r name tool part <<<"${run_of_process[$process]}"
  unset "run_of_process[$process]"
  log=$logs/$name.$tool.log
  [[ $part == main ]] || log=${log%.log}.waiting.log
  said=$(judge "$tool" "$log" "$status")
  if [[ $part == main ]]; then
    outcome["$name $tool"]=$said
    printf '%s, %s ... %s s %s\n' "$name" "$tool" "$(seconds_since "${began[$process]}")" "$said"
  else
    waiting_outcome[$name]=$said
    printf '%s, %s of blocks that wait ... %s s %s\n' "$name" "$tool" \
      "$(seconds_since "${began[$process]}")" "$said"
  fi
}

# queue_run EXPERIMENT TOOL PART: starts it as soon as there is room.
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
      queue_run "$name" "$tool" main
      if [[ $tool == racecheck && -n ${waiting_kernels[$name]-} ]]; then
        queue_run "$name" "$tool" waiting
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
    [[ -z ${waiting_outcome[$name]-} ]] ||
      printf 'racecheck of the kernels of %s whose blocks wait (%s), which its column leaves out: %s\n' \
        "$name" "${waiting_kernels[$name]}" "${waiting_outcome[$name]}"
  done
}

conclude() {
  local said bad=0
  for said in "${outcome[@]}"; do
    [[ $said == clean ]] || bad=$((bad + 1))
  done
  for said in "${waiting_outcome[@]}"; do
    [[ $said == clean || $said == 'not finished' || $said == 'the tool failed' ]] || bad=$((bad + 1))
  done
  print_table
  printf 'Logs: %s\nTime taken: %s s\n' "$(shown "$logs")" "$(seconds_since "$started")"
  if ((bad)); then
    printf '%d of %d runs were not clean.\n' "$bad" $((${#outcome[@]} + ${#waiting_outcome[@]}))
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
  build_experiments
elif [[ ! -d $build_dir ]]; then
  usage_error "there is no build folder $build_dir."
else
  choose_experiments
fi
require_device
check_tables
logs=$build_dir/sanitize
mkdir -p "$logs" 2>/dev/null || usage_error "the folder $logs cannot be made."
run_all_tools
conclude
