"""Fits the laws of apps/sparse/tasks/laws.c to what build/bench/sparse_laws measures on a core of this machine:
OPENBLAS_NUM_THREADS=1 python3 bench/sparse_laws.py build/bench/sparse_laws

Least squares of the differences over the roots of the times, so that sums of times agree; least relative error would
let the many small tasks decide."""
import csv
import math
import subprocess
import sys

SUBTREES = [("TF14", .0003), ("TF14", .005), ("TF15", .0003), ("TF15", .005), ("TF15", .03), ("TF16", .001),
            ("flower_5_4", .0003), ("flower_5_4", .005), ("grid2d:200", .0003), ("grid2d:200", .005),
            ("grid3d:24", .0003), ("grid3d:24", .005), ("mk10-b3", .0003), ("mk10-b3", .005), ("mk11-b4", .01)]
ASSEMBLY = ["TF14", "TF15", "flower_5_4", "grid2d:200", "grid3d:24", "mk10-b3"]


def rows(*arguments):
    out = subprocess.run([sys.argv[1], *map(str, arguments)], check=True, capture_output=True, text=True).stdout
    return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(out.splitlines())]


def solve(a, b):
    """The solution of a small system A x = b, by elimination."""
    n = len(b)
    a = [row[:] + [b[i]] for i, row in enumerate(a)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(n):
            if i != k:
                factor = a[i][k] / a[k][k]
                a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    return [a[i][n] / a[i][i] for i in range(n)]


def fit(tasks, names, known):
    """us per unit of each name, beside the us that are known."""
    scaled = [([task.get(name, 1) / math.sqrt(task["us"]) for name in names],
               (task["us"] - known(task)) / math.sqrt(task["us"])) for task in tasks]
    gram = [[sum(x[i] * x[k] for x, _ in scaled) for k in range(len(names))] for i in range(len(names))]
    return solve(gram, [sum(x[i] * y for x, y in scaled) for i in range(len(names))])


def report(what, groups, names, known=lambda task: 0):
    law = fit([task for tasks in groups.values() for task in tasks], names, known)
    print(what + ": us = " + " + ".join(f"{x:.3g} {name}" for x, name in zip(law, names)))
    for group, tasks in groups.items():
        predicted = sum(known(task) + sum(x * task.get(name, 1) for x, name in zip(law, names)) for task in tasks)
        print(f"    {group}: {len(tasks)} tasks, law / measured {predicted / sum(task['us'] for task in tasks):.2f}")
    return law


def main():
    update = min((rows("tsmqr", 256)[0] for _ in range(5)), key=lambda row: row["us"])
    rate = update["flops"] / update["us"]
    print(f"tsmqr, tiles of 256: {rate * 1e-3:.1f} Gflop/s")
    law = report("subtrees, beside their operations at this rate",
                 {f"{m} {share}": rows("subtrees", m, share) for m, share in SUBTREES}, ["fronts", "elements"],
                 lambda task: task["flops"] / rate)
    print(f"    an element takes as long as {law[1] * rate:.0f} operations")
    law = report("assembly", {m: rows("assembly", m) for m in ASSEMBLY}, ["tasks", "bytes"])
    print(f"    {1e-3 / law[1]:.1f} GB/s")


main()
