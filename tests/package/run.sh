#!/bin/sh
# run.sh BUILD_DIR CMAKE VERSION: installs into a temporary prefix and moves it, so that nothing is where the build or
# the installation was told it would be; does there what README says, then compiles outside.c, outside_dense.c,
# outside_daggen.c, outside_sparse.c if it was built, and outside_lambda.cpp with what pkg-config says and through
# find_package, and outside.cpp, and runs all of them. Each must print VERSION. Then the plug-ins of examples/, which
# the command loads, and every program there, which must end with 0.
set -eu
build=$1 cmake=$2 version=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved/here
: >"$scratch/log"
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/installed" 2>&1 ||
	{ cat "$scratch/installed"; exit 1; }
# What it says to people, and the list of its files, for where the tree is now.
mkdir -p "$scratch/moved" "$scratch/build/install"
sed -i "s|$scratch/first|$prefix|g" "$scratch/installed"
sed "s|$scratch/first|$prefix|g" "$build/install_manifest.txt" >"$scratch/build/install/install_manifest.txt"
mv "$scratch/first" "$prefix"
library=$(dirname "$(find "$prefix" -name libheddle.so)")

# What an installation says to people, such as the PYTHONPATH, is shown by make; the rest is not.
printed=$("$here/../../scripts/step.sh" step sh -c 'echo much; echo PYTHONPATH >&2')
[ "$printed" = "== step
PYTHONPATH" ] || { echo "step.sh shows \"$printed\""; exit 1; }

# What a shell needs for this prefix is said, in a line that a shell understands.
said=$(sed -n 's/^In each shell: //p' "$scratch/installed")
found=$(env -u PKG_CONFIG_PATH sh -c "$said"'; command -v heddle; printenv PKG_CONFIG_PATH LD_LIBRARY_PATH')
[ "$found" = "$prefix/bin/heddle
$library/pkgconfig
$library" ] || { echo "the installation says \"$said\", after which a shell has: $found"; exit 1; }

# README's first program, by README's commands, for a user whose home cannot be written.
readme=$here/../../README.md
mkdir "$scratch/reader"
sed -n '/^```c$/,/^```$/p;/^```$/q' "$readme" | sed '/^```/d' >"$scratch/reader/hello.c"
sed -n 's/^    \$ //p' "$readme" >"$scratch/reader/commands"
wanted=$(sed -n '/^    \$ .*hello$/{n;s/^    //p;}' "$readme")
printed=$(cd "$scratch/reader" &&
	env -u PKG_CONFIG_PATH -u LD_LIBRARY_PATH PREFIX="$prefix" XDG_DATA_HOME="$scratch/log" sh -eu commands)
[ "$printed" = "$wanted" ] && [ "$wanted" ] || {
	echo "README's program printed \"$printed\" instead of \"$wanted\""
	exit 1
}

# It finds what draws, which is no library that it was linked with.
(cd "$scratch/reader" && HEDDLE_TRACE=run.png LD_LIBRARY_PATH="$library" ./hello >"$scratch/log" && [ -s run.png ]) || {
	echo "README's program draws no chart with the installed libraries"
	exit 1
}

# The loader's cache is renewed where it has a part in it, and nowhere else.
mkdir "$scratch/bin"
printf '#!/bin/sh\ntouch "%s/renewed"\n' "$scratch" >"$scratch/bin/ldconfig"
chmod +x "$scratch/bin/ldconfig"
renews() { # renews PREFIX DESTDIR: yes or no
	rm -f "$scratch/renewed"
	DESTDIR="$2" PATH="$scratch/bin:$PATH" "$cmake" -DCMAKE_INSTALL_PREFIX="$1" \
		-P "$here/../../cmake/LinkerCache.cmake"
	if [ -e "$scratch/renewed" ]; then echo yes; else echo no; fi
}
answers="$(renews /usr/local "") $(renews /usr "") $(renews "$prefix" "") $(renews /usr/local "$scratch/stage")"
[ "$answers" = "yes yes no no" ] || { echo "ldconfig for /usr/local, /usr, elsewhere, staged: $answers"; exit 1; }
grep -q LinkerCache "$build/cmake_install.cmake" || { echo "installing does not renew the loader's cache"; exit 1; }

export LD_LIBRARY_PATH="$library"

