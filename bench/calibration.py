#!/usr/bin/env python3
"""Whether calibrations can be trusted: python3 bench/calibration.py [--build-dir build] [--times 10] calibrates the
machine several times in a row. After each time a Cholesky factorisation is simulated on what was measured and run
five times, with two sizes of tiles and two policies. Prints how far each prediction is from the median of the real
runs, and counts those within 5 %. Ten times take less than six minutes on two quiet cores.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

TILES, POLICIES, RUNS, LIMIT = (256, 384), ("lws", "dmdas"), 5, 0.05


def heddle(command, home, *arguments):
    env = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "HEDDLE_MODEL_DIR": os.path.join(home, "models")}
    done = subprocess.run([command, *arguments], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def makespan(command, home, n, *arguments):
    what = ("cholesky", "-n", str(n), "--json", *arguments)
    if "--platform" in arguments:
        return json.loads(heddle(command, home, "sim", *what))["policies"][0]["makespan_ms"]
    return json.loads(heddle(command, home, "run", *what, "--repeat", str(RUNS), "--no-check"))["run"]["makespan_ms"]


def once(options, number, started):
    good = 0
    with tempfile.TemporaryDirectory() as home:
        platform = os.path.join(home, "here.yaml")
        said = heddle(options.command, home, "platform", "calibrate", "-n", str(options.n), "--tiles",
                      ",".join(map(str, TILES)), "--seconds", str(options.seconds), "-o", platform)
        for line in said.splitlines():
            if "confidence" in line or line.startswith("check:"):
                print(f"{number}: {line}", flush=True)
        for tile in TILES:
            for policy in POLICIES:
                what = ("-b", str(tile), "-s", policy)
                real = makespan(options.command, home, options.n, *what)
                predicted = makespan(options.command, home, options.n, *what, "--platform", platform)
                off = predicted / real - 1
                good += abs(off) <= LIMIT
                print(f"{number}: tile {tile}, {policy}: predicted {predicted:.1f} ms, measured {real:.1f}, "
                      f"{100 * off:+.1f} % ({time.time() - started:.0f} s)", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description="Whether calibrations can be trusted.")
    parser.add_argument("--build-dir", default="build")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--n", type=int, default=4096, help="order of the matrix")
    parser.add_argument("--seconds", type=int, default=15, help="how long a calibration may measure")
    options = parser.parse_args()
    options.command = os.path.abspath(os.path.join(options.build_dir, "heddle"))
    started, good = time.time(), 0
    for number in range(1, options.times + 1):
        good += once(options, number, started)
    of = options.times * len(TILES) * len(POLICIES)
    print(f"{good} of {of} predictions are within {100 * LIMIT:.0f} % of the median of {RUNS} runs")


if __name__ == "__main__":
    main()
