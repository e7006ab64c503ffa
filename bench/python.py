#!/usr/bin/env python3
"""What Python costs: PYTHONPATH=build/python python3 bench/python.py [CASE [WORKERS]]

Prints rows of run.py, case,workers,unit,value, each the median of REPEATS:

policy      a simulation of the Cholesky factorisation of 20 x 20 tiles under the policy of examples/python/04_policy.py
edges       a graph of a million tasks and three million edges from numpy arrays
accesses    the same with two million accesses to a thousand data
tasks       a task whose kernel is an empty Python function, submission to end
tasks_data  the same, and it writes one of 100 data
"""
import contextlib
import io
import os
import runpy
import statistics
import sys
import tempfile
import time

import numpy as np

import heddle

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPEATS = 3
MILLION, N_DATA, N_TASKS = 10**6, 1000, 20000


def seconds(function, *arguments):
    """How long each of REPEATS calls takes; the result of the last one."""
    times = []
    for _ in range(REPEATS):
        before = time.perf_counter()
        result = function(*arguments)
        times.append(time.perf_counter() - before)
    return statistics.median(times), result


def example_policy():
    """The policy of the example, whose pictures and table are not wanted."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(scratch)
        try:
            return runpy.run_path(os.path.join(ROOT, "examples", "python", "04_policy.py"))["Earliest"]
        finally:
            os.chdir(here)


def policy(_):
    graph, own = heddle.cholesky(20), example_policy()
    time_taken, run = seconds(lambda: heddle.simulate(graph, "intel-v100", own))
    assert run.policy == "earliest" and len(run.tasks) == len(graph)
    return "cholesky_20_policy", "s", time_taken


def random_graph():
    rng = np.random.default_rng(1)
    return rng, rng.integers(0, 4, MILLION), {"types": list("abcd"), "times": rng.random((MILLION, 2)),
                                              "classes": ["cpu", "cuda"]}


def edges(_):
    rng, kind, given = random_graph()
    target = np.repeat(np.arange(1, MILLION), 3)
    source = (rng.random(len(target)) * target).astype(np.int64)
    time_taken, graph = seconds(lambda: heddle.Graph(kind, edges=(source, target), **given))
    assert len(graph) == MILLION
    return "graph_edges", "s", time_taken


def accesses(_):
    rng, kind, given = random_graph()
    task, first = np.repeat(np.arange(MILLION), 2), rng.integers(0, N_DATA, MILLION)
    data = np.column_stack([first, (first + rng.integers(1, N_DATA, MILLION)) % N_DATA]).ravel()
    mode = np.tile(np.array([heddle.Mode.R, heddle.Mode.RW], np.int32), MILLION)
    time_taken, graph = seconds(lambda: heddle.Graph(kind, data=np.full(N_DATA, 8), accesses=(task, data, mode),
                                                     **given))
    assert len(graph.accesses) == 2 * MILLION
    return "graph_accesses", "s", time_taken


def empty(*_):
    pass


def submitted(runtime, data):
    for i in range(N_TASKS):
        runtime.submit(empty, *([heddle.write(data[i % len(data)])] if data else []))
    runtime.wait()


def tasks(workers, n_data=0):
    with heddle.Runtime(n_cpu=workers) as runtime:
        data = [runtime.data(np.zeros(1)) for _ in range(n_data)]
        submitted(runtime, data)
        time_taken, _ = seconds(submitted, runtime, data)
    return "task_data" if n_data else "task", "us/task", time_taken / N_TASKS * 1e6


CASES = {"policy": policy, "edges": edges, "accesses": accesses, "tasks": tasks,
         "tasks_data": lambda workers: tasks(workers, 100)}


def main():
    chosen = sys.argv[1:2] or list(CASES)
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    if chosen[0] not in CASES:
        sys.exit(__doc__)
    for name in chosen:
        case, unit, value = CASES[name](workers)
        print(f"{case},{workers if unit == 'us/task' else 1},{unit},{value:.4g}", flush=True)


if __name__ == "__main__":
    main()
