#!/usr/bin/env bash
# Builds hipscope for this machine, runs every experiment and makes the report.
#
# Usage: run_all.sh [OPTION...]
#
#   --quick          smaller sizes and fewer samples: a first look
#   --full           more samples than by default
#   --card           only what the parameters of the hardware card take, and no page per experiment; with
#                    --quick's sizes, unless --full is said
#   --device N       the device with this index (see the binaries' --devices); of several it is one at a
#                    time, fleet.py measures all of a machine
#   --only REGEX     only experiments whose name matches
#   --identity       put the host's name and the GPU's serial number and UUID into the results
#   --out DIR        write here instead of results/<device> (of the current folder, where this tree is a system's
#                    package), where <device> is the GPU's name in short; of equal GPUs the first has that
#                    folder, another one, N, has results/<device>-gpuN; in a tree that `cmake --install` has
#                    made, with other cards' results, it is results/my-<device>
#   --targets LIST   with no GPU: the AMD GPUs to compile for, such as gfx90a,gfx1030, or all that the compiler
#                    knows (default: gfx942, or where the compiler does not know it gfx90a)
#   --backend B      amd, nvidia or host instead of what detect_backend.sh says
#   --build-dir DIR  build here instead of build/<backend>
#   --no-build       run the binaries as they are, which may come from another machine; in a tree that
#                    `cmake --install` has made that is always so
#   --no-setup       do not look for missing packages, and install none
#   --help           prints this
#
# What people ask for most comes first: one experiment is built, run and shown before the rest is built.
# Each experiment leaves <experiment>.json; a result that is there already stays until the new one is
# whole. Of all results in the folder README.md is made, with a page per experiment (where there is none,
# its tables as <experiment>.txt), plots, and the hardware card, card.md and card.json: what
# they say of the GPU's parameters; and report.html, one page that needs nothing beside it and has the
# other GPUs' results that are in results/ and the published figures in the same plots.
# With no GPU the experiments run on the CPU, which checks them but measures nothing of a GPU, and
# are besides compiled for AMD when hipcc is there, with a report on the machine code in results/isa
# (with --out, in DIR/isa); what this compiler has made of the same sources is taken from results/isa.
#
# Exit status: 0 good, 1 an experiment, the build or the report failed, 2 bad usage, 77 no device,
# 130 and 143 when interrupted.
set -euo pipefail
# Numbers are computed with and printed with a point, in every language.
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/jobs.sh
source "$here/jobs.sh"
# shellcheck source=scripts/experiments.sh
source "$here/experiments.sh"

preset_option=()
identity_option=()
card_only=false
targets=one
device=
out=
build=true
setup=true
passed=()
failed=()
skipped=()

parse_options() {
  while (($#)); do
    case $1 in
      --quick | --full)
        ((${#preset_option[@]} == 0)) || usage_error "--quick and --full exclude each other."
        preset_option=("$1")
        ;;
      --card) card_only=true ;;
      --identity) identity_option=(--identity) ;;
      --no-build) build=false ;;
      --no-setup) setup=false ;;
      --device | --only | --out | --targets | --backend | --build-dir)
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

set_option() {
  [[ -n $2 ]] || usage_error "$1 needs a value that is not empty."
  case $1 in
    --device)
      [[ $2 =~ ^[0-9]{1,4}$ ]] ||
        usage_error "--device takes an index such as 0, not '$2'; fleet.py measures several devices."
      device=$2
      ;;
    --only)
      require_regex "$1" "$2"
      only=$2
      ;;
    --out) out=$2 ;;
    --targets) targets=$2 ;;
    --backend)
      [[ $2 =~ ^(amd|nvidia|host)$ ]] || usage_error "--backend is amd, nvidia or host, not '$2'."
      backend=$2
      ;;
    --build-dir) build_dir=$2 ;;
  esac
}

# What is shown before the rest is built.
first_look=(memory_bandwidth --quick --filter '^stream$')

