#!/usr/bin/env python3
"""Whether calibrations can be trusted: python3 bench/calibration.py [--build-dir build] [--times 10] calibrates the
machine several times in a row. After each time a Cholesky factorisation is simulated on what was measured and run
five times, with two sizes of tiles and two policies. Prints how far each prediction is from the median of the real
runs, and counts those within 5 %. Each real median is measured twice, the second time after all others of the same
calibration: how many of the second are within 5 % of the first says what the machine itself allows. Also counts how
many predictions are as close to the first median as the calibration said that they would be. Ten times take
about five minutes on two quiet cores; with --runs-n 8192, whose runs outlast more of the machine's noise, twenty.

--steady GFLOPS hides the machine's phases: each product of matrices lasts as long as at this rate (steady_gemm.c),
which must be well below what a core does. What is then off is the fault of the calibration, or of virtual time.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import time

TILES, POLICIES, RUNS, LIMIT = (256, 384), ("lws", "dmdas"), 5, 0.05
STEADY = {}  # what the environment has more, with --steady


def heddle(command, home, *arguments):
    env = {**os.environ, **STEADY, "HOME": home, "XDG_DATA_HOME": home,
           "HEDDLE_MODEL_DIR": os.path.join(home, "models")}
    done = subprocess.run([command, *arguments], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def makespan(command, home, n, *arguments):
    what = ("cholesky", "-n", str(n), "--json", *arguments)
    if "--platform" in arguments:
        return json.loads(heddle(command, home, "sim", *what))["policies"][0]["makespan_ms"]
    return json.loads(heddle(command, home, "run", *what, "--repeat", str(RUNS), "--no-check"))["run"]["makespan_ms"]


def calibrate(options, home, platform, number):
    """Returns how far off predictions will be, as a share, as the calibration says."""
    said = heddle(options.command, home, "platform", "calibrate", "-n", str(options.n), "--tiles",
                  ",".join(map(str, TILES)), "--seconds", str(options.seconds), "-o", platform)
    for line in said.splitlines():
        if "confidence" in line or "speed" in line or line.startswith(("check:", "predictions")):
            print(f"{number}: {line}", flush=True)
    return float(re.search(r"^of 100 such runs.* within \+- ([\d.]+) %", said, re.MULTILINE)[1]) / 100


def once(options, number, started):
    """Returns how many predictions are good, how many real runs can be repeated, and how many predictions are as good
    as the calibration said."""
    good, same, held = 0, 0, 0
    with tempfile.TemporaryDirectory() as home:
        platform = os.path.join(home, "here.yaml")
        said = calibrate(options, home, platform, number)
        cases = [("-b", str(tile), "-s", policy) for tile in TILES for policy in POLICIES]
        n = options.runs_n or options.n
        real = [makespan(options.command, home, n, *what) for what in cases]
        again = [makespan(options.command, home, n, *what) for what in cases]
        for what, first, second in zip(cases, real, again):
            predicted = makespan(options.command, home, n, *what, "--platform", platform)
            off, noise = predicted / first - 1, second / first - 1
            good += abs(off) <= LIMIT
            same += abs(noise) <= LIMIT
            held += abs(off) <= said
            print(f"{number}: tile {what[1]}, {what[3]}: predicted {predicted:.1f} ms, measured {first:.1f}, "
                  f"{100 * off:+.1f} %; measured again {second:.1f}, {100 * noise:+.1f} % "
                  f"({time.time() - started:.0f} s)", flush=True)
    return good, same, held


def main():
    parser = argparse.ArgumentParser(description="Whether calibrations can be trusted.")
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--n", type=int, default=4096, help="order of the matrices that are calibrated with")
    parser.add_argument("--runs-n", type=int, help="order of those that are run and simulated (default: the same)")
    parser.add_argument("--seconds", type=int, default=15, help="how long a calibration may measure")
    parser.add_argument("--steady", type=float, metavar="GFLOPS", help="how fast products of matrices are made to be")
    options = parser.parse_args()
    if options.steady:
        STEADY["LD_PRELOAD"] = os.path.abspath(os.path.join(options.build_dir, "bench", "libsteady_gemm.so"))
        STEADY["HEDDLE_STEADY_GFLOPS"] = str(options.steady)
    options.command = os.path.abspath(os.path.join(options.build_dir, "heddle"))
    started, good, same, held = time.time(), 0, 0, 0
    for number in range(1, options.times + 1):
        more = once(options, number, started)
        good, same, held = good + more[0], same + more[1], held + more[2]
    of = options.times * len(TILES) * len(POLICIES)
    print(f"{good} of {of} predictions are within {100 * LIMIT:.0f} % of the median of {RUNS} runs; "
          f"{same} of {of} such medians are within {100 * LIMIT:.0f} % of one measured seconds before; "
          f"{held} of {of} predictions are as close as the calibration said")


if __name__ == "__main__":
    main()
