#!/usr/bin/env python3
"""A folder that is configured again keeps what was generated of the Python package, which not every target makes anew;
links to files that are no sources any more go.

    reconfigure.py CMAKE PYTHON

A project that has the package alone, so that nothing else is configured; PYTHON has cffi and numpy.
"""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PROJECT = f"""cmake_minimum_required(VERSION 3.20)
project(Heddle VERSION 0.1.0 LANGUAGES NONE)
set(CMAKE_INSTALL_FULL_LIBDIR "${{CMAKE_INSTALL_PREFIX}}/lib")
add_custom_target(heddle)
add_custom_target(heddle_fmm_shared)
include("{ROOT}/cmake/HeddlePython.cmake")
"""


def main():
    cmake, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as source:
        for folder in "python", "include", "apps":
            os.symlink(os.path.join(ROOT, folder), os.path.join(source, folder))
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as f:
            f.write(PROJECT)
        build = os.path.join(source, "build")
        package = os.path.join(build, "python", "heddle")

        def call(*arguments):
            subprocess.run([cmake, *arguments], check=True, stdout=subprocess.DEVNULL)

        call("-S", source, "-B", build, "-G", "Ninja", f"-DHEDDLE_PYTHON={python}")
        call("--build", build, "--target", "heddle_python")
        before = sorted(os.listdir(package))
        generated = os.stat(os.path.join(package, "_ffi.py"))
        os.symlink(os.path.join(ROOT, "python", "gone.py"), os.path.join(package, "gone.py"))
        call(build)
        after = sorted(os.listdir(package))
        assert after == before and {"_ffi.py", "_location.py", "__init__.py"} <= set(after), (before, after)
        again = os.stat(os.path.join(package, "_ffi.py"))
        assert (again.st_ino, again.st_mtime_ns) == (generated.st_ino, generated.st_mtime_ns), "_ffi.py was made anew"


if __name__ == "__main__":
    main()
