"""What the tests share: the folder of the sources, compiled C, one machine whose figures are easy to reckon with."""
import os
import subprocess
from pathlib import Path

import pytest

import heddle

ROOT = Path(__file__).resolve().parents[2]
CORES = min(2, len(os.sched_getaffinity(0)))

# Two cores and an accelerator that is ten times faster behind a slow link.
SMALL = """
version: 1
name: small
nodes: [{name: ram, capacity_mib: 0}, {name: gpu, capacity_mib: 100}]
classes: [{name: cpu, kind: cpu}, {name: fast, kind: cuda}]
workers:
- {name: cpu, count: 2, class: cpu, node: ram, core: 0}
- {name: fast, class: fast, node: gpu, core: 2}
links:
- {from: ram, to: gpu, bandwidth_mbs: 1000, latency_us: 10}
- {from: gpu, to: ram, bandwidth_mbs: 1000, latency_us: 10}
"""


@pytest.fixture
def small():
    return heddle.Platform.parse(SMALL, "small")


@pytest.fixture
def compile_c(tmp_path):
    """A function that makes a shared library, or a program, of C; the library stands on the one that is loaded."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    loaded = next(line.split()[-1] for line in maps if "libheddle.so" in line)

    def compile_it(text, program=False):
        source, made = tmp_path / "it.c", tmp_path / ("it" if program else "it.so")
        source.write_text(text)
        command = [os.environ.get("CC", "cc"), "-std=gnu11", "-Wall", "-Werror", f"-I{ROOT / 'include'}", str(source),
                   "-o", str(made)]
        subprocess.run(command if program else [*command, "-shared", "-fPIC", loaded], check=True)
        return made
    return compile_it


@pytest.fixture
def runtime():
    with heddle.Runtime(n_cpu=CORES, watchdog=30) as rt:
        yield rt
