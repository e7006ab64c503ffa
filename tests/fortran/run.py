#!/usr/bin/env python3
"""The Fortran modules say what the headers say: tests/fortran/run.py MODULES FORTRAN CC INCLUDE... LIBRARY

A program in Fortran writes the size of each structure and the place of its last component, one in C that of the same
structures; C's compiler compares the constants. All functions of LIBRARY, libheddle-dense.so, are there.
"""
import os
import re
import subprocess
import sys
import tempfile

MODULES, FORTRAN, CC, *INCLUDE, LIBRARY = (os.path.abspath(word) if os.path.exists(word) else word
                                           for word in sys.argv[1:])
NAMES = ("heddle", "heddle_dense")


def run(*command, **keywords):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def in_fortran(structures):
    uses = "".join(f"use {name}\n" for name in NAMES)
    variables = "".join(f"type({name}), target :: v{i}\n" for i, (name, _) in enumerate(structures))
    prints = "".join(f'print "(a, 2(1x, i0))", "{name}", c_sizeof(v{i}), '
                     f'place(c_loc(v{i}%{last})) - place(c_loc(v{i}))\n'
                     for i, (name, last) in enumerate(structures))
    return (f"program sizes\nuse, intrinsic :: iso_c_binding\n{uses}implicit none\n{variables}{prints}contains\n"
            "integer(c_intptr_t) function place(p)\ntype(c_ptr), intent(in) :: p\nplace = transfer(p, place)\n"
            "end function\nend program\n")


def in_c(structures, constants, typedefs):
    asserts = "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in constants)
    prints = "".join(f'printf("%s %zu %zu\\n", "{name}", sizeof({kind}), offsetof({kind}, {last.partition("(")[0]}));\n'
                     for name, last in structures for kind in [name if name in typedefs else f"struct {name}"])
    return ("#include <heddle.h>\n#include <heddle/dense.h>\n#include <stddef.h>\n#include <stdio.h>\n"
            f"{asserts}int main(void) {{\n{prints}return 0;\n}}\n")


def main():
    text = "".join(open(os.path.join(MODULES, f"{name}.f90"), encoding="utf-8").read() for name in NAMES)
    structures = [(name, re.findall(r":: (\w+)", body)[-1])
                  for name, body in re.findall(r"type, bind\(c\) :: (\w+)\n(.*?)end type", text, re.DOTALL)]
    constants = [(name.replace("HEDDLE_MODE_", "HEDDLE_"), value)
                 for name, value in re.findall(r"parameter :: (\w+) = (-?\d+)", text)]
    assert len(structures) > 15 and len(constants) > 70, (structures, constants)
    with tempfile.TemporaryDirectory() as scratch:
        files = {"sizes.f90": in_fortran(structures), "sizes.c": in_c(structures, constants, ("heddle_dense_scalar",))}
        for name, program in files.items():
            with open(os.path.join(scratch, name), "w", encoding="ascii") as f:
                f.write(program)
        sources = [os.path.join(MODULES, f"{name}.f90") for name in NAMES]
        run(FORTRAN, "-std=f2018", "-Wall", "-Werror", "-c", *sources, cwd=scratch)
        run(FORTRAN, "sizes.f90", "-o", "fortran", cwd=scratch)
        run(CC, "sizes.c", "-o", "c", *(f"-I{folder}" for folder in INCLUDE), cwd=scratch)
        fortran, c = run(os.path.join(scratch, "fortran")).split("\n"), run(os.path.join(scratch, "c")).split("\n")
    if fortran != c:
        sys.exit("\n".join(f"Fortran: {a}; C: {b}" for a, b in zip(fortran, c) if a != b))
    exported = re.findall(r" T (heddle_\w+)", run("nm", "-D", "--defined-only", LIBRARY))
    missing = [name for name in exported if not re.search(rf"(function|subroutine) {name}\(", text)]
    if missing or len(exported) < 50:
        sys.exit(f"functions that the modules lack, of {len(exported)}: {missing}")


main()
