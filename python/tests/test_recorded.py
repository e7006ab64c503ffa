"""A recorded graph on another machine: classes that it has no times for; the file that the user asked for."""
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import heddle


def recorded(n=4):
    """As a run on cores leaves it."""
    return heddle.Graph([i % 2 for i in range(n)], types=["add", "gemm"], times=[[100.0]] * n, classes=["cpu"],
                        name="recorded")


def test_classes_without_times_are_named(small):
    with pytest.warns(UserWarning, match="no task of recorded has a time for fast of platform small.*speedup=") as said:
        table = heddle.compare(recorded(), small, ["eager", "dmdas"])
    assert len(said) == 1 and said[0].filename == __file__
    assert table.untimed == ["fast"] and all(np.isnan(row[3]) for row in table.rows()) and " - " in str(table)
    with pytest.warns(UserWarning, match="speedup="):
        assert heddle.simulate(recorded(), small, "eager").untimed == ["fast"]
    with pytest.warns(UserWarning, match="platform small.*speedup={\"cpu\": 10}"):
        heddle.simulate(heddle.Graph([0], types=["t"], times=[[1.0]], classes=["fast"]), small, "eager")


def test_times_can_be_assumed(small, recwarn):
    s = heddle.simulate(recorded(), small, "eager", speedup={"fast": 10})
    assert s.graph.classes == ["cpu", "fast"] and s.graph.times.tolist() == [[100, 10]] * 4 and s.untimed == []
    assert heddle.compare(recorded(), small, ["eager"], times={"fast:gemm": 7}, speedup={"fast": 4})[0].graph.times[
        :, 1].tolist() == [25, 7, 25, 7]
    s = heddle.simulate(recorded(), small, "eager", speedup={"fast:add": 5, "cpu": 3})
    np.testing.assert_array_equal(s.graph.times, [[100, 20], [100, np.nan]] * 2)
    assert recorded().times.shape == (4, 1) and not recwarn


def test_the_command_assumes_the_same(small, tmp_path):
    command = Path(heddle.__file__).parents[2] / "heddle"
    if not command.exists():
        pytest.skip("the command is not beside the package")
    graph = recorded(40)
    graph.save(tmp_path / "g.json")
    small.save(tmp_path / "small.yaml")
    done = subprocess.run([str(command), "sim", "g.json", "--platform", "small.yaml", "--sched", "dmdas,eager",
                           "--speedup", "fast=10", "--times", "fast:gemm=7"], cwd=tmp_path, capture_output=True,
                          text=True, check=True)
    ours = heddle.compare(graph, small, ["dmdas", "eager"], speedup={"fast": 10}, times={"fast:gemm": 7})
    for simulation in ours:
        assert re.search(rf"{simulation.policy} .*\b{simulation.makespan * 1e-3:.2f}\b", done.stdout), done.stdout


@pytest.mark.parametrize("wrong, said", [
    ({"speedup": {"k40m": 3}}, "class in small.*cpu, fast"),
    ({"speedup": {"fast:trsm": 3}}, "type of tasks.*add, gemm"),
    ({"speedup": {"fast": 0}}, "above 0"), ({"times": {"fast": 3}}, "needs the type"),
    ({"times": {"fast:add": -1}}, "above 0"), ({"speedup": 3}, "dictionary"), ({"speedup": {3: 3}}, "name of a class"),
    ({"speedup": {"fast": "x"}}, "fast is a number")])
def test_what_cannot_be_assumed_is_said(small, wrong, said):
    with pytest.raises((heddle.Error, TypeError), match=said):
        heddle.simulate(recorded(), small, "eager", **wrong)
    with pytest.raises(heddle.Error, match="has none"):
        heddle.simulate(heddle.Graph([0], types=["t"]), small, "eager", speedup={"fast": 2})


def test_an_assumption_that_a_platform_hides_is_named():
    graph = heddle.Graph([0, 0], types=["dgemm"], times=[1e4, 1e4], classes=["cpu"], flops=1e9, data=[8 << 20],
                         accesses=([0, 1], [0, 0], "rw"))
    with pytest.warns(UserWarning, match="is not used: platform intel-v100"):
        heddle.simulate(graph, "intel-v100", "eager", speedup={"v100:dgemm": 2})


@pytest.mark.parametrize("setting, file", [("trace", "asked.csv"), ("explain", "asked.txt")])
def test_a_file_that_was_asked_for_is_written(tmp_path, setting, file):
    program = f"""
import heddle
with heddle.Runtime(n_cpu=1, {setting}=True) as rt:
    rt.submit(lambda: None)
heddle.simulate(heddle.cholesky(2), "intel-v100", "eager")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, f"HEDDLE_{setting.upper()}": file,
                               "PYTHONPATH": str(Path(heddle.__file__).parents[1])})
    assert done.returncode == 0 and (setting == "explain" or not done.stderr), done.stderr
    assert file in os.listdir(tmp_path)
