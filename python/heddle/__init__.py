"""Heddle: one task graph on every processor of a machine, for real or in virtual time.

Three ways in, each of a few lines; docs/python.md has them all:

    with heddle.Runtime() as rt:                          # run functions on arrays
        rt.submit(scale, heddle.readwrite(rt.data(a)), 2.0)

    heddle.simulate(graph, "intel-v100", policy="dmdas")  # schedule a graph in virtual time

    class Mine(heddle.Policy): ...                        # decide oneself which worker runs which task

Times are in microseconds, sizes in bytes, bandwidths in MB/s.
"""
from ._ffi import ffi
from ._library import Error, Status, lib, version
from .data import (Access, Data, Mode, Pieces, Plan, commute, read, readwrite, reduce, scratch, unordered, write)
from .graph import Graph, GraphBuilder, cholesky
from .kernels import Kernel, compiled, kernel, load
from .platform import Link, Node, Platform, Worker, WorkerClass
from .policy import Policy, ReadyTask, policies
from .runtime import Event, Runtime
from .simulation import Comparison, Simulation, compare, simulate
from .task import Group, Task
from .trace import Bounds, Trace, chart

__version__ = version()
__all__ = [
    "Access", "Bounds", "Comparison", "Data", "Error", "Event", "Graph", "GraphBuilder", "Group", "Kernel", "Link",
    "Mode", "Node", "Pieces", "Plan", "Platform", "Policy", "ReadyTask", "Runtime", "Simulation", "Status", "Task",
    "Trace", "Worker", "WorkerClass", "chart", "cholesky", "commute", "compare", "compiled", "ffi", "kernel", "lib",
    "load", "policies", "read", "readwrite", "reduce", "scratch", "simulate", "unordered", "version", "write",
]