expect() { # expect PROGRAM: it must print the version
	printed=$("$1")
	[ "$printed" = "$version" ] || { echo "$1 printed \"$printed\" instead of \"$version\""; exit 1; }
}

export PKG_CONFIG_PATH="$library/pkgconfig"
modules="heddle heddle-dense heddle-fmm heddle-daggen"
[ ! -e "$library/pkgconfig/heddle-sparse.pc" ] || modules="$modules heddle-sparse"
[ ! -e "$library/pkgconfig/heddle-mpi.pc" ] || modules="$modules heddle-mpi"
for module in $modules; do
	found=$(pkg-config --modversion $module)
	[ "$found" = "$version" ] || { echo "$module.pc says version $found instead of $version"; exit 1; }
	program=outside$(echo "${module#heddle}" | tr - _)
	${CC:-cc} -std=c11 -pedantic-errors -Wall -Wextra -Werror "$here/$program.c" -o "$scratch/by-pkg-config" \
		$(pkg-config --cflags --libs $module)
	expect "$scratch/by-pkg-config"
	archives="-l:lib$module.a -l:libheddle.a"
	case $module in
	heddle-fmm | heddle-sparse) archives="-l:lib$module.a -l:libheddle-dense.a -l:libheddle.a" ;;
	esac
	${CC:-cc} "$here/$program.c" -o "$scratch/static" -Wl,--as-needed $archives \
		$(pkg-config --static --cflags --libs $module)
	expect "$scratch/static"
	! readelf -d "$scratch/static" | grep "NEEDED.*heddle" || { echo "it is not linked statically"; exit 1; }
done

# The header for programs written for StarPU has a folder of its own, and no static library.
[ ! -e "$prefix/include/starpu.h" ] || { echo "every program finds <starpu.h>"; exit 1; }
${CC:-cc} -Wall -Wextra -Werror "$here/outside_starpu.c" -o "$scratch/by-pkg-config" \
	$(pkg-config --cflags --libs heddle-starpu)
expect "$scratch/by-pkg-config"

# Every header is C++ too, without a warning; those of MPI are not ours.
mpi=$(pkg-config --cflags-only-I heddle-mpi 2>/dev/null | sed 's/-I/-isystem /g') || mpi=
for header in "$prefix"/include/heddle.h* "$prefix"/include/heddle/*.h "$prefix"/include/heddle/daggen/*.h; do
	echo "#include \"$header\"" |
		${CXX:-c++} -std=c++17 -fsyntax-only -pedantic-errors -Wall -Wextra -Wshadow -Werror \
		-I"$prefix/include" $mpi -x c++ -
done
for program in outside outside_lambda; do
	${CXX:-c++} -std=c++17 -pedantic-errors -Wall -Wextra -Wshadow -Werror "$here/$program.cpp" \
		-o "$scratch/in-cpp" $(pkg-config --cflags --libs heddle)
	expect "$scratch/in-cpp"
done

"$cmake" -S "$here" -B "$scratch/by-cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1 &&
	"$cmake" --build "$scratch/by-cmake" >>"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
expect "$scratch/by-cmake/outside"
expect "$scratch/by-cmake/outside_dense"
expect "$scratch/by-cmake/outside_fmm"
expect "$scratch/by-cmake/outside_daggen"
expect "$scratch/by-cmake/outside_starpu"
[ ! -e "$library/pkgconfig/heddle-sparse.pc" ] || expect "$scratch/by-cmake/outside_sparse"
[ ! -e "$library/pkgconfig/heddle-mpi.pc" ] || expect "$scratch/by-cmake/outside_mpi"
expect "$scratch/by-cmake/outside_lambda"

# Platforms lie beside the command, and beside the library for a program that is somewhere else.
cp "$prefix/share/heddle/platforms/gpu1-cpu6.yaml" "$prefix/share/heddle/platforms/moved.yaml"
"$prefix/bin/heddle" platforms show moved >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
(cd "$prefix/bin" && PATH=.:$PATH heddle platforms show moved) >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
echo '#include <heddle.h>
int main(void) { struct heddle_platform *p; return heddle_platform_load("moved", &p) != 0; }' |
	${CC:-cc} -x c - -o "$scratch/moved/loads" $(pkg-config --cflags --libs heddle)
"$scratch/moved/loads" || { echo "the library does not find the platforms of a tree that was moved"; exit 1; }

for example in "$here"/../../examples/*_plugin.c; do
	${CC:-cc} -std=c11 -Wall -Wextra -Werror -shared -fPIC "$example" -o "$scratch/plugin.so" \
		$(pkg-config --cflags --libs heddle) -lm
	"$prefix/bin/heddle" --plugin "$scratch/plugin.so" policies >"$scratch/log" 2>&1 ||
		{ cat "$scratch/log"; exit 1; }
done
# A plug-in of the parts that are installed for policies: its two policies do what prio does.
${CC:-cc} -std=c11 -Wall -Wextra -Werror -shared -fPIC "$here/outside_policy.c" \
	"$prefix/include/heddle/parts/queue.c" "$prefix/include/heddle/parts/heap.c" -o "$scratch/parts.so" \
	$(pkg-config --cflags --libs heddle)
makespan() { # makespan POLICY: ms
	"$prefix/bin/heddle" --plugin "$scratch/parts.so" sim potrf --n 2400 --tile 240 -p haswell-k40m -s "$1" --csv |
		sed -n "s/^$1,\([^,]*\),.*/\1/p"
}
wanted=$(makespan prio)
for policy in outside-levels outside-heap; do
	found=$(makespan $policy)
	[ "$found" ] && [ "$found" = "$wanted" ] || { echo "$policy takes \"$found\" ms, and prio $wanted"; exit 1; }
