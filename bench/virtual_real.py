#!/usr/bin/env python3
"""Virtual against real time on the same machine: bench/virtual_real.py PLATFORM [ROUTINE[:NAME=VALUE,...] ...]

PLATFORM is a file that `heddle platform calibrate -o FILE` has written on this machine. Each routine runs for real (the
median of some repetitions) and in virtual time, under each policy. The ratio virtual / real is printed, with whether it
is as near to 1 as is asked, and written as a row of bench.csv's columns to --csv. A routine on tiles that were not
calibrated is left out: its times would be guessed from those of others. --real has options of `heddle run` alone, such
as "--cuda 1 --ncpu 0".

Both begin with all data in main memory, and devices have as many streams as the platform says.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys

COLUMNS = ["bench", "case", "workers", "unit", "ours", "peer", "peer_value", "ratio"]


class Failed(Exception):
    pass


def call(heddle, *arguments):
    done = subprocess.run([heddle, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"heddle {' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def makespan(heddle, *arguments):
    """In ms, of the first row of the first table that the command prints."""
    return float(next(csv.DictReader(io.StringIO(call(heddle, *arguments, "--csv"))))["makespan_ms"])


def streams_of(heddle, platform):
    """The option for as many streams as the devices of the platform have."""
    most = max(c["streams"] for c in json.loads(call(heddle, "platforms", platform, "--json"))["classes"])
    return ("--streams", str(most)) if most > 1 else ()


def is_calibrated(heddle, platform, routine):
    """Whether the platform has times of kernels on one tile of the routine's order, in its precision."""
    problem = json.loads(call(heddle, "sim", routine, "--platform", platform, "--json"))["problem"]
    letter, size = {"single": ("s", 4), "double": ("d", 8), "complex single": ("c", 8),
                    "complex double": ("z", 16)}[problem["precision"]]
    with open(platform, encoding="utf-8") as f:
        kernels = f.read().split("- codelet: ")
    wanted = f"bytes: {problem['tile'] ** 2 * size},"
    return any(k.startswith(letter) and wanted in k for k in kernels)


def write(path, row):
    """Appends a row at once: what comes later may fail."""
    is_new = not os.path.exists(path)
    with open(path, "a", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows(([COLUMNS] if is_new else []) + [row])


def compare(o, routine, policy, options):
    """The sentence on one routine under one policy, after its row is written."""
    what = (routine, "--sched", policy)
    virtual = makespan(o.heddle, "sim", *what, "--platform", o.platform)
    real = makespan(o.heddle, "run", *what, "--data", "ram", "--repeat", o.repeat, "--no-check", "--no-trace", *options)
    if o.csv:
        write(o.csv, ["virtual-real", f"{routine} {policy}", "", "ms", f"{virtual:.6g}", "real", f"{real:.6g}",
                      f"{virtual / real:.3f}"])
    verdict = "met" if abs(virtual / real - 1) <= o.within / 100 else "MISSED"
    return (f"virtual {virtual:.3f} ms, real {real:.3f} ms, virtual / real {virtual / real:.3f}; "
            f"asked within {o.within:g} %: {verdict}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform")
    parser.add_argument("routines", nargs="*", default=["potrf:n=8192,tile=512"])
    parser.add_argument("--heddle", default=os.path.join(os.path.dirname(__file__), "..", "build", "heddle"))
    parser.add_argument("--sched", default="dmdas,multiprio,autoheteroprio,dada",
                        help="policies, separated by commas (default: %(default)s)")
    parser.add_argument("--repeat", default="5", help="real runs of each, of which the median counts")
    parser.add_argument("--within", type=float, default=10, help="what is asked, in percent of real time")
    parser.add_argument("--real", default="", help="more options of `heddle run`")
    parser.add_argument("--csv", help="append the rows to this file")
    o = parser.parse_args()
    o.heddle, o.platform = os.path.abspath(o.heddle), os.path.abspath(o.platform)
    try:
        options = [*streams_of(o.heddle, o.platform), *o.real.split()]
        for routine in o.routines:
            if not is_calibrated(o.heddle, o.platform, routine):
                print(f"{routine}: left out, because its tiles were not calibrated", flush=True)
                continue
            for policy in o.sched.split(","):
                print(f"{routine} {policy}: {compare(o, routine, policy, options)}", flush=True)
    except Failed as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
