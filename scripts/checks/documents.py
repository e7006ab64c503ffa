#!/usr/bin/env python3
"""What documents promise exists: C programs in them compile, links lead somewhere, and README lists each document once,
in one of its groups. Pictures are shown by some document, made by scripts/pictures.py, and small.

names.py looks for the files and functions that they name.

A ```c block with a main() is a program; others are fragments and are not compiled. A block after a line `<!-- same as
FILE -->` is compared with that file. Indented lines of C++, in docs/cpp.md, compile with the names of CPP_GIVEN; those
of docs/python.md are run by python/tests/test_documents.py.
"""
import os
import re
import shutil
import subprocess
import textwrap

from common import ROOT, files, read, report
from links import broken_links

BLOCK = re.compile(r"^```c\n(.*?)^```", re.MULTILINE | re.DOTALL)
PUBLIC = ("include", "apps/dense/include", "apps/sparse/include", "apps/fmm/include", "mpi/include",
          "starpu/include", "research/daggen/include")
MAX_PICTURES = 600_000
QUOTED = re.compile(r"^<!-- same as (\S+) -->\n+```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


CPP_LINES = re.compile(r"(?:^    .*\bheddle::.*\n(?:    .*\n)*)+", re.MULTILINE)
CPP_GIVEN = """#include <heddle.hpp>
#include <vector>
void given(heddle::runtime &rt, std::vector<double> &vector, double &value, double *pointer, std::size_t rows,
           std::size_t columns, std::size_t ld)
{
%s}
"""


def compile_sample(sample, compiler=os.environ.get("CC", "cc"), language=("-std=gnu11", "-x", "c")):
    command = [compiler, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused",
               *(f"-I{os.path.join(ROOT, folder)}" for folder in PUBLIC), *language, "-"]
    done = subprocess.run(command, input=sample, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def cpp_problems(path):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    blocks = list(CPP_LINES.finditer(read(path)))
    if not blocks:
        yield f"{path}: no lines of C++ were found"
    for block in blocks if compiler else []:
        said = compile_sample(CPP_GIVEN % textwrap.dedent(block.group(0)), compiler, ("-std=c++17", "-x", "c++"))
        if said:
            line = read(path).count("\n", 0, block.start()) + 1
            yield f"{path}:{line}: the lines do not compile:\n{said}"


def picture_problems(documents):
    shown = "".join(read(path) for path in ["README.md"] + documents)
    made, size = read("scripts/pictures.py"), 0
    for path in files("docs/pictures", suffixes=(".png",)):
        name = os.path.splitext(os.path.basename(path))[0]
        size += os.path.getsize(os.path.join(ROOT, path))
        if f"pictures/{name}.png)" not in shown:
            yield f"{path}: no document shows it"
        if f'"{name}": [' not in made:
            yield f"{path}: scripts/pictures.py does not make it"
    if size > MAX_PICTURES:
        yield f"docs/pictures: {size} bytes together, more than {MAX_PICTURES}"


def group_problems(readme, documents):
    """Each document stands once in the section Documents of README, in a group: below a heading of its own."""
    section = re.search(r"^## Documents\n.*?^### (.*?)^## ", readme, re.MULTILINE | re.DOTALL)
    rows = [row for row in section.group(1).splitlines() if row.startswith("| [")] if section else []
    for path in documents:
        found = sum(f"]({path})" in row for row in rows)
        if found != 1:
            yield f"README.md: its groups of documents have {found} rows for {path}, not one"


def main():
    problems = []
    documents = files("docs", suffixes=(".md",))
    problems += group_problems(read("README.md"), documents + ["CONTRIBUTING.md", "bench/RESULTS.md"])
    problems += picture_problems(documents)
    problems += cpp_problems("docs/cpp.md")
    for path in ["README.md", "CONTRIBUTING.md"] + documents:
        text = read(path)
        for block in BLOCK.finditer(text):
            if re.search(r"\bmain\s*\(", block.group(1)):
                said = compile_sample(block.group(1))
                if said:
                    line = text.count("\n", 0, block.start()) + 1
                    problems.append(f"{path}:{line}: the program does not compile:\n{said}")
        for name, quoted in QUOTED.findall(text):
            if not os.path.exists(os.path.join(ROOT, name)) or read(name) != quoted:
                problems.append(f"{path}: what it quotes of {name} is not what is there")
        problems += [f"{path}: {problem}" for problem in broken_links(os.path.join(ROOT, path))]
    report("documents", problems)


main()