# Puts what people ask for first at the head of `experiments`, or leaves only that, and sets `sweeps_of`, the
# regular expression of those sweeps that the card takes.
sort_experiments() {
  local name sweeps chosen=" ${experiments[*]} " asked=()
  declare -gA sweeps_of=()
  while read -r name sweeps; do
    sweeps_of[$name]=$sweeps
    [[ $chosen != *" $name "* ]] || asked+=("$name")
    chosen=${chosen/ $name / }
  done < <(grep -v '^#' "$here/card_experiments.txt")
  read -ra experiments <<<"$chosen"
  ! $card_only || experiments=()
  experiments=("${asked[@]}" "${experiments[@]}")
  ((${#experiments[@]})) || usage_error "the card takes no experiment whose name matches '$only'."
}

# Shows one experiment where there is none yet, so that something is there to be seen while the rest is built.
show_first_look() {
  local name=${first_look[0]}
  if [[ " ${experiments[*]} " != *" $name "* || -x $build_dir/bin/$name ]]; then
    return
  fi
  build_targets "$name for a first look" "$name"
  # How it ends is of interest only when it is run again, with the others.
  run_child "$build_dir/bin/$name" "${first_look[@]:1}" ${device:+--device "$device"} || true
  printf '\n'
}

# Ends the script, before anything is built, where the results' folder cannot be made.
require_place_for_results() {
  local folder=${out:-$results}
  while [[ ! -e $folder && $folder == */* ]]; do
    folder=${folder%/*}
  done
  folder=${folder:-/}
  [[ ! -e $folder || (-d $folder && -w $folder) ]] ||
    usage_error "the folder ${out:-$results} cannot be written to; take another one with --out."
}

# Sets `slug` and `description` of the device as the first binary names it, the name of its `folder`, and how
# many there are to choose from.
ask_for_device() {
  local first=$build_dir/bin/${experiments[0]} lines status=0 index earlier=$'\n'
  [[ -x $first ]] || usage_error "there is no binary $first; build first."
  lines=$("$first" --devices </dev/null) || status=$?
  if ((status == 77)) || { ((status == 0)) && [[ -z $lines ]]; }; then
    printf '%s: the binaries in %s find no device here.\n' "${0##*/}" "$build_dir" >&2
    exit 77
  fi
  if ((status)); then
    printf '%s: %s --devices ended with status %d.\n' "${0##*/}" "$first" "$status" >&2
    # HIP 5 ends a program that has no code for one of the GPUs.
    ((status != 134)) || printf '%s %s\n' \
      'If one of the GPUs here is not to be measured, as graphics within the processor,' \
      'HIP_VISIBLE_DEVICES=0 hides all but the first.' >&2
    exit 1
  fi
  device_count=$(wc -l <<<"$lines")
  while IFS=$'\t' read -r index slug description; do
    if [[ $index == "${device:-0}" ]]; then
      [[ $slug =~ ^[a-z0-9][a-z0-9._-]*$ ]] || usage_error "the device's short name '$slug' is no folder name."
      # Two equal GPUs do not take each other's results.
      folder=$slug
      [[ $earlier != *$'\n'"$slug"$'\n'* ]] || folder+=-gpu$index
      # Nor does one those of its model that come with an installed tree.
      ! $is_installed_tree || folder=my-$folder
      return
    fi
    earlier+=$slug$'\n'
  done <<<"$lines"
  usage_error "there is no device ${device:-0}; $first --devices lists them."
}

# put_in_place FILE...: each takes the place of the file of its name in `out`, as a binary writes --json:
# a link keeps pointing to where it does, and who may read a file is as the old one says.
put_in_place() (
  # A process of its own that goes on when interrupted, so that nothing parts the files.
  trap '' INT TERM HUP
  for file in "$@"; do
    target=$(realpath -m -- "$out/${file##*/}") || exit
    if [[ -L $target ]]; then
      printf '%s is a link that leads nowhere\n' "$target"
      exit 1
    fi >&2
    [[ ! -e $target ]] || chmod --reference="$target" -- "$file" || exit
    # Whole in that folder first, which may be on another disk.
    if ! { mv -fT -- "$file" "$target.new" && mv -fT -- "$target.new" "$target"; }; then
      rm -f -- "$target.new"
      exit 1
    fi
  done
)

# Runs experiment $1 and files its result; says on one line how it went.
run_experiment() {
  local name=$1 status=0 begin took
  local options=(--json "$scratch/$name.json" "${preset_option[@]}" "${identity_option[@]}")
  ! $card_only || [[ -z ${sweeps_of[$name]-} ]] || options+=(--filter "${sweeps_of[$name]}")
  [[ -z $device ]] || options+=(--device "$device")
  begin=$(now)
  if [[ -x $build_dir/bin/$name ]]; then
    run_child "$build_dir/bin/$name" "${options[@]}" \
      >"$scratch/$name.txt" 2>"$scratch/$name.err" || status=$?
  else
    status=127
    printf 'there is no binary %s\n' "$build_dir/bin/$name" >"$scratch/$name.err"
  fi
  took="$(seconds_since "$begin") s"
  if ((status <= 1)) && [[ ! -s $scratch/$name.json ]]; then
    status=missing-result
  fi
  case $status in
    0 | 1)
      put_in_place "$scratch/$name.txt" "$scratch/$name.json" 2>>"$scratch/$name.err" || status=unwritable
      ;;
  esac
  record_outcome "$name" "$status" "$took"
}

# record_outcome NAME STATUS TOOK
record_outcome() {
  local name=$1 status=$2 took=$3 outcome
  case $status in
    0)
      passed+=("$name")
      printf '%s ok\n' "$took"
      return
      ;;
    77)
      skipped+=("$name")
      printf '%s skipped (no device)\n' "$took"
      return
      ;;
    1) outcome="FAILED (verification)" ;;
    2) outcome="error 2 (bad usage)" ;;
    3) outcome="error 3 (device or runtime)" ;;
    missing-result) outcome="error (wrote no result)" ;;
    unwritable) outcome="error (its result cannot be written)" ;;
    *)
      outcome="error $status"
      ((status <= 128)) || outcome="error $status (ended by signal $((status - 128)))"
      ;;
  esac
  failed+=("$name: $outcome")
  printf '%s %s\n' "$took" "$outcome"
  tail -n 5 "$scratch/$name.err" 2>/dev/null | sed 's/^/    /'
  if [[ $status != 1 && -e $out/$name.json ]]; then
    printf '    (the earlier result in %s stays)\n' "$(shown "$out")"
  fi
}

