#!/usr/bin/env python3
"""Each public header compiles alone, as C11, C17 and C++17, without any warning; so do the internal ones, as gnu11.

As C++ also with clang++, if it is there, and without casts of C, about which projects have their compilers warn."""
import os
import shutil
import shutil
import subprocess

from common import ROOT, files, report

STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
C_COMPILER = os.environ.get("CC", "cc")
CXX_COMPILER = os.environ.get("CXX", "c++")
LANGUAGES = [
    [C_COMPILER, "-std=c11", "-pedantic-errors", "-x", "c"],
    [C_COMPILER, "-std=c17", "-pedantic-errors", "-x", "c"],
    [CXX_COMPILER, "-std=c++17", "-pedantic-errors", "-Wold-style-cast", "-x", "c++"],
]
if shutil.which("clang++"):  # which looks into macros, too
    LANGUAGES.append(["clang++", *LANGUAGES[-1][1:]])
# Twice: a missing include guard is an error too.
USE = '#include "{0}"\n#include "{0}"\nint heddle_header_check;\n'


def compile_alone(header, language, folders):
    command = language + STRICT + [f"-I{os.path.join(ROOT, f)}" for f in folders] + ["-"]
    done = subprocess.run(command, input=USE.format(header), capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [f"{header} ({' '.join(language)}):\n{done.stderr.strip()}"]


def mpi_folders():
    """Where mpi.h is; nothing where MPI is not."""
    if not shutil.which("mpicc"):
        return []
    done = subprocess.run(["mpicc", "-show"], capture_output=True, text=True, check=False)
    return [word[2:] for word in done.stdout.split() if word.startswith("-I")]


def main():
    problems = []
    for folder in ("include", "apps/dense/include", "apps/sparse/include", "apps/fmm/include",
                   "research/daggen/include", "starpu/include"):
        for path in files(folder):
            for language in LANGUAGES:
                problems += compile_alone(os.path.relpath(path, folder), language,
                                          {"include", "apps/dense/include", folder})
        for path in files(folder, suffixes=(".hpp",)):
            for language in LANGUAGES[2:]:
                problems += compile_alone(os.path.relpath(path, folder), language, {"include", folder})
    mpi = mpi_folders()
    for path in files("mpi/include") if mpi else ():
        for language in LANGUAGES:
            problems += compile_alone(os.path.relpath(path, "mpi/include"),
                                      [*language, *(f"-isystem{folder}" for folder in mpi)], ["include", "mpi/include"])
    clp = subprocess.run(["pkg-config", "--cflags", "clp"], capture_output=True, text=True, check=True).stdout.split()
    for path in files("src"):
        if path.endswith(".h"):
            problems += compile_alone(os.path.relpath(path, "src"), [C_COMPILER, "-std=gnu11", "-x", "c", *clp],
                                      ["include", "src"])
    report("headers", problems)


main()
