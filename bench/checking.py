#!/usr/bin/env python3
"""What the checking mode costs: checking.py [--repeat N] PROGRAM ARGUMENT...

Runs a program of this folder without the mode and with it (HEDDLE_CHECK=1), in turn, and prints for each of its rows
the medians and how many times as much it is with the mode: "case,workers,unit,without,with,ratio".
"""
import argparse
import os
import statistics
import subprocess
import sys


def run(command, check):
    """The values of the program's rows, by their case, workers and unit."""
    environment = {**os.environ, "HEDDLE_CHECK": str(check)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with status {done.returncode}")
    rows = (line.rsplit(",", 1) for line in done.stdout.splitlines())
    return {key: float(value) for key, value in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="how often, of which the median is taken")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM ARGUMENT...")
    options = parser.parse_args()
    if not options.command or options.repeat < 1:
        parser.error("a program is needed, and at least one run")
    runs = [[run(options.command, check) for check in (0, 1)] for _ in range(options.repeat)]
    print("case,workers,unit,without,with,ratio")
    for key in runs[0][0]:
        without, checked = (statistics.median(pair[check][key] for pair in runs) for check in (0, 1))
        print(f"{key},{without:.6g},{checked:.6g},{checked / without:.3g}" if without else f"{key},0,{checked:.6g},")


if __name__ == "__main__":
    main()
