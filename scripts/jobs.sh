# shellcheck shell=bash
# Child processes that end with the script, and the clock; run_all.sh, sanitize.sh and test.sh source it.

# What remains after an interrupt, for its message; and a folder that goes when the script ends.
on_interrupt=
scratch=

now() {
  printf '%s' "${EPOCHREALTIME/[.,]/}"
}

# Seconds since a `now`, with one decimal.
seconds_since() {
  local tenths=$((($(now) - $1 + 50000) / 100000))
  printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# A path as the user would write it: below the repository without the repository's own path.
shown() {
  printf '%s' "${1#"$root"/}"
}

# run_child COMMAND...: runs it and returns its status. It gets a process group of its own, so that
# one signal ends all of it, and is waited for in a way that lets this script see signals meanwhile.
run_child() {
  local status=0
  set -m
  "$@" </dev/null 3>&- &
  set +m
  wait "$!" || status=$?
  return "$status"
}

# Ends what run_child started: politely, and after ten seconds for good.
stop_children() {
  local group tenth
  for group in $(jobs -pr); do
    kill -TERM -- "-$group" 2>/dev/null || continue
    for ((tenth = 0; tenth < 100; ++tenth)); do
      kill -0 -- "-$group" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$group" 2>/dev/null || true
  done
}

interrupt() {
  trap '' INT TERM HUP
  stop_children
  # After a SIGHUP nobody may be there to read it.
  printf '\n%s: interrupted; %s.\n' "${0##*/}" "$on_interrupt" >&3 || true
  exit "$1"
}

remove_scratch() {
  [[ -z $scratch ]] || rm -rf "$scratch"
}

# SIGINT, SIGTERM and SIGHUP end the script with status 130, 143 and 129; `on_interrupt` says what
# remains, and the folder `scratch` is removed however the script ends.
catch_signals() {
  # While run_child is called with its output redirected, so is this script's own.
  exec 3>&2
  trap 'interrupt 130' INT
  trap 'interrupt 143' TERM
  trap 'interrupt 129' HUP
  trap remove_scratch EXIT
}
