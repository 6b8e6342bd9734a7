#!/usr/bin/env bash
# Checks the subject of a commit's message: one line of at most 72 characters, with an empty line after it.
#
# Usage: commit_message.sh FILE
set -euo pipefail
longest=72
mapfile -t lines < <(grep -v '^#' "${1:?usage: commit_message.sh FILE}")
subject=${lines[0]:-}
if [[ -z $subject ]]; then
  printf 'The first line of the message, its subject, is empty.\n' >&2
  exit 1
fi
if ((${#subject} > longest)); then
  printf 'The subject has %d characters, and may have %d: %s\n' "${#subject}" "$longest" "$subject" >&2
  exit 1
fi
if [[ -n ${lines[1]:-} ]]; then
  printf 'After the subject comes an empty line.\n' >&2
  exit 1
fi
