#!/bin/sh
# What is to be known of Heddle on an NVIDIA GPU, measured in under ten minutes on a machine that has little more than
# the driver, from a build that was made elsewhere.
#
#   bench/gpu.sh pack FOLDER [BUILD] [--with-cuda] [--no-archive]
#         on the machine with the build: gathers all that is needed in FOLDER and in FOLDER.tar.gz. --with-cuda: also
#         cuBLAS, cuSOLVER and what they need, which are large, for a machine without them
#   tar -xzf FOLDER.tar.gz && FOLDER/gpu.sh run OUT [tiny] [limit=SECONDS]
#         on the machine with the GPU, which needs glibc 2.36: rows in OUT/gpu.csv and in words in OUT/report.txt, as
#         they come; OUT/platform.yaml, OUT/log. tiny: sizes with which the script itself is tried, on a stand-in for
#         NVIDIA's driver for example. limit: how long it may take in all, 570 s. Exit status 1: something is
#         missing, which the first line says, or nothing was measured, or a test FAILED; not that a figure is MISSED
#
# cuBLAS and cuSOLVER are looked for in FOLDER, in LD_LIBRARY_PATH, below /usr/local/cuda and among Python's packages.
# What is asked of each figure stands beside it: "met" or "MISSED".
set -u
# The cd of $(cd ... && pwd) would print the folder too; and awk would take and write 1,5 for 1.5 in some languages.
unset CDPATH
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "gpu.sh: $*" >&2
	exit 1
}

# --- Libraries of NVIDIA ----------------------------------------------------------------------------------------------

# The folders that may have them, one a line.
cuda_folders() {
	{
		echo "${LD_LIBRARY_PATH:-}" | tr : '\n'
		for folder in /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/local/cuda*/lib64 /usr/local/cuda*/lib \
			/usr/local/cuda*/targets/*/lib /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
			echo "$folder"
		done
		python3 -c 'import glob, sys
for path in filter(None, sys.path):
	print(*glob.glob(path + "/nvidia/*/lib"), sep="\n")' 2>/dev/null
	} | while read -r folder; do [ -d "$folder" ] && echo "$folder"; done
}

# find_library NAME: its path, in $folders or where the system has libraries. For $(...), because it changes IFS.
find_library() {
	IFS='
'
	for folder in $folders; do
		[ -e "$folder/$1" ] && echo "$folder/$1" && return
	done
	PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name {print $NF; exit}'
}

# find_all NAMES: for each, "NAME PATH", and the same for what these need; a path of "-" where there is none.
find_all() {
	for name in "$@"; do
		path=$(find_library "$name")
		echo "$name ${path:--}"
		[ -z "$path" ] || LD_LIBRARY_PATH=$libraries ldd "$path" 2>/dev/null |
			awk '$2 == "=>" {print $1, $3 ~ /^\// ? $3 : "-"}'
	done | sort -u
}

# missing NAME: says how to get it.
missing() {
	case $1 in
	libcuda.*) fail "$1 is missing on this machine: it is NVIDIA's driver, and is passed into a container from" \
		"outside (docker run --gpus all)" ;;
	esac
	fail "$1 is missing on this machine: pip install nvidia-cublas nvidia-cusolver (CUDA 12: nvidia-cublas-cu12" \
		"nvidia-cusolver-cu12), or name its folder in LD_LIBRARY_PATH, or pack with --with-cuda where it is"
}

# Without these everything would be "not measured", or a library that is missing would not be seen.
check_commands() {
	gone=
	for name in awk cut date env head ldd sed sort tee timeout tr; do
		command -v $name >/dev/null || gone="$gone $name"
	done
	[ -z "$gone" ] || fail "not found in PATH:$gone: install them (Debian: mawk, sed, coreutils, libc-bin)"
}

