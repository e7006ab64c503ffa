#!/bin/sh
# install-packages.sh build|deb|check|bench: makes sure that the Debian packages Heddle is built from are installed, and
# those for OpenCL, for sparse QR, for several machines, for its Python package, for Fortran, for gdb and for a browser,
# without which it can be built and tested as well. Says what it installs; does nothing, without network, when all are
# there. Needs root or sudo only to install.
set -eu

build="gcc g++ cmake ninja-build pkg-config libc6-dev libhwloc-dev libopenblas-dev liblapacke-dev coinor-libclp-dev
libyaml-dev libcairo2-dev libjansson-dev libcmocka-dev python3"
opencl="opencl-c-headers libclblast-dev"
sparse="libsuitesparse-dev"
mpi=
python="python3-cffi python3-numpy"
debugger= browser= peers= fortran=
case ${1:-} in
build) wanted=$build ;;
deb) wanted="$build dpkg-dev file" ;;
check) # lld: links the tests; llvm: names in sanitizers' reports
	# pocl-opencl-icd: an OpenCL device on every machine, its CPU
	wanted="$build clang clang-format libclang-rt-14-dev lld llvm util-linux dpkg-dev file"
	opencl="$opencl pocl-opencl-icd"
	python="$python python3-pytest python3-scipy mypy"
	mpi="libopenmpi-dev openmpi-bin"
	debugger=gdb
	fortran=gfortran
	browser=chromium-headless-shell ;; # chromium without windows: less to install
bench)
	wanted="$build libstarpu-dev libomp-dev clang libjemalloc2 valgrind"
	peers="libflame-dev starpu-examples" ;;
*) echo "usage: $0 build|deb|check|bench" >&2; exit 2 ;;
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
without_sparse=$(missing_of $sparse)
without_mpi=$(missing_of $mpi)
without_python=$(missing_of $python)
without_debugger=$(missing_of $debugger)
without_browser=$(missing_of $browser)
without_peers=$(missing_of $peers)
without_fortran=$(missing_of $fortran)
without=$without_opencl$without_sparse$without_mpi$without_python$without_debugger$without_fortran
without=$without$without_browser$without_peers
# For `build`, these are only installed along with others: a machine without network builds at once.
[ -z "$missing" ] && { [ -z "$without" ] || [ "$1" = build ]; } && exit 0

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
optional() { # optional PACKAGES WHAT: installs them, or those that can be had; says what is left out otherwise
	[ -z "$1" ] || apt install -y --no-install-recommends $1 && return
	for package in $1; do
		apt install -y --no-install-recommends $package || echo "== $package could not be installed, so $2"
	done
}
optional "$without_opencl" "what needs OpenCL is left out"
optional "$without_sparse" "libheddle-sparse is left out"
optional "$without_mpi" "libheddle-mpi is left out"
optional "$without_python" "the Python package is left out, or not tested"
optional "$without_debugger" "the commands for gdb are not tested"
optional "$without_fortran" "the Fortran modules are not tested"
optional "$without_browser" "the live page is not tested"
optional "$without_peers" "its routines are not compared with"