done
# gdb shows what a program does with the installed library, beside which it finds the commands.
if command -v gdb >/dev/null; then
	${CC:-cc} -g "$here/../gdb/stopped.c" -o "$scratch/stopped" $(pkg-config --cflags --libs heddle)
	status=0
	python3 "$here/../gdb/run.py" gdb "$library" "$scratch/stopped" >"$scratch/log" 2>&1 || status=$?
	[ $status = 0 ] || [ $status = 77 ] || { cat "$scratch/log"; exit 1; }
	mkdir "$scratch/stripped"
	strip -o "$scratch/stripped/libheddle.so.0" "$library/libheddle.so"
	LD_LIBRARY_PATH="$scratch/stripped" gdb -nx -batch -ex "source $here/../../scripts/heddle-gdb.py" \
		-ex "break stop_here" -ex run -ex "heddle tasks" "$scratch/stopped" >"$scratch/log" 2>&1 || true
	[ $status = 77 ] || grep -q "libheddle has no debug information" "$scratch/log" || {
		cat "$scratch/log"
		exit 1
	}
fi
# What a compiler without OpenMP takes its pragmas for.
openmp=-Wno-unknown-pragmas
! echo 'int main(void) { return 0; }' | ${CC:-cc} -fopenmp -x c - -o "$scratch/openmp" 2>"$scratch/log" ||
	openmp=-fopenmp
