#!/usr/bin/env python3
"""Virtual against real time on the same machine: bench/virtual_real.py PLATFORM [ROUTINE[:NAME=VALUE,...] ...]

PLATFORM is a file that `heddle platform calibrate -o FILE` has written on this machine. Each routine runs for real (the
median of some repetitions) and in virtual time, under each policy, and the ratio virtual / real is printed, and written
as a row of bench.csv's columns to --csv. --real has options of `heddle run` alone, such as "--cuda 1 --ncpu 0".

In virtual time all data begin in main memory. For real they begin where the tasks that fill the matrices ran, which may
be a device: then the first copies are missing in the real time.
"""
import argparse
import csv
import io
import os
import subprocess
import sys

COLUMNS = ["bench", "case", "workers", "unit", "ours", "peer", "peer_value", "ratio"]


def rows(heddle, *arguments):
    """The rows of the first table that the command prints."""
    done = subprocess.run([heddle, *arguments, "--csv"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heddle {' '.join(arguments)}: {done.stderr or done.stdout}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform")
    parser.add_argument("routines", nargs="*", default=["potrf:n=8192,tile=512"])
    parser.add_argument("--heddle", default=os.path.join(os.path.dirname(__file__), "..", "build", "heddle"))
    parser.add_argument("--sched", default="dmdas", help="policies, separated by commas")
    parser.add_argument("--repeat", default="5", help="real runs of each, of which the median counts")
    parser.add_argument("--real", default="", help="more options of `heddle run`")
    parser.add_argument("--csv", help="append the rows to this file")
    o = parser.parse_args()
    heddle, platform = os.path.abspath(o.heddle), os.path.abspath(o.platform)
    found = []
    for routine in o.routines:
        for policy in o.sched.split(","):
            real = rows(heddle, "run", routine, "--sched", policy, "--repeat", o.repeat, "--no-check", "--no-trace",
                        *o.real.split())[0]
            virtual = rows(heddle, "sim", routine, "--sched", policy, "--platform", platform)[0]
            ours, peer = float(virtual["makespan_ms"]), float(real["makespan_ms"])
            found.append(["virtual-real", f"{routine} {policy}", "", "ms", f"{ours:.6g}", "real", f"{peer:.6g}",
                          f"{ours / peer:.3f}"])
            print(f"{routine} {policy}: virtual {ours:.3f} ms, real {peer:.3f} ms, virtual / real {ours / peer:.3f}",
                  flush=True)
    if o.csv:
        is_new = not os.path.exists(o.csv)
        with open(o.csv, "a", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows(([COLUMNS] if is_new else []) + found)


if __name__ == "__main__":
    main()
