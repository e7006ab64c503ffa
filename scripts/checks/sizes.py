#!/usr/bin/env python3
"""Functions over 60 lines or 6 parameters and files over 600 lines, but for those of sizes.exceptions.

That list may only shrink: a line of it that is no longer needed is a failure too.
"""
import re

from common import code_only, files, read, report

FOLDERS = ("include", "src", "tools", "apps", "mpi", "starpu", "research", "examples", "bench", "tests")
LIMITS = {"lines": 60, "parameters": 6, "file": 600}
OPENING = re.compile(r"^[A-Za-z_][^;={}]*?\b(\w+)\s*\(([^;{}]*)\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\n?\{",
                     re.MULTILINE | re.DOTALL)


def count_parameters(text):
    depth, count = 0, 1 if text.strip() not in ("", "void") else 0
    for c in text:
        depth += (c == "(") - (c == ")")
        count += c == "," and depth == 0
    return count


def measure(path, text):
    """Yields (what, kind, figure) for the file and each function whose braces start lines."""
    yield path, "file", text.count("\n")
    code = code_only(text)
    for match in OPENING.finditer(code):
        end = code.find("\n}", match.end())
        if end < 0:
            continue
        yield f"{path}:{match.group(1)}", "lines", code.count("\n", match.end(), end) + 2
        yield f"{path}:{match.group(1)}", "parameters", count_parameters(match.group(2))


def load_exceptions():
    exceptions = {}
    for line in read("scripts/checks/sizes.exceptions").splitlines():
        line = line.split("#")[0].split()
        if line:
            exceptions[line[0], line[1]] = int(line[2])
    return exceptions


def compare(measured, exceptions):
    problems, needed = [], set()
    for what, kind, figure in measured:
        allowed = exceptions.get((what, kind), LIMITS[kind])
        if figure > LIMITS[kind]:
            needed.add((what, kind))
        if figure > allowed:
            problems.append(f"{what}: {figure} {kind if kind != 'file' else 'lines in the file'}, at most {allowed}")
    problems += [f"{what} {kind}: no longer needed in sizes.exceptions, delete the line"
                 for what, kind in sorted(set(exceptions) - needed)]
    return problems


def main():
    measured = [m for path in files(*FOLDERS) for m in measure(path, read(path))]
    report("sizes", compare(measured, load_exceptions()))


if __name__ == "__main__":
    main()
