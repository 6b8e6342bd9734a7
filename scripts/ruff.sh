#!/usr/bin/env bash
# Lints the tree's Python by ruff and holds its format, as pyproject.toml says.
#
# Usage: ruff.sh [--fix]
#
#   --fix     writes the files as ruff formats them
#   --help    prints this
#
# Where there is no ruff, npm installs its WebAssembly build in build/ruff. Exit status: 0 good, 1 ruff found
# something, 2 bad usage, 77 there is neither.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/common.sh
source "$here/common.sh"
version=0.17.4
fix=()

while (($#)); do
  case $1 in
    --fix) fix=(--fix) ;;
    --help | -h)
      show_help "$0"
      exit 0
      ;;
    *) usage_error "unknown option '$1'; see --help." ;;
  esac
  shift
done
cd "$here/.."
if type -P ruff >/dev/null; then
  if ((${#fix[@]})); then ruff format scripts tests; else ruff format --check scripts tests; fi
  exec ruff check scripts tests
fi
library=build/ruff/node_modules/@astral-sh/ruff-wasm-nodejs
if [[ ! -e $library/package.json ]] &&
  ! npm install --silent --no-save --prefix build/ruff "@astral-sh/ruff-wasm-nodejs@$version" >&2; then
  printf '%s: there is no ruff, and no npm that can install it.\n' "${0##*/}" >&2
  exit 77
fi
settings=$(python3 -c 'import json, tomllib
print(json.dumps(tomllib.load(open("pyproject.toml", "rb"))["tool"]["ruff"]))') || exit 77
mapfile -t files < <(find scripts tests -name '*.py' -not -path '*/__pycache__/*' | sort)
exec node "$here/ruff.js" "$PWD/$library" "$settings" "${fix[@]}" "${files[@]}"
