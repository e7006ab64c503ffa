"""A program of somebody who uses type hints: test_notebook.py gives it to mypy, and runs it."""
import numpy as np
import numpy.typing as npt

import heddle

Array = npt.NDArray[np.float64]


@heddle.kernel("x:r", "y:rw")
def axpy(x: Array, y: Array, alpha: float) -> None:
    y += alpha * x


@heddle.kernel
def plain(y: Array) -> None:
    y *= 2


@heddle.kernel("y:w", name="fill", color=0xff0000)
def fill(y: Array) -> None:
    y[:] = 1


class Newest(heddle.Policy):
    def setup(self) -> None:
        self.tasks: list[heddle.ReadyTask] = []

    def ready(self, tasks: list[heddle.ReadyTask], releaser: int) -> None:
        self.tasks += tasks

    def pick(self, worker: int) -> "heddle.ReadyTask | None":
        for i in reversed(range(len(self.tasks))):
            if self.tasks[i].can_run(worker):
                return self.tasks.pop(i)
        return None


def run() -> float:
    a, b = np.arange(4.0), np.zeros(4)
    with heddle.Runtime(n_cpu=1, trace=True) as rt:
        x, y = rt.data(a), rt.data(b, name="y")
        task: heddle.Task = rt.submit(axpy, x, y, 2.0, priority=1)
        rt.submit(fill, rt.data(shape=(2, np.int64(3))), after=[task])
        rt.submit(plain, heddle.readwrite(y), after=task)
        task.wait()
        with x.acquire("r") as v:
            total: float = float(v.sum())
        with rt.group() as g:
            rt.submit(lambda v: None, heddle.read(x), group=g)
        t = rt.data(np.zeros(1)).reduction("sum")
        rt.submit(lambda v: None, heddle.reduce(t))
        with rt.data(np.zeros((4, 4))).split((2, 2)) as tiles:
            tile: heddle.Data = tiles[0, 1]
            rt.submit(plain, heddle.readwrite(tile))
            for each in tiles:
                assert each.shape == (2, 2)
        rt.wait()
        trace: heddle.Trace = rt.take_trace()
        graph: heddle.Graph = rt.record()
    assert axpy.name and axpy.modes
    axpy(a, b, 1.0)
    return total + trace.makespan + len(graph)


def study() -> str:
    graph = heddle.Graph([0, 0], types=["dgemm"], flops=1e9, data=[8], accesses=([0, 1], [0, 0], "rw"),
                         edges=([0], [1]))
    table = heddle.compare(graph, "intel-v100", ["eager", Newest], seed=1)
    best: heddle.Simulation = table.best
    first: heddle.Simulation = table[0]
    starts: Array = heddle.simulate(heddle.cholesky(2), "intel-v100", policy=Newest, noise=.1).start
    bounds: heddle.Bounds = best.bounds
    heddle.chart("typed.png", {"a": ([1, 2], [3.0, 4.0])}, title="t")
    workers: list[heddle.Worker] = heddle.Platform("intel-v100").workers
    try:
        heddle.Platform("nowhere")
    except heddle.Error as error:
        return f"{error.status} {error.message} {first} {starts.sum()} {bounds.mixed} {workers[0].name}"
    return ""


run()
study()
