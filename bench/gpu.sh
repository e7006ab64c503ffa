#!/bin/sh
# What is to be known of Heddle on an NVIDIA GPU, measured in under ten minutes on a machine that has little more than
# the driver, from a build that was made elsewhere.
#
#   bench/gpu.sh pack FOLDER [BUILD]      # on the machine with the build: gathers all that is needed in FOLDER
#   FOLDER/gpu.sh run OUT [tiny]          # on the machine with the GPU: rows in OUT/gpu.csv, OUT/platform.yaml, OUT/log
#
# cuBLAS and cuSOLVER are looked for in LD_LIBRARY_PATH, below /usr/local/cuda and among Python's packages. `tiny` has
# sizes with which the script itself is tried, on the stand-in for NVIDIA's driver for example.
set -u
here=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "gpu.sh: $*" >&2
	exit 1
}

# --- pack -------------------------------------------------------------------------------------------------------------

# Copies the libraries that the programs need, but not those that belong to the system or to NVIDIA.
pack_libraries() {
	for program in "$1"/bin/*; do
		LD_LIBRARY_PATH="$2:${LD_LIBRARY_PATH:-}" ldd "$program" 2>/dev/null
	done | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
		grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libstdc\+\+|libgcc_s)\.so' |
		grep -Ev '/(libcuda|libcublas[^/]*|libcusolver)\.so' |
		while read -r library; do cp -L "$library" "$1/lib/"; done
}

pack() {
	build=${2:-$here/../build}
	mkdir -p "$1/bin" "$1/lib" || fail "cannot make $1"
	for program in heddle bench/gpu_dense bench/gpu_stencil; do
		[ -x "$build/$program" ] || fail "$build/$program is missing: ninja -C $build heddle benches"
		cp "$build/$program" "$1/bin/"
	done
	cp "$build"/tests/test_cuda* "$1/bin/" 2>/dev/null
	rm -f "$1"/bin/*.cmake
	cp "$here/gpu.sh" "$here/virtual_real.py" "$1/"
	pack_libraries "$1" "$build"
	strip --strip-unneeded "$1"/bin/* "$1"/lib/* 2>/dev/null
	du -sh "$1"
}

# --- run --------------------------------------------------------------------------------------------------------------

cuda_folders() {
	for folder in /usr/local/cuda/lib64 /usr/local/cuda*/targets/*/lib /usr/local/nvidia/lib64 \
		$(python3 -c 'import site; print(*site.getsitepackages())' 2>/dev/null | tr ' ' '\n' |
			sed 's|$|/nvidia/cu13/lib|; p; s|cu13/lib$|cublas/lib|; p; s|cublas/lib$|cusolver/lib|'); do
		[ -d "$folder" ] && printf ':%s' "$folder"
	done
}

begin=$(date +%s)
LIMIT=570
# Whether there is time left; says what is left out otherwise.
in_time() {
	[ $(($(date +%s) - begin)) -lt $LIMIT ] && return 0
	echo "left out, because the time is over: $*"
	return 1
}

# row BENCH CASE UNIT OURS PEER PEER_VALUE: a row of the results, with the ratio.
row() {
	awk -v b="$1" -v c="$2" -v u="$3" -v o="$4" -v p="$5" -v v="$6" 'BEGIN {
		r = o != "" && v != "" && v > 0 ? sprintf("%.4g", o / v) : ""
		printf "%s,%s,1,%s,%s,%s,%s,%s\n", b, c, u, o, p, v, r }' >>"$out/gpu.csv"
	tail -1 "$out/gpu.csv"
}

# value COMMAND...: the value of the first row that a bench program prints; nothing if it fails.
value() {
	in_time "$*" >&2 || return 0
	timeout 90 "$@" 2>>"$out/log" | head -1 | cut -d, -f4
}

# best A B: the larger one; nothing counts as 0.
best() {
	awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN {print (b + 0 > a + 0 ? b : a)}'
}

# ours PRECISION ROUTINE N "TILES" "STREAMS": the best rate, and in $how with what.
ours() {
	rate=0
	for tile in $4; do
		for streams in $5; do
			new=$(HEDDLE_CUDA_STREAMS=$streams value "$bin/gpu_dense" ours "$1" "$2" "$3" "$tile" $repeats)
			echo "$1$2 n $3 tile $tile streams $streams: ${new:-failed} GFlop/s" >>"$out/log"
			[ "$(best "$rate" "$new")" = "$rate" ] || how="tile $tile streams $streams"
			rate=$(best "$rate" "$new")
		done
	done
}

beside_nvidia() {
	while read -r precision routine n tiles; do
		in_time "$precision$routine" || continue
		peer=$(value "$bin/gpu_dense" peer "$precision" "$routine" "$n" 64 $repeats)
		library=cusolver
		[ "$routine" = gemm ] && library=cublas
		how=none
		ours "$precision" "$routine" "$n" "$(echo "$tiles" | tr , ' ')" "2 4"
		row gpu-dense "$precision$routine n $n ($how)" GFlop/s "$rate" $library "$peer"
	done <<END
$cases
END
}

# A quarter of the matrix (its lower triangle) in the device's memory, beside all of it.
quarter() {
	in_time "memory for a quarter" || return
	ours d potrf $large "$large_tile" 2
	all=$rate
	bytes=$((large * large * 8 / 2 / 4))
	[ -n "$tiny" ] && bytes=$((large * large * 8))
	export HEDDLE_CUDA_MEMORY=$bytes
	ours d potrf $large "$large_tile" 2
	row gpu-memory "dpotrf n $large tile $large_tile, memory for a quarter" GFlop/s "$rate" unlimited "$all"
	timeout 90 "$bin/heddle" run potrf --n $large --tile $large_tile --ncpu 1 --sched dmdas --no-check \
		--explain >"$out/quarter.txt" 2>>"$out/log"
	unset HEDDLE_CUDA_MEMORY
	sed -n '/^Memories/,/^$/p' "$out/quarter.txt"
}

# seconds in ms of one run; options in $@
run_ms() {
	in_time "heddle run $*" >&2 || return 0
	timeout 90 "$bin/heddle" run "$@" --no-check --no-trace --repeat $repeats --csv 2>>"$out/log" |
		awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "makespan_ms") k = i} NR == 2 {print $k}'
}

policies() {
	alone=$(run_ms potrf --n $middle --tile $middle_tile --ncpu 1 --sched eager)
	for policy in dmdas multiprio autoheteroprio dada; do
		both=$(run_ms potrf --n $middle --tile $middle_tile --sched $policy)
		row gpu-cpus "dpotrf n $middle tile $middle_tile $policy: all cores and the GPU" ms "$both" \
			"GPU and one core" "$alone"
	done
}

run_tests() {
	for test in "$bin"/test_cuda*; do
		[ -x "$test" ] || continue
		in_time "$test" || continue
		timeout 60 "$test" >"$out/test.txt" 2>&1
		status=$?
		cat "$out/test.txt" >>"$out/log"
		word=failed
		[ $status = 0 ] && word=passed
		[ $status = 77 ] && word="left out"
		echo "$(basename "$test"): $word"
	done | tee "$out/tests.txt"
}

sizes() {
	if [ -n "$tiny" ]; then
		repeats=1 large=256 large_tile=64 middle=256 middle_tile=64
		tiles=64 calibrated=256 quick=quick
		cases="d potrf 128 64
s gemm 128 64
d getrf 128 64"
	else
		repeats=3 large=32768 large_tile=2048 middle=16384 middle_tile=1024
		tiles=512,1024,2048 calibrated=10240 quick=
		cases="d potrf 32768 1024,2048
s potrf 32768 1024,2048
d gemm 16384 2048,4096
s gemm 16384 2048,4096
d getrf 16384 1024
d geqrf 16384 1024"
	fi
}

measure() {
	out=$1 bin=$here/bin tiny=${2:-}
	mkdir -p "$out" || fail "cannot make $out"
	out=$(cd "$out" && pwd)
	: >"$out/log"
	LD_LIBRARY_PATH="$here/lib:${LD_LIBRARY_PATH:-}$(cuda_folders)"
	export LD_LIBRARY_PATH HEDDLE_MODEL_DIR="$out/models" HEDDLE_CUDA=1 HEDDLE_SCHED=dmdas
	sizes
	echo "bench,case,workers,unit,ours,peer,peer_value,ratio" >"$out/gpu.csv"
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv 2>/dev/null | tee -a "$out/log"
	"$bin/heddle" machine | tee "$out/machine.txt"
	run_tests
	timeout 150 "$bin/heddle" platform calibrate --n $calibrated --tiles $tiles -o "$out/platform.yaml" \
		2>>"$out/log" || echo "calibration failed: see $out/log"
	beside_nvidia
	quarter
	policies
	if in_time "virtual against real"; then
		timeout 120 python3 "$here/virtual_real.py" "$out/platform.yaml" "potrf:n=$middle,tile=$middle_tile" \
			--heddle "$bin/heddle" --sched dmdas,multiprio --repeat $repeats --csv "$out/gpu.csv" \
			2>>"$out/log" || echo "virtual against real failed: see $out/log"
	fi
	for streams in 1 4; do
		metg=$(value "$bin/gpu_stencil" $streams $((4 * streams)) $quick)
		row gpu-stencil "METG(50 %) $streams streams" us "$metg" "" ""
	done
	echo "took $(($(date +%s) - begin)) s; results: $out/gpu.csv, $out/platform.yaml"
}

case "${1:-}" in
pack) pack "${2:?a folder}" "${3:-}" ;;
run) measure "${2:?a folder for the results}" "${3:-}" ;;
*) fail "pack FOLDER [BUILD], or run OUT [tiny]: see the comment at its top" ;;
esac
