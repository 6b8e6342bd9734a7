#!/usr/bin/env bash
# Prints the first Python 3 interpreter that can import the given modules.
#
# Usage: find_python.sh [MODULE...]     (default: matplotlib)
#
# A machine may have several interpreters, and the one first on PATH may not be the one that the
# distribution's packages were installed for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
source "$here/common.sh"

candidates() {
  type -aP python3 || true
  printf '%s\n' /usr/bin/python3 /usr/local/bin/python3
  local minor
  for minor in {20..9}; do
    type -aP "python3.$minor" || true
  done
}

# can_import PYTHON: whether it can import the modules; from /, where no file of the current folder
# can pass for a module.
can_import() {
  (cd / && HIPSCOPE_MODULES="${modules[*]}" "$1" -) >/dev/null 2>&1 <<'PYTHON'
import importlib, os, sys
if sys.version_info < (3, 9):
    sys.exit(1)
for name in os.environ["HIPSCOPE_MODULES"].split():
    importlib.import_module(name)
PYTHON
}

if [[ ${1-} == --help || ${1-} == -h ]]; then
  show_help "$0"
  exit 0
fi
modules=("$@")
((${#modules[@]})) || modules=(matplotlib)
for module in "${modules[@]}"; do
  [[ $module =~ ^[A-Za-z_][A-Za-z0-9_.]*$ ]] || usage_error "'$module' is not a module's name."
done

while read -r python; do
  if [[ -x $python ]] && can_import "$python"; then
    printf '%s\n' "$python"
    exit 0
  fi
done < <(candidates)

# Those that are no part of Python itself, by the names that apt and pip know.
debian=()
pip=()
for module in "${modules[@]}"; do
  case $module in
    yaml) debian+=(python3-yaml) pip+=(PyYAML) ;;
    json | os) debian+=(python3) ;;
    *) debian+=("python3-$module") pip+=("$module") ;;
  esac
done
printf '%s: no Python 3.9 or newer here can import %s: apt-get install %s, or without root: %s.\n' \
  "${0##*/}" "${modules[*]}" "${debian[*]}" "python3 -m pip install --user ${pip[*]:--r requirements.txt}" >&2
exit 1
