#!/bin/sh
# wrong.sh CXX INCLUDE: the compiler must find each mistake of wrong.cpp, and nothing else there.
set -eu
source=$(dirname "$0")/wrong.cpp
compile() {
	"$cxx" -std=c++17 -fsyntax-only -I"$include" "$@" "$source" 2>&1
}
cxx=$1 include=$2
compile
case $("$cxx" --version) in
*clang*) said=$(compile -DWRONG -ferror-limit=0 || true) ;;
*) said=$(compile -DWRONG || true) ;;
esac
status=0
for line in $(grep -n '^	/\* ' "$source" | cut -d: -f1); do
	echo "$said" | grep -q "wrong.cpp:$((line + 1)):" && continue
	echo "$cxx accepts line $((line + 1)) of wrong.cpp: $(sed -n "$((line + 1))s/^	//p" "$source")"
	status=1
done
exit $status
