#!/usr/bin/env python3
"""Measures Heddle beside its peers, interleaved in one run, and prints medians: `make bench`.

Rows go to bench.csv: bench,case,workers,unit,ours,peer,peer_value,ratio, where ratio = ours / peer_value: below 1 is
better for costs, above 1 for rates. Of every family the variant (policy, allocator, tile ...) that is quickest here is
quoted. All single measurements go to bench-all.csv in the build folder. plan.py says what is measured.
"""
import argparse
import csv
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import plan as plans
import scale

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ["bench", "case", "workers", "unit", "ours", "peer", "peer_value", "ratio"]
KEEP = 3          # variants of a family that run again after the first round
KEEP_SCOUTED = 6  # that are tried at all where another group has scouted
LIMIT_S = 90      # a program that takes longer hangs


def is_rate(unit):
    """More is better."""
    return unit.endswith("/s") or unit == "efficiency"


class Progress:
    """One line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.last = 0.0

    def show(self, text):
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print("\r" + text[:width].ljust(width), end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.last > 10:
            print(text, file=sys.stderr, flush=True)
            self.last = time.monotonic()

    def end(self):
        if self.terminal:
            print("\r" + " " * (shutil.get_terminal_size().columns - 1), end="\r", file=sys.stderr, flush=True)


def read_processors():
    """Idle and total ticks of all processors so far."""
    with open("/proc/stat", encoding="ascii") as f:
        ticks = [int(word) for word in f.readline().split()[1:]]
    return ticks[3], sum(ticks)


def wait_for_calm(limit_s):
    """Until others leave the processors idle, or for `limit_s` seconds."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit_s:
        idle, total = read_processors()
        time.sleep(0.3)
        idle_then, total_then = read_processors()
        if idle_then - idle > 0.95 * (total_then - total):
            return