# What is not there is said at once, and not by each command.
check_libraries() {
	said=$(with_libraries "$bin/heddle" --version 2>&1) || fail "the programs do not start here: $said"
	needs=$(cat "$here/needs")
	gone=$(find_all $needs | awk '$2 == "-" {print $1; exit}')
	[ -z "$gone" ] || missing "$gone"
	built=$(echo "$needs" | sed -n 's/^libcublas\.so\.//p')
	knows=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p')
	[ "${knows:-$built}" -ge "$built" ] ||
		fail "the driver here knows CUDA $knows, and this was built with CUDA $built: use a newer driver, or" \
			"build with the toolkit of CUDA $knows"
}

# The programs say themselves why they find no GPU.
check_device() {
	said=$(HEDDLE_CUDA=1 HEDDLE_OPENCL=0 with_libraries timeout -k 5 60 "$bin/heddle" machine 2>&1 >/dev/null) ||
		fail "no GPU can be used here: ${said:-'heddle machine' ended without a word, or took over 60 s}"
}

# --- pack -------------------------------------------------------------------------------------------------------------

# Copies the libraries that the programs need, but not those that belong to the system or to NVIDIA.
pack_libraries() {
	for program in "$1"/bin/*; do
		LD_LIBRARY_PATH="$2:${LD_LIBRARY_PATH:-}" ldd "$program" 2>/dev/null
	done | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
		grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libstdc\+\+|libgcc_s)\.so' |
		grep -Ev '/lib(cuda|cublas[^/]*|cusolver)\.so' |
		while read -r library; do cp -L "$library" "$1/lib/"; done
}

# The same for those of NVIDIA, but not the driver, which belongs to the device.
pack_cuda() {
	folders=$(cuda_folders)
	libraries=$(echo "$folders" | tr '\n' :)
	found=$(find_all $(grep -v '^libcuda\.' "$1/needs") | grep -E '^lib(cu|nv)' | grep -v '^libcuda\.')
	gone=$(echo "$found" | awk '$2 == "-" {print $1; exit}')
	[ -z "$gone" ] || missing "$gone"
	echo "$found" | while read -r _ path; do cp -L "$path" "$1/lib/"; done
}

# Says which glibc the packed files need.
say_glibc() {
	newest=$(readelf -V "$1"/bin/* "$1"/lib/* 2>/dev/null | grep -oE 'GLIBC_2\.[0-9]+' | sort -uV | tail -1)
	echo "$1: needs glibc ${newest#GLIBC_} or newer (Debian 12 has 2.36, Ubuntu 24.04 has 2.39)"
}

pack() {
	folder= build=$here/../build with_cuda= archive=yes
	for word in "$@"; do
		case $word in
		--with-cuda) with_cuda=yes ;;
		--no-archive) archive= ;;
		*) [ -n "$folder" ] && build=$word || folder=$word ;;
		esac
	done
	folder=${folder%/} # or the archive would be written into it
	[ -n "$folder" ] || fail "pack FOLDER [BUILD] [--with-cuda] [--no-archive]"
	mkdir -p "$folder/bin" "$folder/lib" || fail "cannot make $folder"
	for program in heddle bench/gpu_dense bench/gpu_stencil; do
		[ -x "$build/$program" ] || fail "$build/$program is missing: ninja -C $build heddle bench_gpu_dense" \
			"bench_gpu_stencil, in a developer's build on a machine with a CUDA toolkit"
		cp "$build/$program" "$folder/bin/"
	done
	cp "$build"/tests/test_cuda* "$folder/bin/" 2>/dev/null
	rm -f "$folder"/bin/*.cmake
	cp "$here/gpu.sh" "$folder/"
	strings -a "$folder/bin/gpu_dense" | grep -Ex 'lib(cuda|cublas|cusolver)\.so\.[0-9]+' | sort -u >"$folder/needs"
	pack_libraries "$folder" "$build"
	strip --strip-unneeded "$folder"/bin/* "$folder"/lib/* 2>/dev/null
	[ -z "$with_cuda" ] || pack_cuda "$folder"
	say_glibc "$folder"
	du -shL "$folder"
	[ -n "$archive" ] || return 0
	# By gzip, which is larger than by xz: a machine with little more than the driver may lack xz.
	tar -C "$(dirname "$folder")" -czf "$folder.tar.gz" "$(basename "$folder")" ||
		fail "cannot write $folder.tar.gz"
	du -shL "$folder.tar.gz"
	echo "there: tar -xzf $(basename "$folder").tar.gz && $(basename "$folder")/gpu.sh run OUT"
}

# --- run: time and rows -----------------------------------------------------------------------------------------------

with_libraries() {
	env LD_LIBRARY_PATH="$libraries" "$@"
}

# limited SECONDS COMMAND...: runs it for at most so long, and not beyond the end of all, which alone counts in a tiny
# run: the machine may be busy. Its errors go to the log.
limited() {
	left=$((deadline - $(date +%s)))
	[ -n "$tiny" ] || [ "$1" -ge $left ] || left=$1
	shift
	echo "--- after $(($(date +%s) - begin)) s: $*" >>"$out/log"
	if [ $left -lt 1 ]; then
		echo "left out, because the time is over" >>"$out/log"
		return 124
	fi
	timeout -k 5 $left env LD_LIBRARY_PATH="$libraries" "$@" 2>>"$out/log"
}

# row BENCH CASE UNIT OURS PEER PEER_VALUE ASKED: writes a result. ASKED is "ratio MIN MAX" (ours / peer), "ours MIN
# MAX", or "": nothing is asked.
row() {
	[ -z "$4" ] || measured=yes
	awk -v b="$1" -v c="$2" -v u="$3" -v o="$4" -v p="$5" -v v="$6" -v asked="$7" -v csv="$out/gpu.csv" 'BEGIN {
		ratio = o > 0 && v > 0 ? sprintf("%.4g", o / v) : ""
		n = split(asked, a, " ")
		seen = a[1] == "ours" ? o : ratio
		word = !n ? "" : seen == "" ? "not known" : seen + 0 >= a[2] && seen + 0 <= a[3] ? "met" : "MISSED"
		range = !n ? "" : a[2] == 0 ? "at most " a[3] : a[3] >= 1e9 ? "at least " a[2] : a[2] " to " a[3]
		printf "%s,\"%s\",1,%s,%s,%s,%s,%s,%s,%s\n", b, c, u, o, p, v, ratio, range, word >>csv
		printf "%s %s: %s", b, c, o == "" ? "not measured, see the log" : o " " u
		if (p != "") printf ", %s %s, ratio %s", p, v == "" ? "not measured" : v, ratio == "" ? "-" : ratio
		printf n ? "; asked %s: %s\n" : "\n", range, word }' | tee -a "$out/report.txt"
}

# --- run: measurements ------------------------------------------------------------------------------------------------

# rate PROGRAM...: the value of the first row that a bench program prints; nothing if it fails.
rate() {
	limited 60 "$@" | head -1 | cut -d, -f4
}

# faster A B: the larger rate; nothing counts as 0.
faster() {
	awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN {print (b + 0 > a + 0 ? b : a)}'
}

# ours PRECISION ROUTINE N "TILES" "STREAMS": the best rate on the GPU alone in $best, and in $how with what.
ours() {
	best= how=none
	for tile in $4; do
		for streams in $5; do
			new=$(rate env HEDDLE_NCPU=0 HEDDLE_CUDA_STREAMS=$streams \
				"$bin/gpu_dense" ours "$1" "$2" "$3" "$tile" $repeats)
			echo "$1$2 n $3 tile $tile streams $streams: ${new:-failed} GFlop/s" | tee -a "$out/log"
			[ -z "$new" ] || [ "$(faster "$best" "$new")" != "$new" ] ||
				{ best=$new; how="tile $tile, streams $streams"; }
		done
	done
}

# beside_nvidia PRECISION ROUTINE N "TILES" LIBRARY ASKED
beside_nvidia() {
	peer=$(rate "$bin/gpu_dense" peer "$1" "$2" "$3" 64 $repeats)
	ours "$1" "$2" "$3" "$4" "$streams_tried"
	row gpu-dense "$1$2 n $3 (${how})" GFlop/s "$best" "$5" "$peer" "$6"
}

# A quarter of the matrix (its lower triangle) in the device's memory, beside all of it.
quarter() {
	bytes=$((large * large * 8 / 2 / 4))
	[ -z "$tiny" ] || bytes=$((large * large * 8))
	ours d potrf $large $large_tile 2
	all=$best
	HEDDLE_CUDA_MEMORY=$bytes
	export HEDDLE_CUDA_MEMORY
	ours d potrf $large $large_tile 2
	row gpu-memory "dpotrf n $large ($how); memory for a quarter" GFlop/s "$best" unlimited "$all" "ratio 0.75 1e9"
	limited 40 "$bin/heddle" run potrf --n $large --tile $large_tile --ncpu 0 --sched dmdas --no-check --explain |
		sed -n '/^Memories/,/^$/p' | tee -a "$out/report.txt"
	unset HEDDLE_CUDA_MEMORY
}

# milliseconds run|sim OPTIONS...: the makespan of the factorisation that cores and GPU are compared by.
milliseconds() {
	command=$1
	shift
	limited 60 "$bin/heddle" "$command" potrf --n $middle --tile $middle_tile --csv "$@" |
		awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "makespan_ms") k = i} NR == 2 {print $k}'
}

# real OPTIONS...: for real, as virtual time begins: with all data in main memory.
real() {
	milliseconds run --streams 4 --data ram --no-check --no-trace --repeat $repeats "$@"
}

calibrate() {
	limited 90 "$bin/heddle" platform calibrate --n $calibrated --tiles $middle_tile --streams 4 \
		--seconds $seconds -o "$out/platform.yaml" || echo "calibration failed: see $out/log"
}

# Cores and GPU beside the GPU alone, and virtual time beside real time.
policies() {
	what="dpotrf n $middle tile $middle_tile"
	alone=
	for policy in eager dmdas; do
		new=$(real --ncpu 0 --sched $policy)
		alone=$(awk -v a="$alone" -v b="$new" 'BEGIN {print a == "" || b != "" && b + 0 < a + 0 ? b : a}')
	done
	for policy in dmdas multiprio autoheteroprio dada; do
		both=$(real --sched $policy)
		row gpu-cpus "$what $policy, all cores and the GPU" ms "$both" "GPU alone" "$alone" "ratio 0 1"
		virtual=$(milliseconds sim --sched $policy --platform "$out/platform.yaml")
		row virtual-real "$what $policy, virtual time" ms "$virtual" real "$both" "ratio 0.9 1.1"
	done
}

stencil() {
	for streams in 4 1; do
		metg=$(rate "$bin/gpu_stencil" $streams $((4 * streams)) $quick)
		asked=
		[ $streams = 1 ] || asked="ours 0 10"
		row gpu-stencil "METG(50 %) with $streams streams" us "$metg" "" "" "$asked"
	done
}

# The tests see neither the settings nor the models of the measurements. In a tiny run they are left out: what runs that
# on a stand-in runs them too.
run_tests() {
	[ -z "$tiny" ] || return 0
	for test in "$bin"/test_cuda*; do
		[ -x "$test" ] || continue
		limited 60 env -u HEDDLE_SCHED -u HEDDLE_MODEL_DIR HEDDLE_CUDA=0 OPENBLAS_NUM_THREADS=1 \
			XDG_DATA_HOME="$out/home" XDG_CONFIG_HOME="$out/home" "$test" >"$out/test.txt"
		status=$?
		cat "$out/test.txt" >>"$out/log"
		case $status in
		0) word=passed ;;
		77) word="left out" ;;
		124 | 137) word="not finished, because the time was over" ;;
		*) word=FAILED ;;
		esac
		echo "$(basename "$test"): $word"
	done | tee "$out/tests.txt"
	rm -f "$out/test.txt"
}

# --- run: all of it ---------------------------------------------------------------------------------------------------

sizes() {
	repeats=3 large=32768 large_tile=2048 middle=16384 middle_tile=1024 calibrated=8192 seconds=20 quick=
	potrf_tiles="1024 2048" gemm=16384 gemm_tiles="2048 4096" others=16384 others_tile=1024
	streams_tried="2 4"
	if [ -n "$tiny" ]; then
		repeats=1 large=256 large_tile=64 middle=256 middle_tile=64 calibrated=256 seconds=0 quick=quick
		potrf_tiles=64 gemm=128 gemm_tiles=64 others=64 others_tile=32
		streams_tried=2
	fi
}

# What matters most comes first: the end of the time may come before the end of the list.
measure() {
	beside_nvidia d potrf $large "$potrf_tiles" cusolver "ratio 0.95 1e9"
	beside_nvidia s potrf $large "$potrf_tiles" cusolver "ratio 0.95 1e9"
	beside_nvidia d gemm $gemm "$gemm_tiles" cublas "ratio 0.97 1e9"
	beside_nvidia s gemm $gemm "$gemm_tiles" cublas "ratio 0.97 1e9"
	quarter
	calibrate
	policies
	stencil
	beside_nvidia d getrf $others $others_tile cusolver ""
	beside_nvidia d geqrf $others $others_tile cusolver ""
	run_tests
}

run() {
	out=$1 tiny= bin=$here/bin limit=570 measured=
	shift
	check_commands
	for word in "$@"; do
		case $word in
		tiny) tiny=yes ;;
		limit=*) limit=${word#limit=} ;;
		*) fail "run OUT [tiny] [limit=SECONDS], not $word" ;;
		esac
	done
	case $limit in
	'' | *[!0-9]* | 0?*) fail "limit=$limit: give whole seconds, such as limit=570" ;;
	esac
	[ -x "$bin/heddle" ] || fail "$bin/heddle is missing: run this in a folder that gpu.sh pack has made"
	folders="$here/lib
$(cuda_folders)"
	libraries=$(echo "$folders" | tr '\n' : | sed 's/:$//')
	begin=$(date +%s)
	deadline=$((begin + limit))
	check_libraries
	check_device
	mkdir -p "$out" || fail "cannot make $out"
	out=$(cd "$out" && pwd)
	: >"$out/log"
	: >"$out/report.txt"
	: >"$out/tests.txt"
	export HEDDLE_MODEL_DIR="$out/models" HEDDLE_CUDA=1 HEDDLE_OPENCL=0 HEDDLE_SCHED=dmdas
	sizes
	echo "bench,case,workers,unit,ours,peer,peer_value,ratio,asked,met" >"$out/gpu.csv"
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv 2>/dev/null | tee -a "$out/report.txt"
	limited 30 "$bin/heddle" machine | tee "$out/machine.txt"
	measure
	echo "took $(($(date +%s) - begin)) s; results: $out/gpu.csv, $out/report.txt, $out/platform.yaml"
	[ -n "$measured" ] || fail "nothing was measured: $out/log says why"
	case $(cat "$out/tests.txt") in
	*FAILED*) fail "a test FAILED: see $out/tests.txt and $out/log" ;;
	esac
}

word=${1:-}
[ $# = 0 ] || shift
case $word in
pack) pack "$@" ;;
run)
	[ $# -gt 0 ] || fail "run OUT [tiny] [limit=SECONDS]"
	run "$@"
	;;
*) fail "pack FOLDER [BUILD], or run OUT: see the comment at its top" ;;
esac
