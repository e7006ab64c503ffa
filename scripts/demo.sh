#!/bin/sh
# demo.sh BUILD_DIR: what `make demo` shows once everything is built. Pictures go to demo/.
set -eu
build=$1
mkdir -p demo
echo "== running: heddle demo (results in demo/)"
"$build/heddle" demo --output demo
