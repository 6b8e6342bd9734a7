# shellcheck shell=bash
# Builds and chooses experiments; run_all.sh and sanitize.sh source it, after jobs.sh.

# Set by the script: for what and where to build, and a regular expression of names, if any.
backend=
build_dir=
only=

# require_regex OPTION VALUE: ends the script when the value is no regular expression.
require_regex() {
  local status=0
  grep -Eq -e "$2" </dev/null 2>/dev/null || status=$?
  ((status < 2)) || usage_error "$1 '$2' is not a valid regular expression."
}

# require_own FILE: ends the script when a file of the build folder cannot be written, as where another
# user has built.
require_own() {
  { : >>"$1"; } 2>/dev/null ||
    usage_error "$1 cannot be written: it is read-only, or another user has built there. Take another folder \
with --build-dir."
}

# require_cmake: ends the script where there is no CMake that knows the presets.
require_cmake() {
  local said trouble=
  if ! type -P cmake >/dev/null; then
    trouble='there is no cmake here'
  else
    said=$(cmake --version 2>/dev/null) || true
    if [[ $said =~ ([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] < 3024)); then
      trouble="cmake ${BASH_REMATCH[0]} is too old"
    fi
  fi
  if [[ -n $trouble ]]; then
    printf '%s: %s: it takes 3.24 or newer; %s\n' "${0##*/}" "$trouble" \
      "without root: python3 -m pip install --user cmake ninja, and ~/.local/bin on PATH." >&2
    exit 1
  fi
}

has_ninja() {
  type -P ninja >/dev/null || type -P ninja-build >/dev/null || type -P samu >/dev/null
}

# configure_build: configures the backend's preset in the build folder and chooses the experiments; shows the log
# only when that fails, as build_targets does.
configure_build() {
  local configure begin
  build_log=$build_dir/build.log
  require_cmake
  mkdir -p "$build_dir" 2>/dev/null ||
    usage_error "the build folder $build_dir cannot be made; take another one with --build-dir."
  require_own "$build_log"
  [[ ! -e $build_dir/CMakeCache.txt ]] || require_own "$build_dir/CMakeCache.txt"
  configure=(cmake -S "$root" --preset "$backend" -B "$build_dir")
  # A folder that is there already may be somebody's who wants the tests.
  if [[ ! -e $build_dir/CMakeCache.txt ]]; then
    configure+=(-DHIPSCOPE_TESTS=OFF)
    has_ninja || configure+=(-G "Unix Makefiles")
  fi
  printf 'Configuring for %s in %s ... ' "$backend" "$(shown "$build_dir")"
  begin=$(now)
  run_child "${configure[@]}" >"$build_log" 2>&1 || build_failed
  printf '%s s ok\n' "$(seconds_since "$begin")"
  choose_experiments
}

# build_targets WHAT TARGET...: builds them, and says how long that took.
build_targets() {
  local begin
  printf 'Building %s ... ' "$1"
  shift
  begin=$(now)
  run_child cmake --build "$build_dir" -j "$(nproc)" --target "$@" >>"$build_log" 2>&1 || build_failed
  printf '%s s ok\n' "$(seconds_since "$begin")"
}

build_failed() {
  printf 'FAILED\n'
  tail -n 60 "$build_log" >&2
  printf '%s: the build failed; all of it is in %s.\n' "${0##*/}" "$build_log" >&2
  exit 1
}

# Sets `experiments` to the chosen names of the list in the build folder.
choose_experiments() {
  local list=$build_dir/experiments.txt name
  [[ -r $list ]] || usage_error "there is no $list; build first."
  experiments=()
  while read -r name; do
    name=${name##*/}
    [[ $name =~ ^[a-z][a-z0-9_]*(\.[a-z0-9_]+)?$ ]] || usage_error "$list names no experiment: '$name'."
    if grep -Eq -e "$only" <<<"$name"; then
      experiments+=("$name")
    fi
  done < <(grep -v '^[[:space:]]*$' "$list")
  ((${#experiments[@]})) || usage_error "no experiment's name matches '${only:-anything}'."
}