class Bench:
    """Runs one bench and keeps its measurements."""

    def __init__(self, name, folder, environment, calm_s):
        self.name, self.folder, self.environment, self.calm_s = name, folder, environment, calm_s
        self.progress = Progress()
        self.values = {}  # (case, unit) -> family -> variant -> [values]
        self.workers = {}  # case -> workers
        self.first = {}   # (group, family) -> [(cost, variant)], of the first round
        self.raw, self.failed = [], set()

    def start(self, run):
        """Runs one program. Returns what it printed, and why it failed or ""."""
        wait_for_calm(self.calm_s)
        try:
            done = subprocess.run([os.path.join(self.folder, run.program)] + [str(a) for a in run.args], text=True,
                                  env=self.environment | run.env, capture_output=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return "", f"not done after {LIMIT_S} s"
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        return done.stdout, said[-1] if done.returncode else ""

    def execute(self, run, round_number):
        """Runs one program, twice if it fails; keeps its rows. Returns its first figure, as a cost, or None."""
        out, said = self.start(run)
        if said:
            out, said = self.start(run)
        if said:
            self.progress.end()
            print(f"{self.name}: {run.program} {' '.join(map(str, run.args))} ({run.variant}): {said}", file=sys.stderr)
            self.failed.add(id(run))
            return None
        first = None
        for line in (run.rows(out) if run.rows else out).splitlines():
            case, workers, unit, value = line.split(",")
            first = first if first is not None else float(value) * (-1 if is_rate(unit) else 1)
            if run.units and unit not in run.units:
                continue
            case += run.suffix
            self.workers.setdefault(case, workers)
            self.values.setdefault((case, unit), {}).setdefault(run.family, {}).setdefault(run.variant,
                                                                                           []).append(float(value))
            self.raw.append([self.name, case, workers, unit, run.family, run.variant, round_number, value])
        return first

    def goes_on(self, run, round_number):
        if id(run) in self.failed:
            return False
        if round_number == 0:
            scouted = sorted(self.first.get((run.scout, run.family), []))
            return not scouted or run.variant in [v for _, v in scouted[:KEEP_SCOUTED]]
        return run.variant in [v for _, v in sorted(self.first.get((run.group, run.family), []))[:KEEP]]

    def measure(self, runs, rounds):
        start = time.monotonic()
        for number in range(rounds):
            chosen = [r for r in runs if number == 0 or self.goes_on(r, number)]
            for i, run in enumerate(chosen):
                if number == 0 and not self.goes_on(run, 0):
                    continue
                self.progress.show(f"{self.name}: round {number + 1}/{rounds}, {i + 1}/{len(chosen)}, "
                                   f"{time.monotonic() - start:.0f} s: {run.group}, {run.family} {run.variant}")
                cost = self.execute(run, number)
                if number == 0 and cost is not None:
                    self.first.setdefault((run.group, run.family), []).append((cost, run.variant))
        self.progress.end()

    def best(self, case, unit):
        """family -> (median, variant, spread) of its best variant among those with most measurements."""
        result = {}
        for family, variants in self.values[case, unit].items():
            most = max(len(v) for v in variants.values())
            medians = {name: statistics.median(v) for name, v in variants.items() if len(v) == most}
            name = (max if is_rate(unit) else min)(medians, key=medians.get)
            spread = max(variants[name]) - min(variants[name])
            result[family] = medians[name], name, spread / medians[name] if medians[name] else 0
        return result


# --- Peers that are no program of their own ---------------------------------------------------------------------------

def add_gemm(bench, case, unit, best):
    """Twice (as many times as there are workers) the rate of one thread's GEMM on the tile that suits us best."""
    letter = case[0]
    if plans.OURS in best:
        tiles = [best[plans.OURS][1].split()[-1]]
    else:
        tiles = [c.split("_")[1] for c, _ in bench.values if c.startswith(letter + "gemm_")]
    for tile in tiles:
        if (f"{letter}gemm_{tile}", unit) not in bench.values:
            continue
        value, _, spread = bench.best(f"{letter}gemm_{tile}", unit)[f"gemm {tile}"]
        times = int(bench.workers[case])
        best[f"{times} x {letter}gemm"] = value * times, f"tile {tile}", spread


def add_recorded(bench, case, unit, best):
    recorded = plans.RECORDED_SIMGRID.get(case.rsplit("_", 1)[0])
    if unit == "tasks/s" and recorded:
        best["starpu-simgrid"] = recorded, "recorded, 40 tiles", 0


def add_small(bench, case, unit, best):
    """Our own figure for the smallest size: flat means a ratio of 1."""
    shape = case.split("_")[0]
    smallest = next(c for c, _ in bench.values if c.startswith(shape))
    if case != smallest and (smallest, unit) in bench.values:
        ours = bench.best(smallest, unit).get(plans.OURS)
        if ours:
            best[f"heddle on {smallest}"] = ours


def add_c(bench, case, unit, best):
    """Of a task in C++ the same in C."""
    in_c = case.removesuffix("_cpp") + "_c"
    if case.endswith("_cpp") and (in_c, unit) in bench.values:
        best["heddle in C"] = bench.best(in_c, unit)[plans.OURS]


EXTRA_PEERS = {"cholesky": add_gemm, "dense": add_gemm, "virtual": add_recorded, "flat": add_small, "lambda": add_c}


def table(bench):
    """Rows of COLUMNS, and beside each the variant and spread of ours and the peer's spread."""
    rows = []
    for case, unit in bench.values:
        if "gemm_" in case and "openblas" not in bench.best(case, unit): # what add_gemm looks up
            continue
        if bench.name == "lambda" and not case.endswith("_cpp") and "ratio" not in unit: # what add_c looks up
            continue
        best = bench.best(case, unit)
        EXTRA_PEERS.get(bench.name, lambda *_: None)(bench, case, unit, best)
        ours = best.pop(plans.OURS, None)
        for family, (value, variant, spread) in best.items() or [("", (None, "", 0))]:
            row = dict.fromkeys(COLUMNS, "")
            row |= {"bench": bench.name, "case": case, "workers": bench.workers[case], "unit": unit}
            row["peer"] = f"{family} {variant}".strip()
            row["ours"] = f"{ours[0]:.4g}" if ours else ""
            row["peer_value"] = f"{value:.4g}" if value is not None else ""
            if ours and value:
                row["ratio"] = f"{ours[0] / value:.3f}"
            rows.append((row, ours, spread))
    return rows


def print_table(bench, about):
    """As Markdown, which is readable as it is."""
    lines = [["case", "unit", "ours", "spread", "variant", "peer", "its value", "spread", "ratio"]]
    for row, ours, spread in table(bench):
        lines.append([row["case"], row["unit"], row["ours"], f"{ours[2]:.0%}" if ours else "", ours[1] if ours else "",
                      row["peer"], row["peer_value"], f"{spread:.0%}" if row["peer"] else "", row["ratio"]])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    lines.insert(1, ["-" * w for w in widths])
    print(f"\n### {bench.name}: {about}\n")
    for line in lines:
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |")
    sys.stdout.flush()


# Benches whose rows make other tables than that of print_table.
REPORTS = {"scale": scale.report}


# --- The whole --------------------------------------------------------------------------------------------------------

def parse_arguments():
    parser = argparse.ArgumentParser(description="Measures Heddle beside its peers.")
    parser.add_argument("--build-dir", default=os.path.join(ROOT, "build"),
                        help="where CMake has configured (default: build)")
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds: a few minutes, rough figures")
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(plans.BENCHES),
                        help="this bench alone; may be repeated: " + ", ".join(plans.BENCHES))
    parser.add_argument("--group", action="append", metavar="NAME",
                        help="of each bench this group of rivals alone: private, cholesky ... of overhead, 8 of metg; "
                             "may be repeated")
    parser.add_argument("--rounds", type=int, help="how often everything is measured (default: 3 or 5, 2 with --quick)")
    parser.add_argument("--workers", type=int, default=2, help="threads in all (default: 2)")
    parser.add_argument("--output", default=os.path.join(ROOT, "bench.csv"), help="default: bench.csv")
    parser.add_argument("--calm", type=float, default=0, metavar="S",
                        help="before each program wait up to S seconds for others to leave the processors idle")
    parser.add_argument("--tiles", type=lambda text: tuple(int(t) for t in text.split(",")), default=(),
                        metavar="B,...",
                        help="cholesky with tiles of these orders only: all of them, with all policies, "
                             "take most of an hour")
    parser.add_argument("--older", default="", metavar="FOLDER",
                        help="virtual: also measure the build of an older commit in this folder, which lies in its "
                             "source (cmake --build FOLDER --target bench_heddle_virtual)")
    parser.add_argument("--no-build", action="store_true", help="measure what is built already")
    return parser.parse_args()


