#!/bin/sh
# step.sh "what is being done" command...: says it in one line, runs the command, shows its output only if it fails
# (or always, with VERBOSE=1).
set -u
echo "== $1"
shift
[ "${VERBOSE:-0}" = 1 ] && exec "$@"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" >"$log" 2>&1 && exit 0
status=$?
cat "$log"
echo "== failed with status $status: $*"
exit "$status"
