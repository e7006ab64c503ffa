#!/bin/sh
# install-packages.sh build|check|bench: makes sure that the Debian packages Heddle is built from are installed, and
# those for OpenCL and for its Python package, without which it can be built and tested as well. Says what it installs;
# does nothing, without network, when all are there. Needs root or sudo only to install.
set -eu

build="gcc g++ cmake ninja-build pkg-config libc6-dev libhwloc-dev libopenblas-dev liblapacke-dev libglpk-dev
libcyaml-dev libyaml-dev libcairo2-dev libjansson-dev libcmocka-dev python3"
opencl="opencl-c-headers libclblast-dev"
python="python3-cffi python3-numpy"
case ${1:-} in
build) wanted=$build ;;
check) # llvm: names in sanitizers' reports; pocl-opencl-icd: an OpenCL device on every machine, its CPU
	wanted="$build clang clang-format libclang-rt-14-dev llvm util-linux"
	opencl="$opencl pocl-opencl-icd"
	python="$python python3-pytest" ;;
bench) wanted="$build libstarpu-dev libomp-dev clang libjemalloc2 valgrind
libflame-dev starpu-examples" ;;
*) echo "usage: $0 build|check|bench" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "== not a Debian system: assuming that these are installed under other names:" $wanted
	exit 0
fi
missing_of() {
	for package; do
		case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true) in
		installed*) ;;
		*) printf ' %s' "$package" ;;
		esac
	done
}
missing=$(missing_of $wanted)
without_opencl=$(missing_of $opencl)
without_python=$(missing_of $python)
without=$without_opencl$without_python
# Outside `check`, these are only installed along with others: a machine without network builds at once.
[ -z "$missing" ] && { [ -z "$without" ] || [ "$1" != check ]; } && exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root="sudo"
	if ! command -v sudo >/dev/null; then
		echo "$0: packages are missing, and neither root nor sudo is here to install them; run as root:" >&2
		echo "  apt-get install --no-install-recommends$missing$without" >&2
		[ -z "$missing" ] && exit 0
		exit 1
	fi
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >"$log" 2>&1
}
fail() {
	cat "$log" >&2
	echo "$0: apt-get failed; without it Heddle cannot be built here. Missing:$missing" >&2
	exit 1
}
echo "== installing Debian packages:$missing$without"
apt update || [ -z "$missing" ] || fail
[ -z "$missing" ] || apt install -y --no-install-recommends $missing || fail
[ -z "$without_opencl" ] || apt install -y --no-install-recommends $without_opencl ||
	echo "== these could not be installed, so what needs OpenCL is left out:$without_opencl"
[ -z "$without_python" ] || apt install -y --no-install-recommends $without_python ||
	echo "== these could not be installed, so the Python package is left out, or not tested:$without_python"