def build(folder):
    if subprocess.run(["cmake", "--build", folder, "--target", "benches"], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        sys.exit(f"bench: the benches cannot be built in {folder}; run `make build` first")


def make_environment(scratch):
    """The caller's, without what would change a runtime's settings; models and calibrations go to a scratch folder. The
    kernels of OpenBLAS are those that the caller says, for all."""
    ours = ("HEDDLE_", "STARPU_", "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "LD_PRELOAD")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours) or k == "OPENBLAS_CORETYPE"}
    return kept | {
        "XDG_DATA_HOME": os.path.join(scratch, "data"), "XDG_CONFIG_HOME": os.path.join(scratch, "config"),
        "HEDDLE_PLATFORM_PATH": os.path.join(ROOT, "platforms"),
        "STARPU_HOME": scratch, "STARPU_SILENT": "1", "STARPU_CALIBRATE": "1", "STARPU_FXT_TRACE": "0", "LC_ALL": "C",
    }


def describe_machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            model = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), model)
    except OSError:
        pass
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
                            check=False)
    return f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} x {model}, load {os.getloadavg()[0]:.1f}, " \
           f"commit {commit.stdout.strip() or 'none'}"


def leave_out_absent(runs, folder, told):
    """Drops runs whose program was not built, saying so once for each family."""
    kept = []
    for run in runs:
        if os.access(os.path.join(folder, run.program), os.X_OK):
            kept.append(run)
        elif run.program not in told:
            told.add(run.program)
            print(f"bench: {run.program} is not built, so {run.family} is left out", file=sys.stderr)
    return kept


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main():
    options = parse_arguments()
    folder = os.path.join(options.build_dir, "bench")
    if not options.no_build:
        build(options.build_dir)
    if not plans.JEMALLOC:
        print("bench: no jemalloc here: all run with the C library's malloc alone", file=sys.stderr)
    print(describe_machine())
    rows, raw, told = [], [], set()
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as scratch:
        environment = make_environment(scratch)
        for name in options.only or plans.BENCHES:
            make_runs, rounds, about = plans.BENCHES[name]
            bench = Bench(name, folder, environment, options.calm)
            runs = make_runs(plans.Plan(options.workers, options.quick, scratch, folder, options.tiles,
                                        options.older and os.path.abspath(options.older)))
            runs = [run for run in runs if not options.group or run.group in options.group]
            bench.measure(leave_out_absent(runs, folder, told), options.rounds or (2 if options.quick else rounds))
            if name in REPORTS:
                REPORTS[name](bench, about)
            else:
                print_table(bench, about)
            rows += [list(row.values()) for row, _, _ in table(bench)]
            raw += bench.raw
            write_csv(options.output, COLUMNS, rows)
            write_csv(os.path.join(options.build_dir, "bench-all.csv"),
                      ["bench", "case", "workers", "unit", "family", "variant", "round", "value"], raw)
    print(f"\nrows in {os.path.relpath(options.output)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nbench: interrupted")
