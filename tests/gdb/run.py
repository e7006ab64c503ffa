#!/usr/bin/env python3
"""Whether gdb shows tasks, workers and data as they are: tests/gdb/run.py GDB HELPERS PROGRAM

PROGRAM is tests/gdb/stopped.c. HELPERS are scripts/heddle-gdb.py, or the folder of an installed libheddle.so, from
which gdb loads them by itself. Ends with 77 where gdb may not trace a program.
"""
import os
import re
import subprocess
import sys

EXPECTED = (
    r"^3 unfinished tasks$", r"^  first \(writer, task 0\) +running on cpu0$", r"^      W        x \(8 bytes\)$",
    r"^  reader \(task 1\) +waiting for 1 data or tasks$", r"^  reader \(task 2\) +waiting .*, priority 1$",
    r"^  cpu0 +runs first \(writer, task 0\)$",
    r"^  x +8 bytes, valid on (?:nowhere|ram); 1 have it, 2 wait$", r"^  spare +1 of 8 bytes, valid on ram; 0 have it",
    r"^  copy on ram +0x[0-9a-f]+: .*the program's buffer", r"^  first \(writer, task 0\) has it \(running\)$",
    r"^  reader \(task 1\) waits for it, R$", r"^  reader \(task 2\) waits for it, R$",
)


def main():
    gdb, helpers, program = sys.argv[1:]
    load = f"add-auto-load-safe-path {helpers}" if os.path.isdir(helpers) else f"source {helpers}"
    commands = ["set breakpoint pending on", load, "break stop_here", "run", "heddle tasks rt",
                "heddle workers rt", "heddle data rt", "heddle datum x", "heddle tasks", "heddle nonsense"]
    done = subprocess.run([gdb, "-nx", "-batch", "-ex", "set confirm off"] +
                          [word for command in commands for word in ("-ex", command)] + [program],
                          capture_output=True, text=True, timeout=200, check=False)
    said = done.stdout + done.stderr
    if re.search(r"ptrace: |Cannot create process|not permitted|No Python", said):
        print(said)
        sys.exit(77)
    missing = [pattern for pattern in EXPECTED if not re.search(pattern, said, re.MULTILINE)]
    if len(re.findall("^3 unfinished tasks$", said, re.MULTILINE)) != 2: # with and without an argument
        missing.append("the runtime found without an argument")
    if "tasks|workers|data|datum" not in said:
        missing.append("the answer to nonsense")
    if missing:
        sys.exit(f"gdb did not show {missing}:\n{said}")


main()
