#!/usr/bin/env bash
# Runs the experiments beside a process that reads the device's memory in bursts: what is inferred then?
#
# Usage: disturbed.sh --build-dir DIR --out DIR [OPTION of run_all.sh...]
#
#   --build-dir DIR  where the binaries are; nothing is built
#   --out DIR        the results go here, never to results/<device>
#   --help           prints this; all other options are run_all.sh's (--only REGEX, --quick, --device N, ...)
#
# A burst is sweep footprint-read of memory_bandwidth with --quick, with pauses of 0.2 to 0.8 s between them. The
# two processes take turns on a GPU, which stretches times by events, and leaves caches empty. What changed:
#
#   scripts/compare.py results/<device> DIR --only inferred
#
# Exit status: that of run_all.sh, 1 if there was no burst, 2 bad usage.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
source "$here/common.sh"

build_dir=
out=
device=()
for_run_all=("$@")
while (($#)); do
  case $1 in
    --build-dir)
      need_value "$1" $#
      build_dir=$2
      ;;
    --out)
      need_value "$1" $#
      out=$2
      ;;
    --device)
      need_value "$1" $#
      device=(--device "$2")
      ;;
    --help | -h)
      show_help "$0"
      exit 0
      ;;
  esac
  shift
done
[[ -n $build_dir && -n $out ]] || usage_error "it needs --build-dir and --out; see --help."
disturber=$build_dir/bin/memory_bandwidth
[[ -x $disturber ]] || usage_error "there is no $disturber."

scratch=$(mktemp -d)
# Until the scratch folder goes, which ends it after its burst.
disturb() {
  while [[ -d $scratch ]]; do
    if "$disturber" --quick --filter '^footprint-read$' "${device[@]}" >/dev/null 2>&1; then
      printf '.' 2>/dev/null >>"$scratch/bursts" || return 0
    fi
    sleep "0.$((RANDOM % 7 + 2))"
  done
}
trap 'rm -rf "$scratch"; wait' EXIT
disturb &

status=0
began=$SECONDS
"$here/run_all.sh" --no-build --no-setup "${for_run_all[@]}" || status=$?
bursts=$(wc -c 2>/dev/null <"$scratch/bursts" || printf 0)
printf 'Disturbed by %d bursts in %d s.\n' "$bursts" "$((SECONDS - began))"
((bursts)) || status=$((status ? status : 1))
exit "$status"
