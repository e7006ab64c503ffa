#!/bin/sh
# install-packages.sh build|check|bench: makes sure that the Debian packages Heddle is built from are installed.
# Says what it installs; does nothing, without network, when all are there. Needs root or sudo only to install.
set -eu

build="gcc g++ cmake ninja-build pkg-config libc6-dev libhwloc-dev libopenblas-dev liblapacke-dev libglpk-dev
libcyaml-dev libyaml-dev libcairo2-dev libjansson-dev libcmocka-dev python3"
case ${1:-} in
build) wanted=$build ;;
check) wanted="$build clang clang-format libclang-rt-14-dev llvm util-linux" ;; # llvm: names in sanitizers' reports
bench) wanted="$build libstarpu-dev libomp-dev clang libjemalloc2 valgrind" ;;
*) echo "usage: $0 build|check|bench" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "== not a Debian system: assuming that these are installed under other names:" $wanted
	exit 0
fi
missing=
for package in $wanted; do
	case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true) in
	installed*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -z "$missing" ] && exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "$0: packages are missing, and neither root nor sudo is here to install them; run as root:" >&2
		echo "  apt-get install --no-install-recommends$missing" >&2
		exit 1
	fi
	as_root="sudo"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
	if ! $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1; then
		cat "$log" >&2
		echo "$0: apt-get $1 failed; without it Heddle cannot be built here. Missing:$missing" >&2
		exit 1
	fi
}
echo "== installing Debian packages:$missing"
apt update
apt install -y --no-install-recommends $missing