for example in "$here"/../../examples/*.c; do
	name=$(basename "$example" .c)
	case $name in *_plugin) continue ;; esac
	module=heddle
	! grep -q "#include <heddle/dense.h>" "$example" || module=heddle-dense
	! grep -q "#include <heddle/fmm.h>" "$example" || module=heddle-fmm
	! grep -q "#include <heddle/daggen/" "$example" || module=heddle-daggen
	! grep -q "#include <heddle/sparse.h>" "$example" || module=heddle-sparse
	! grep -q "#include <heddle/mpi.h>" "$example" || module=heddle-mpi
	pkg-config --exists $module || continue # sparse QR, or MPI, was left out
	flags=
	! grep -q "#pragma omp" "$example" || flags=$openmp
	${CC:-cc} -std=c11 -Wall -Wextra -Werror $flags "$example" -o "$scratch/$name" \
		$(pkg-config --cflags --libs $module) -lm
	(cd "$scratch" && "./$name") >"$scratch/log" 2>&1 || {
		cat "$scratch/log"
		echo "$name failed with the installed package"
		exit 1
	}
done

# The Python package, if the build has it, by the PYTHONPATH that the installation names; and as pip installs it from a
# clone, at its root and in python/, and from a source distribution, if pip is there: its library is then the one that
# the variable names.
python=$(sed -n 's/^HEDDLE_PYTHON_FOUND:INTERNAL=//p' "$build/CMakeCache.txt")
in_python() { # in_python PYTHONPATH ARGUMENTS: runs Python without the help of the loader's variable
	modules=$1
	shift
	(cd "$scratch" && env -u LD_LIBRARY_PATH PYTHONPATH="$modules" "$python" -B "$@")
}
if [ "$python" ]; then
	modules=$(sed -n 's/.*set PYTHONPATH=//p' "$scratch/installed")
	printed=$(in_python "$modules" "$here/../../examples/python/01_hello.py")
	[ "$printed" = "[ 7. 14. 21.]" ] || { echo "Python, with PYTHONPATH=$modules, printed \"$printed\""; exit 1; }
fi
by_pip() { # by_pip NAME WHAT: installs it with pip, and imports the result
	LIBHEDDLE="$library/libheddle.so" "$python" -B -m pip install --disable-pip-version-check --no-cache-dir \
		--no-build-isolation --no-index --no-deps --target "$scratch/$1" "$2" >"$scratch/log" 2>&1 ||
		{ cat "$scratch/log"; exit 1; }
	printed=$(in_python "$scratch/$1" -c "import heddle; print(heddle.__version__, heddle.__file__)")
	[ "$printed" = "$version $scratch/$1/heddle/__init__.py" ] ||
		{ echo "$1: pip's heddle is \"$printed\""; exit 1; }
}
if [ "$python" ] && "$python" -c "import pip, setuptools, wheel" 2>"$scratch/log"; then
	mkdir "$scratch/clone"
	(cd "$here/../.." && cp -R pyproject.toml python include CMakeLists.txt "$scratch/clone")
	by_pip from_root "$scratch/clone"
	by_pip from_its_folder "$scratch/clone/python"
	(cd "$scratch/clone/python" && "$python" -B setup.py -q sdist --dist-dir "$scratch/dist") \
		>"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
	by_pip from_source_distribution "$scratch/dist/heddle-$version.tar.gz"
elif [ "$python" ]; then
	echo "pip install is left out: $python has no pip, setuptools or wheel (Debian: python3-pip)"
fi

for example in "$here"/../../examples/cpp/*.cpp; do
	name=$(basename "$example" .cpp)
	${CXX:-c++} -std=c++17 -Wall -Wextra -Werror "$example" -o "$scratch/$name" $(pkg-config --cflags --libs heddle)
	"$scratch/$name" >"$scratch/log" 2>&1 || {
		cat "$scratch/log"
		echo "$name failed with the installed package"
		exit 1
	}
done

# Fortran, if the build has made its modules.
if command -v gfortran >/dev/null && [ -e "$prefix/include/heddle.f90" ]; then
	mkdir "$scratch/fortran"
	for example in "$here"/../../examples/fortran/*.f90; do
		(cd "$scratch/fortran" && gfortran "$prefix/include/heddle.f90" "$prefix/include/heddle_dense.f90" \
			"$example" -o program $(pkg-config --libs heddle-dense) && ./program) >"$scratch/log" 2>&1 || {
			cat "$scratch/log"
			echo "$example failed with the installed modules"
			exit 1
		}
	done
fi

# Documents are installed with everything that they link to.
python3 "$here/../../scripts/checks/links.py" "$prefix/share/doc/Heddle" >"$scratch/log" || {
	cat "$scratch/log"
	exit 1
}

for wanted in bin/heddle include/heddle.h share/heddle/platforms share/doc/Heddle/LICENSE share/man/man1/heddle.1 \
	share/doc/Heddle/examples/15_cuda_kernel.cu share/bash-completion/completions/heddle \
	share/zsh/site-functions/_heddle; do
	[ -e "$prefix/$wanted" ] || { echo "$wanted is not installed"; exit 1; }
done
"$prefix/bin/heddle" --version | grep -qF "$version" || { echo "heddle --version does not say $version"; exit 1; }

# `make uninstall` removes what was installed, and nothing else.
if command -v make >/dev/null; then
	rm -f "$prefix/share/heddle/platforms/moved.yaml"
	echo "not Heddle's" >"$library/other"
	! [ "$python" ] || "$python" -m compileall -q "$modules"
	uninstall() { env -u MAKEFLAGS -u MAKELEVEL make -s -C "$here/../.." uninstall BUILD="$scratch/$1"; }
	uninstall build >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
	left=$(cd "$prefix" && find . -type f -o -type l -o -iname "*heddle*")
	[ "$left" = "./${library#"$prefix/"}/other" ] || { echo "make uninstall leaves: $left"; exit 1; }
	! uninstall nowhere >"$scratch/log" 2>&1 || { echo "make uninstall removes what is not there"; exit 1; }
fi
