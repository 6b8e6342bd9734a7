#!/usr/bin/env bash
# Runs the tests, of every kind those that find mistakes soonest: some 7 minutes on two cores, cold.
#
# Usage: test.sh [--full] [--no-setup] [--launcher CMD [--build DIR]]
#
#   --full          all tests that this machine can run, as continuous integration does each week: an hour or more
#   --no-setup      does not look for missing packages, and installs none
#   --launcher CMD  in place of all that: runs the experiments in small sizes, each as CMD BINARY OPTIONS..., as
#                   the tests run them in the emulator of tests/emulator, and judges the same: another
#                   emulator, srun, a checker. "env" runs them as they are.
#   --build DIR     the build folder of those binaries (default build/amd-test, which is built if it is not there)
#   --help          prints this
#
# What only --full has: AddressSanitizer and UndefinedBehaviorSanitizer, which treble the time to compile;
# run_all.sh whole; clang-tidy; NVIDIA's compiler; ROCm 7; AMD targets besides gfx90a, AMD's host code, and
# AMD's machine code executed in the emulator; of the binaries, runs that measure, sweeps alone, hostile input,
# a fleet under Slurm, and what is asked of every one and not of a few; of the scripts, damaged and hostile
# files, and what takes a browser.
#
# The last line is the sum over all groups, "N passed, N failed, N skipped"; the exit status is 1
# when a test failed. Build folders and logs are in build/ and are used again by the next run.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/jobs.sh
source "$here/jobs.sh"

logs=$root/build/logs
# A test that takes longer hangs, however loaded the machine is.
longest_test_s=3600
full=false
setup=true
launcher=
build=
passed=0
failed=0
skipped=0
failures=()
skips=()

# Sets `cpu_s` to the processor's seconds that ended children took; in a subshell `times` would tell that shell's.
read_cpu_s() {
  times >"$logs/times"
  cpu_s=$(tail -n 1 "$logs/times" | awk -F '[ms ]+' '{ printf "%d", 60 * ($1 + $3) + $2 + $4 }')
}

# begin_group NAME: the heading, and the name that the group's counts go under.
begin_group() {
  group=$1
  group_began=$(now)
  read_cpu_s
  group_cpu_began=$cpu_s
  printf '\n== %s ==\n' "$group"
}

# count PASSED FAILED SKIPPED: adds to the sums and says so.
count() {
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + $3))
  (($2 == 0)) || failures+=("$group: $2 failed")
  read_cpu_s
  printf '%d passed, %d failed, %d skipped (%s s, %s s of CPU)\n' "$1" "$2" "$3" \
    "$(seconds_since "$group_began")" $((cpu_s - group_cpu_began))
}

# skip_group NAME REASON: a group that is left out here, counted as one test.
skip_group() {
  begin_group "$1"
  printf 'skipped: %s\n' "$2"
  skips+=("$1: $2")
  count 0 0 1
}

# logged NAME COMMAND...: runs it with its output in a log, which is shown when it fails.
logged() {
  local log=$logs/$1.log status=0
  shift
  run_child "$@" >"$log" 2>&1 || status=$?
  if ((status)); then
    tail -n 80 "$log"
    printf 'failed with status %d: %s (log: %s)\n' "$status" "$*" "$(shown "$log")"
  fi
  return "$status"
}

