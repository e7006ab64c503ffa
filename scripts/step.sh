#!/bin/sh
# step.sh "what is being done" command...: says it in one line and runs the command. If that succeeds, only what it
# writes to standard error is shown, which is for people; if it fails, or with VERBOSE=1, everything is.
set -u
echo "== $1"
shift
[ "${VERBOSE:-0}" = 1 ] && exec "$@"
log=$(mktemp)
said=$(mktemp)
trap 'rm -f "$log" "$said"' EXIT
"$@" >"$log" 2>"$said" && { cat "$said"; exit 0; }
status=$?
cat "$log" "$said"
echo "== failed with status $status: $*"
exit "$status"
