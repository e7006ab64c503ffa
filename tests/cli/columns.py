#!/usr/bin/env python3
"""Whether docs/heddle.md names every column of --json and --csv, and no other: tests/cli/columns.py PATH_TO_HEDDLE

The tables of every subcommand are printed and compared with the page: which columns each has, and, in a second table,
the unit and the meaning of each name. That one says a name once, in alphabetical order, so that it means the same
everywhere; a unit is the end of its name.
"""
import os
import re
import sys
import tempfile

from run import COMPARED, HERE, LAB, RUN, SIM, Place, fitted_model

PAGE = os.path.join(HERE, "..", "..", "docs", "heddle.md")
SET = "SET" # how the page calls the columns of `slowdown` that are named by the number of a parameter set
UNITS = {"ms": "ms", "us": "us", "s": "s", "mib": "MiB", "kib": "KiB", "percent": "%", "gflops": "Gflop/s",
         "gflop": "Gflop",
         "mflop": "Mflop", "mbs": "MB/s", "tasks_per_s": "tasks/s", "us_per_task": "us/task"}

# A run with transfers, whoever is quick: one worker only, whose memory has room for half of the matrix.
SMALL_MEMORY = ("--ncpu", "0", "--emulated", "1", "--emulated-memory", "640K")

# What gives every table of every subcommand at least one row.
SHOWN = [
    ("machine", ("machine", "--set", "n_emulated=1"), {}),
    ("platforms", ("platforms",), {}),
    ("platforms NAME", ("platforms", "haswell-k40m"), {}),
    ("platforms NAME", ("platforms", "gpu1-cpu6"), {}),
    ("platforms show", ("platforms", "show", "gpu1-cpu6"), {}),
    ("policies", ("policies",), {}),
    ("policies NAME", ("policies", "dmda"), {}),
    ("config", ("config",), {"HEDDLE_SHCED": "dm"}),
    ("run", (*RUN, "--explain", *SMALL_MEMORY, "--sched", "eager"), {}),
    ("sim", (*SIM, "--explain", "--sched", "eager", "--trace", "t.trace"), {}),
    ("sim", (*SIM, "--sched", "eager", "--clusters", "auto"), {}),
    ("graph", ("graph", "random:n=20", "--platform", "gpu1-cpu6"), {}),
    ("sparse", ("sparse", "info", "TF8"), {}),
    ("tune", ("tune", "potrf", "--n", "4800", "--platform", "gpu1-cpu6", "--scheds", "dmdas"), {}),
    ("tune", ("tune", "--here", "potrf", "--n", "128"), {}),
    ("tune", ("tune", "fmm", "--particles", "2000", "--platform", "gpu1-cpu6", "--scheds", "dmdas"), {}),
    ("bound", ("bound", "random:n=9", "--platform", "gpu1-cpu6"), {}),
    ("compare", ("compare", "--graphs", COMPARED, "--platforms", "haswell-k40m", "--scheds", "eager"), {}),
    ("suite", ("suite", "cells.txt", "--scheds", "eager"), {}),
    ("models", ("models",), {}),
    ("models", ("models", "--dir", "fitted"), {}),
    ("models show", ("models", "show", "dgemm"), {}),
    ("models show", ("models", "show", "ours", "--dir", "fitted"), {}),
    ("trace", ("trace", "t.trace"), {}),
    ("lab", LAB, {}),
    ("repro --list", ("repro", "--list"), {}),
    ("repro", ("repro", "mp-gain", "mp-nod"), {}),
]


def unit_of(name):
    ends = [end for end in UNITS if name == end or name.endswith("_" + end)]
    return UNITS[max(ends, key=len)] if ends else ""


def columns_of(rows):
    names = list((rows[0] if isinstance(rows, list) else rows).keys())
    return tuple(dict.fromkeys(SET if name.isdigit() else name for name in names))


def real_tables(p):
    """{(table, columns): [subcommand]}, in the order of SHOWN."""
    found, empty = {}, set()
    fitted_model(p)
    with open(p.path("cells.txt"), "w", encoding="utf-8") as f:
        f.write("reference eager\nsmall gpu1-cpu6 random:n=20\n")
    for command, arguments, variables in SHOWN:
        for table, rows in p.json(*arguments, **variables).items():
            if not rows:
                empty.add((command, table))
                continue
            commands = found.setdefault((table, columns_of(rows)), [])
            if command not in commands:
                commands.append(command)
    filled = {(command, table) for (table, _), commands in found.items() for command in commands}
    # these are of `platforms NAME` as well
    never = empty - filled - {("machine", "buses"), ("machine", "kernels"), ("machine", "speedups")}
    assert not never, f"nothing here fills these tables: {never}"
    return found


def main():
    with open(PAGE, encoding="utf-8") as f:
        section = re.search(r"^## Columns\n(.*?)(?=^## |\Z)", f.read(), re.MULTILINE | re.DOTALL).group(1)
    with tempfile.TemporaryDirectory() as directory:
        tables = real_tables(Place(os.path.abspath(sys.argv[1]), directory))
    problems, expected = [], []
    for (table, columns), commands in tables.items():
        quoted = [", ".join(f"`{word}`" for word in words) for words in (commands, [table], columns)]
        expected.append("| " + " | ".join(quoted) + " |")
    written = re.findall(r"^\| `.*` \| `\w+` \| `.*` \|$", section, re.MULTILINE)
    problems += [f"is not there: {row}" for row in expected if row not in written]
    problems += [f"is not so: {row}" for row in written if row not in expected]
    meanings = re.findall(r"^\| `(\w+)` \| ([^|`]*?) ?\| ([^|]+) \|$", section, re.MULTILINE)
    names = {name for _, columns in tables for name in columns}
    said = [name for name, _, _ in meanings]
    problems += [f"column {name} has no meaning" for name in sorted(names - set(said))]
    problems += [f"column {name} is in no table" for name in said if name not in names]
    problems += [f"column {name} has two meanings" for name in set(said) if said.count(name) > 1]
    problems += [f"column {name}: its unit is {unit_of(name) or 'none'}" for name, unit, _ in meanings
                 if unit != unit_of(name)]
    problems += [f"column {after} comes before {before}, after which it belongs: the order is alphabetical"
                 for before, after in zip(said[1:], said) if before.casefold() < after.casefold()]
    for problem in problems:
        print(f"docs/heddle.md, Columns: {problem}")
    print(f"{len(expected)} tables, {len(names)} columns, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: columns.py PATH_TO_HEDDLE")
    main()