# each_file NAME COMMAND... -- FILE...: one test per file, the command with the file at its end, several at
# once. A finding in a header counts for the file that shows it.
each_file() {
  local command=() file bad=0 log=$logs/$1.log
  shift
  while [[ $1 != -- ]]; do
    command+=("$1")
    shift
  done
  shift
  printf '%s\n' "$@" >"$log.files"
  # shellcheck disable=SC2016 # the inner shell is to expand it
  run_child xargs -a "$log.files" -P "$(nproc)" -I '{}' sh -c '
    file=$1
    shift
    said=$("$@" "$file" 2>&1) && said="good: $file"
    printf "%s\n" "$said"' each '{}' "${command[@]}" >"$log" 2>&1 || true
  for file in "$@"; do
    grep -qxF "good: $file" "$log" || bad=$((bad + 1))
  done
  ((bad == 0)) || grep -v '^good: ' "$log" | sort -u | head -n 80 || true
  count $(($# - bad)) "$bad" 0
}

# junit_number FILE ATTRIBUTE: the first value of a test suite's count in a JUnit file.
junit_number() {
  grep -oE "\b$2=\"[0-9]+\"" "$1" 2>/dev/null | head -n 1 | grep -oE '[0-9]+' || printf '0\n'
}

# count_junit FILE STATUS: counts what a test runner that ended with STATUS wrote into FILE.
count_junit() {
  local tests wrong left_out
  tests=$(junit_number "$1" tests)
  wrong=$(($(junit_number "$1" failures) + $(junit_number "$1" errors)))
  left_out=$(($(junit_number "$1" skipped) + $(junit_number "$1" disabled)))
  # A runner that fails without a failed test has found none, or has ended early.
  if (($2 != 0 && wrong == 0)); then
    wrong=1
    tests=$((tests > left_out ? tests : left_out + 1))
  fi
  if ((left_out)); then
    skips+=("$group: $left_out tests, as said above")
  fi
  count $((tests - wrong - left_out)) "$wrong" "$left_out"
}

# build NAME [OPTION...]: configures and builds in build/NAME, with warnings as errors; the preset is
# `preset`. No preset of a GPU is one that run_all.sh measures with: for tests not all host code is
# optimized, and AMD's compiler keeps the assembly, so that the ISA tests need not compile everything again.
build() {
  local lock status=0
  # The same build may go on in the background: begin_builds.
  exec {lock}>"$logs/build-$1.lock"
  flock "$lock"
  configure "$@" && logged "build-$1" cmake --build "build/$1" -j "$(nproc)" || status=$?
  exec {lock}>&-
  return "$status"
}

# Builds of later groups beside the tests of earlier ones, which leave a core idle whenever one of them takes
# long: at the lowest priority. What fails here fails again, and is told, in its own group.
begin_builds() {
  set -m
  (
    renice -n 19 "$BASHPID"
    run_child() { "$@" </dev/null 3>&-; }
    build_amd
    build_nvidia
  ) </dev/null >"$logs/begin-builds.log" 2>&1 3>&- &
  set +m
}

build_amd() {
  find_hipcc >/dev/null && preset=amd-test build amd-test
}

build_nvidia() {
  find_nvcc >/dev/null && preset=nvidia-test build nvidia-test
}

# configure NAME [OPTION...]: the first half of that.
configure() {
  local name=$1
  shift
  logged "configure-$name" cmake -S "$root" --preset "$preset" -B "build/$name" \
    -DHIPSCOPE_TESTS=ON -DHIPSCOPE_WERROR=ON "$@"
}

# test_build COMMAND... -- NAME: builds by the command, then runs ctest in build/NAME, but for the tests whose names
# match `left_out`.
test_build() {
  if "${@:1:$#-2}"; then
    run_tests "${!#}" ${left_out:+--exclude-regex "$left_out"}
  else
    count 0 1 0
  fi
}

# run_tests NAME OPTION...: runs ctest in build/NAME, and counts.
run_tests() {
  local folder=build/$1 junit=$logs/ctest-$1.xml log=$logs/ctest-$1.log status=0
  shift
  rm -f "$junit"
  run_child ctest --test-dir "$folder" -j "$(nproc)" --output-on-failure --no-tests=error "$@" \
    --timeout "$longest_test_s" --output-junit "$junit" >"$log" 2>&1 || status=$?
  if ((status)); then
    cat "$log"
  else
    grep -E 'Skipped|tests passed' "$log" || true
  fi
  count_junit "$junit" "$status"
}

# Sets `sources` to the files that clang-format looks after.
list_sources() {
  mapfile -t sources < <(cd "$root" && find include src backends tests -type f \
    \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.hip' \) | sort)
}

test_shell_scripts() {
  begin_group "shell scripts (shellcheck)"
  local scripts
  mapfile -t scripts < <(find scripts tests -type f -name '*.sh' | sort)
  each_file shellcheck shellcheck -x -- "${scripts[@]}" .ci/run hipscope
}

test_format() {
  begin_group "format (clang-format)"
  local sources log=$logs/clang-format.log bad status=0
  list_sources
  printf '%s\n' "${sources[@]}" >"$log.files"
  # Many files at once: clang-format takes longer to start than to read one.
  run_child xargs -a "$log.files" -P "$(nproc)" -n 64 clang-format --dry-run -Werror >"$log" 2>&1 || status=$?
  bad=$(sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: .*/\1/p' "$log" | sort -u | wc -l)
  ((status == 0 || bad)) || bad=1
  ((bad == 0)) || head -n 80 "$log"
  count $((${#sources[@]} - bad)) "$bad" 0
}

test_python() {
  local python log=$logs/python.log status=0 tool
  begin_group "Python (ruff, mypy)"
  for tool in ruff mypy; do
    status=0
    case $tool in
      ruff) run_child "$here/ruff.sh" >"$log" 2>&1 || status=$? ;;
      mypy)
        if python=$("$here/find_python.sh" mypy); then
          run_child "$python" -m mypy >"$log" 2>&1 || status=$?
        else
          status=77
        fi
        ;;
    esac
    case $status in
      0) count 1 0 0 ;;
      77)
        skips+=("$group: there is no $tool")
        count 0 0 1
        ;;
      *)
        cat "$log"
        count 0 1 0
        ;;
    esac
  done
}

test_host() {
  local preset=host-test left_out='^functional\.(hostile|sizes|slurm)'
  local name="host backend, waves of 32 and 64"
  if $full; then
    preset=host-asan left_out=
    name+=", AddressSanitizer and UndefinedBehaviorSanitizer"
  fi
  begin_group "$name"
  test_build build "$preset" -- "$preset"
}

# With what test_host has built, which is optimized as what run_all.sh builds for the CPU.
test_run_all() {
  local folder=build/run_all/results log=$logs/run_all.log status=0 right
  begin_group "run_all.sh on the CPU"
  run_child "$here/run_all.sh" --no-setup --no-build --backend host --build-dir build/host-asan --out "$folder" \
    >"$log" 2>&1 || status=$?
  ((status == 0)) || cat "$log"
  right=$(grep -cE '^\[[0-9]+/[0-9]+\] .* ok$' "$log") || true
  count "$right" $((status ? 1 : 0)) 0
}

test_tidy() {
  begin_group "clang-tidy"
  if [[ ! -e $root/build/host-asan/compile_commands.json ]]; then
    printf 'there is no build/host-asan/compile_commands.json\n'
    count 0 1 0
    return
  fi
  local harness findings lessons commands=build/clang-tidy/compile_commands.json
  local tidy=(clang-tidy --quiet --warnings-as-errors='*' -p build/clang-tidy
    # GCC's compile commands may name warnings that clang does not know.
    --extra-arg=-Wno-unknown-warning-option
    # Sources that are compiled as one include each other.
    --checks=-bugprone-suspicious-include)
  # What GCC has precompiled clang cannot read: it reads the headers themselves. Nor has it all of GCC's options.
  mkdir -p build/clang-tidy
  sed -e 's# -Winvalid-pch -include [^ ]*/cmake_pch.hxx##' -e 's# -fno-loop-interchange##' \
    build/host-asan/compile_commands.json >"$commands"
  # As they are compiled, several as one: most of the time goes into the headers.
  mapfile -t harness < <(sed -nE 's#^ *"file": "(.*/src/harness/.*)".*#\1#p' "$commands" | grep -v cmake_pch)
  mapfile -t findings < <(sed -nE 's#^ *"file": "(.*findings\.(dir/.*|cpp))".*#\1#p' "$commands" | grep -v cmake_pch)
  # The longest ones, whole kernels, stand near the end, and begin first.
  mapfile -t lessons < <(find src/[0-9]* -name '*.hip' | sort -r)
  each_file clang-tidy "${tidy[@]}" -- "${harness[@]}"
  each_file clang-tidy-lessons "${tidy[@]}" --config-file=.clang-tidy-lessons -- "${lessons[@]}" "${findings[@]}"
}

test_amd() {
  if ! find_hipcc >/dev/null; then
    skip_group "AMD: compilation and ISA" "there is no hipcc"
    return
  fi
  local preset=amd-test left_out=
  begin_group "AMD: compilation and ISA"
  if $full; then
    test_build build_amd -- amd-test
  else
    # Nothing is built: each test compiles the kernels of one source.
    local name=amd-test-short
    if configure "$name" -DHIPSCOPE_AMD_TARGETS=gfx90a -DHIPSCOPE_EMULATOR=OFF -DHIPSCOPE_KEEP_ASSEMBLY=OFF; then
      run_tests "$name" --tests-regex '^isa\.[a-z_0-9]*\.gfx90a$'
    else
      count 0 1 0
    fi
  fi
}

# run_experiments OPTION...: runs the binaries by the list of tests/emulator, in the emulator unless there is
# another launcher, and counts.
run_experiments() {
  local log=$logs/experiments.log python sum
  if ! python=$("$here/find_python.sh" json); then
    printf 'there is no Python 3.9 or later\n'
    count 0 1 0
    return
  fi
  run_child "$python" tests/emulator/run_experiments.py "$@" >"$log" 2>&1 || true
  sum=$(tail -n 1 "$log")
  grep -vE '^good: |^[0-9]+ passed' "$log" || true
  if [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    ((BASH_REMATCH[3] == 0)) || skips+=("$group: ${BASH_REMATCH[3]} runs, as said above")
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
  else
    count 0 1 0
  fi
}

test_emulator() {
  local name="AMD: machine code in the emulator"
  if ! compgen -G "$root/build/amd-test/tests/emulator/libamdhip64.so.*" >/dev/null; then
    skip_group "$name" "the emulator was not built, for want of hipcc or of its LLVM's tools"
    return
  fi
  begin_group "$name"
  run_experiments --build build/amd-test
}

# With --launcher: nothing else.
test_launcher() {
  local preset=amd-test folder=${build:-build/amd-test}
  begin_group "experiments, run by $launcher"
  if [[ -z $build && ! -e build/amd-test/bin ]] && ! build amd-test; then
    count 0 1 0
    return
  fi
  run_experiments --build "$folder" --launcher "$launcher"
}

# Beside other tests, since it mostly waits: for the network and for one process that unpacks.
begin_rocm7_system() {
  set -m
  "$here/rocm7.sh" --make </dev/null >"$logs/rocm7-system.log" 2>&1 3>&- &
  set +m
}

# As root it makes a system with ROCm 7 the first time, and builds everything there. Otherwise it says why not.
test_rocm7() {
  local log=$logs/rocm7.log status=0
  begin_group "AMD: compilation and ISA with ROCm 7"
  run_child "$here/rocm7.sh" >"$log" 2>&1 || status=$?
  local sum
  sum=$(tail -n 1 "$log")
  if ((status == 77)); then
    printf '%s\n' "$sum"
    skips+=("$group: ${sum#skipped: }")
    count 0 0 1
  elif [[ $sum =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    ((status == 0)) || cat "$log"
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}"
  else
    cat "$log"
    count 0 1 0
  fi
}

test_nvidia() {
  if ! find_nvcc >/dev/null; then
    skip_group "NVIDIA: compilation" "there is no nvcc"
    return
  fi
  local left_out=
  begin_group "NVIDIA: compilation"
  test_build build_nvidia -- nvidia-test
}

test_scripts() {
  local python status=0 parallel=()
  if ! python=$("$here/find_python.sh" pytest matplotlib jsonschema yaml); then
    skip_group "scripts (pytest)" "no Python has pytest, matplotlib, jsonschema and yaml"
    return
  fi
  begin_group "scripts (pytest)"
  rm -f "$logs/pytest.xml"
  # Several at once where pytest can: most of them wait for one process.
  if "$python" -c 'import xdist' 2>/dev/null; then
    parallel=(-n "$(nproc)")
  fi
  $full || parallel+=(-m "not slow")
  # First on PATH: what a manager of Python's versions puts there takes a second to start anything.
  PATH=${python%/*}:$PATH logged pytest "$python" -m pytest -q -p no:cacheprovider "${parallel[@]}" \
    --junitxml "$logs/pytest.xml" tests/scripts || status=$?
  count_junit "$logs/pytest.xml" "$status"
}

# The result files that are committed, but for reports on compiled code, which have their own schema;
# all that are there when this is no git checkout.
list_results() {
  { git ls-files 'results/*/*.json' 2>/dev/null || printf '%s\n' results/*/*.json; } |
    grep -v '^results/isa/'
}

test_results() {
  local python results said
  mapfile -t results < <(list_results | grep -v '[*]')
  if ((${#results[@]} == 0)); then
    skip_group "results against the schema" "no result is committed"
    return
  fi
  if ! python=$("$here/find_python.sh" json); then
    skip_group "results against the schema" "there is no Python"
    return
  fi
  begin_group "results against the schema"
  said=$("$python" "$here/report.py" --check "${results[@]}") || true
  count_checked "$said"
}

# count_checked TEXT: counts what a --check has printed.
count_checked() {
  if [[ $1 =~ ^([0-9]+)\ valid,\ ([0-9]+)\ invalid$ ]]; then
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0
  else
    count 0 1 0
  fi
}

test_isa_results() {
  local python said
  if ! compgen -G 'results/isa/gfx*.json' >/dev/null; then
    skip_group "reports on compiled code against the schema" "there is none"
    return
  fi
  if ! python=$("$here/find_python.sh" matplotlib yaml); then
    skip_group "reports on compiled code against the schema" "no Python has matplotlib and yaml"
    return
  fi
  begin_group "reports on compiled code against the schema"
  said=$("$python" "$here/isa_report.py" --check) || true
  count_checked "$said"
}

conclude() {
  printf '\n== All in %s s ==\n' "$(seconds_since "$started")"
  ((${#skips[@]} == 0)) || printf 'skipped: %s\n' "${skips[@]}"
  ((${#failures[@]} == 0)) || printf 'FAILED: %s\n' "${failures[@]}"
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}

while (($#)); do
  case $1 in
    --full) full=true ;;
    --no-setup) setup=false ;;
    --launcher | --build)
      need_value "$1" $#
      case $1 in
        --launcher) launcher=$2 ;;
        --build) build=$2 ;;
      esac
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

if [[ -n $build && -z $launcher ]]; then
  usage_error "--build is for --launcher; see --help."
fi
if [[ -n $build && ! -d $build/bin ]]; then
  usage_error "there are no binaries in $build/bin."
fi
build=${build:+$(realpath "$build")}
cd "$root"
mkdir -p "$logs" 2>/dev/null || usage_error "the folder $logs cannot be made."
# The functional tests read it.
HIPSCOPE_TIER=$($full && printf full || printf short)
export HIPSCOPE_TIER
on_interrupt='the tests are not complete'
catch_signals
started=$(now)
if [[ -n $launcher ]]; then
  test_launcher
  conclude
  exit
fi
if $setup; then
  install_packages tests
fi
if $full; then
  begin_rocm7_system
  begin_builds
fi
test_shell_scripts
test_format
test_python
test_scripts
test_results
test_isa_results
test_host
test_amd
if $full; then
  test_run_all
  test_emulator
  test_rocm7
  test_tidy
  test_nvidia
else
  skip_group "run_all.sh on the CPU" "left to --full"
  skip_group "AMD: machine code in the emulator" "left to --full"
  skip_group "AMD: compilation and ISA with ROCm 7" "left to --full"
  skip_group "clang-tidy" "left to --full"
  skip_group "NVIDIA: compilation" "left to --full"
fi
conclude
