#!/usr/bin/env python3
"""Counts the instructions of a task in C and in C++: python3 bench/instructions.py build/bench/heddle_lambda
[--most 1.2]. Prints rows of the benches, with the ratios; --most: fails if one of these is larger. Valgrind's callgrind
counts, on one worker, from the first submission to the end of the wait; nothing of the start or the end of the runtime.
Status 77, by which a test says that it is left out, where there is no valgrind.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

TASKS = 50000  # n_tasks of lambda.cpp


def count(program, way):
    """Instructions per task."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           f"--toggle-collect=bench::{way}()", program, "1", way], text=True, capture_output=True,
                          check=False, env=os.environ | {"HEDDLE_CUDA": "0", "HEDDLE_OPENCL": "0"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found or int(found[1]) == 0:
        sys.exit(f"instructions: {program} 1 {way} cannot be counted: {done.stderr}")
    return int(found[1]) / TASKS


def main():
    parser = argparse.ArgumentParser(description="Counts the instructions of a task in C and in C++.")
    parser.add_argument("program", help="heddle_lambda")
    parser.add_argument("--most", type=float, help="the largest ratio that is allowed")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: no valgrind, nothing is counted", file=sys.stderr)
        return 77
    worst = 0
    for name in ("empty", "access"):
        c, cpp = (count(options.program, f"{name}_{language}") for language in ("c", "cpp"))
        worst = max(worst, cpp / c)
        print(f"{name}_c,1,instructions/task,{c:.0f}\n{name}_cpp,1,instructions/task,{cpp:.0f}\n"
              f"{name},1,instructions ratio,{cpp / c:.3f}", flush=True)
    if options.most and worst > options.most:
        print(f"instructions: a task in C++ takes {worst:.3f} times those of one in C, at most {options.most:g} are "
              "allowed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