# Only some GPUs have a choice of wave sizes, and the build says for which it was used.
built_for_waves_of_64() {
  local target
  while read -r target; do
    [[ -z $target || $description != *"($target"[:\)]* ]] || return 0
  done < <(cat "$build_dir/wave64_targets.txt" 2>/dev/null)
  return 1
}

run_experiments() {
  local name number=0
  mkdir -p "$out" 2>/dev/null || usage_error "the folder $out cannot be made."
  scratch=$(mktemp -d "$out/.running.XXXXXX" 2>/dev/null) || usage_error "the folder $out cannot be written to."
  printf 'Running on %s' "$description"
  [[ -n $device ]] || ((device_count == 1)) ||
    printf ' (the first of %d devices; --device N takes another, fleet.py all)' "$device_count"
  printf '\n'
  for name in "${experiments[@]}"; do
    number=$((number + 1))
    printf '[%d/%d] %s ... ' "$number" "${#experiments[@]}" "$name"
    if [[ $name == *.wave64 ]] && ! built_for_waves_of_64; then
      skipped+=("$name")
      printf 'skipped (not built for waves of 64 on this device)\n'
      continue
    fi
    run_experiment "$name"
  done
}

write_report() {
  local python pages=()
  ! $card_only || pages=(--without-pages)
  card="not written"
  report_python=
  if ! compgen -G "$out/*.json" -X '*/card.json' >/dev/null; then
    report="none: there is no result"
  elif ! python=$("$here/find_python.sh" matplotlib 2>&1); then
    report="skipped: ${python#*: }"
  elif report_python=$python && run_child "$python" "$here/report.py" "$out" "${pages[@]}"; then
    report="$(shown "$out")/README.md"
    ! $card_only || report+=", with no page per experiment"
    card="$(shown "$out")/card.md"
    [[ -e $out/card.md ]] || card="none, since nothing is inferred of a CPU"
  else
    report="failed"
    failed+=("report.py")
  fi
}

# Compares with the other GPUs whose results are in results/; matplotlib is not needed for that.
write_comparison() {
  local python options=(--others --out "$out/report.html")
  [[ ! -d $isa_out ]] || options+=(--isa "$isa_out")
  if ! compgen -G "$out/*.json" -X '*/card.json' >/dev/null; then
    comparison="none: there is no result"
  elif ! python=${report_python:-$("$here/find_python.sh" json 2>&1)}; then
    comparison="skipped: ${python#*: }"
  elif run_child "$python" "$here/html_report.py" "${options[@]}" "$out"; then
    comparison="$(shown "$out")/report.html"
  else
    comparison="failed"
    failed+=("html_report.py")
  fi
}

