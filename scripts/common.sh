# shellcheck shell=bash
# What several scripts of this folder need; they source it.

# Prints one sentence naming the script and ends it as a usage error.
usage_error() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 2
}

# Ends the script when the option $1 came without its value ($2 counts what is left, $1 included).
need_value() {
  (($2 >= 2)) || usage_error "$1 needs a value; see --help."
}

# Prints the comment block at the top of the script, which is its help.
show_help() {
  sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$1"
}

# find_program NAME FOLDER...: the path of NAME, on PATH or else in one of the folders.
find_program() {
  local name=$1 folder
  shift
  if type -P "$name"; then
    return 0
  fi
  for folder in "$@"; do
    if [[ -x $folder/$name && ! -d $folder/$name ]]; then
      printf '%s\n' "$folder/$name"
      return 0
    fi
  done
  return 1
}

find_hipcc() {
  find_program hipcc "${ROCM_PATH:-/opt/rocm}/bin"
}

find_nvcc() {
  find_program nvcc "${CUDA_PATH:-/usr/local/cuda}/bin"
}

# install_packages PURPOSE: lets setup.sh install what is missing. What cannot be installed is no
# reason to stop: the build says what it lacks, and not everything is needed.
install_packages() {
  local setup
  setup=$(dirname "${BASH_SOURCE[0]}")/setup.sh
  if "$setup" --for "$1" --check >/dev/null 2>&1; then
    return
  fi
  "$setup" --for "$1" || printf 'Nothing more is installed; going on with what is there.\n'
}