# With no GPU, AMD's compiler can still say whether the experiments are sound for AMD, and what
# their machine code is: beside the experiments, which leave cores idle, at the lowest priority.
begin_isa_report() {
  local python options
  isa_folder=${isa_out:-$root/results/isa}
  if ! find_hipcc >/dev/null; then
    isa_report="nothing; there is no hipcc (scripts/setup.sh installs it)"
    return
  fi
  if ! python=$("$here/find_python.sh" matplotlib yaml 2>&1); then
    isa_report="nothing: ${python#*: }"
    return
  fi
  options=(--out "$isa_folder" --targets "$targets" --changed)
  if [[ -n $only ]] || $card_only; then
    # thread_rate.wave64 and its like are variants of an experiment, which goes by its first name here.
    options+=(--only "^($(printf '%s\n' "${experiments[@]%%.*}" | sort -u | paste -sd '|'))\$")
  fi
  set -m
  nice -n 19 "$python" "$here/isa_report.py" "${options[@]}" </dev/null >"$build_dir/isa_report.log" 2>&1 3>&- &
  isa_job=$!
  set +m
}

end_isa_report() {
  local status=0
  [[ -n $isa_job ]] || return 0
  printf 'Compiling for AMD and reporting on the code\n'
  wait "$isa_job" || status=$?
  cat "$build_dir/isa_report.log"
  case $status in
    0) isa_report="$(shown "$isa_folder")/README.md" ;;
    77) isa_report="nothing, as said above" ;;
    *)
      isa_report="failed"
      failed+=("isa_report.py")
      ;;
  esac
}

conclude() {
  local took
  took=$(seconds_since "$started")
  printf '\n'
  if [[ $slug == host ]]; then
    printf 'Measured on a GPU: nothing (%s).\n' "$("$here/detect_backend.sh" --explain)"
    printf 'Checked functionally on the CPU: %d of %d experiments; their times are CPU times.\n' \
      "${#passed[@]}" "${#experiments[@]}"
    printf 'Compiled for AMD, not run: %s\n' "$isa_report"
  else
    printf 'Measured on %s: %d of %d experiments.\n' "$description" "${#passed[@]}" "${#experiments[@]}"
  fi
  if ((${#skipped[@]})); then
    printf 'Skipped, as said above: %s\n' "${skipped[*]}"
  fi
  printf 'Report: %s\n' "$report"
  printf 'Hardware card: %s\n' "$card"
  printf 'Comparison: %s\n' "$comparison"
  printf 'Time taken: %s s\n' "$took"
  if ((${#failed[@]})); then
    printf 'Failed:\n'
    printf '  %s\n' "${failed[@]}"
    exit 1
  fi
}

parse_options "$@"
if $card_only && ((${#preset_option[@]} == 0)); then
  preset_option=(--quick)
fi
on_interrupt='the results that were whole by then are kept'
catch_signals
started=$(now)
results=$root/results
chosen_backend=$backend
is_installed_tree=false
if [[ -r $root/experiments.txt && -d $root/bin && ! -e $root/CMakeLists.txt ]]; then
  is_installed_tree=true
  # As where a package has put it.
  [[ -w $results ]] || results=$PWD/results
  build=false
  build_dir=${build_dir:-$root}
fi
require_place_for_results
backend=${chosen_backend:-$("$here/detect_backend.sh")}
if $build && $setup; then
  install_packages "$backend"
  # An AMD GPU counts as one only now if its compiler has just been installed.
  backend=${chosen_backend:-$("$here/detect_backend.sh")}
fi
build_dir=${build_dir:-$root/build/$backend}
isa_report="not asked for (--no-build)"
! $is_installed_tree || isa_report="nothing (this is an installed tree, without the sources)"
if $build; then
  configure_build
  sort_experiments
  show_first_look
  build_targets "${#experiments[@]} experiments" "${experiments[@]}"
elif [[ ! -d $build_dir ]]; then
  usage_error "there is no build folder $build_dir."
else
  choose_experiments
  sort_experiments
fi
ask_for_device
isa_out=${out:+$out/isa}
out=${out:-$results/$folder}
isa_job=
if $build && [[ $slug == host ]]; then
  begin_isa_report
fi
run_experiments
write_report
end_isa_report
write_comparison
conclude
