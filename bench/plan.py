"""What is measured: for each bench its programs, with their arguments and environments. run.py does it.

A Run is one program that prints rows of one or several cases. Runs of one bench with the same `group` are alternatives
or rivals: in every round they run one after the other. The first round tries all variants of each family; only the best
few run again.
"""
import ctypes.util
import glob
import os
import shutil
from dataclasses import dataclass, field, replace

OURS = "heddle"
LOOP = "no runtime"  # the same kernels in a parallel loop
JEMALLOC = ctypes.util.find_library("jemalloc")
STARPU_LU = next(iter(glob.glob("/usr/lib/*/starpu/examples/lu_implicit_example_double")), None)  # starpu-examples
LIBFLAME = ctypes.util.find_library("flame")


@dataclass
class Run:
    bench: str
    group: str     # who is compared with whom
    family: str    # heddle, libgomp, libomp, starpu, taskflow, openblas, ...: the fastest variant of each is quoted
    variant: str   # what distinguishes it within its family
    program: str           # in the folder of the benches, or a whole path
    args: list
    env: dict = field(default_factory=dict)
    suffix: str = ""      # appended to the program's case names
    units: tuple = ()     # rows of other units are dropped; (): all are kept
    rows: object = None    # what makes rows of the program's output, if it is not one of ours
    scout: str = ""       # only variants that did well in the first round of that group take part


@dataclass
class Plan:
    workers: int
    quick: bool
    scratch: str  # a folder for what one run leaves to another
    folder: str   # where the programs are
    tiles: tuple = ()  # of the Cholesky factorisations; (): many
    older: str = ""  # build folder of an older commit, for `virtual`; "": none


# --- Who takes part ---------------------------------------------------------------------------------------------------

def with_allocators(variants):
    """Each (variant, env) with glibc's malloc and, where there is one, with jemalloc."""
    for name, env in variants:
        yield name, env
        if JEMALLOC:
            yield (name + "+jemalloc").lstrip("+"), env | {"LD_PRELOAD": JEMALLOC}


def heddle_variants():
    return with_allocators((policy, {"HEDDLE_SCHED": policy}) for policy in ("lws", "eager"))


def starpu_variants(cpus, policies=("lws", "eager")):
    """`cpus`: numbers of StarPU's workers; its main thread is one more, and sleeps while it waits."""
    return with_allocators((f"{policy} {n} workers" if n > 1 else f"{policy} 1 worker",
                            {"STARPU_SCHED": policy, "STARPU_NCPU": str(n)}) for policy in policies for n in cpus)


def taskflow_variants(plan, cpus):
    """`cpus`: numbers of Taskflow's workers beside a thread that submits. One that builds a graph sleeps while this
    runs, so that there are as many workers as the others have threads."""
    return with_allocators((f"{way} {n} worker{'s' * (n > 1)}",
                            {"BENCH_TASKFLOW": way, "BENCH_TASKFLOW_WORKERS": str(n)})
                           for way in ("graph", "async") for n in (cpus if way == "async" else [plan.workers]))


def contestants(plan, starpu_cpus):
    """(family, prefix of its programs, variant, env) of all that run the programs on task graphs. Taskflow has as many
    workers as StarPU."""
    for variant, env in heddle_variants():
        yield OURS, "heddle", variant, env
    for family, prefix in (("libgomp", "gomp"), ("libomp", "omp")):
        for variant, env in with_allocators([("", {})]):
            yield family, prefix, variant, env
    for variant, env in starpu_variants(starpu_cpus):
        yield "starpu", "starpu", variant, env
    for variant, env in taskflow_variants(plan, starpu_cpus):
        yield "taskflow", "taskflow", variant, env


def same_total(plan):
    """StarPU with the same total number of threads, and with as many workers as the others have threads: it is quoted
    with whatever suits it better."""
    return sorted({max(plan.workers - 1, 1), plan.workers})


# --- The benches ------------------------------------------------------------------------------------------------------

def overhead(plan):
    shapes = [("independent", 1000000), ("private", 1000000, 10000), ("chain", 1000000), ("wavefront", 1000),
              ("cholesky", 60)]
    if plan.quick:
        shapes = [("independent", 200000), ("private", 200000, 10000), ("chain", 200000), ("wavefront", 300),
                  ("cholesky", 60)]
    for shape in shapes:
        for family, prefix, variant, env in contestants(plan, same_total(plan)):
            yield Run("overhead", shape[0], family, variant, prefix + "_tasks", [plan.workers, *shape], env,
                      units=("us/task",))


def header(plan):
    """One program written for StarPU, with Heddle's <starpu.h> and with StarPU: tasks with one datum and with three."""
    shapes = [("chain", 200000), ("wavefront", 300 if plan.quick else 1000), ("cholesky", 60)]
    for shape in shapes:
        for variant, env in heddle_variants():
            yield Run("header", shape[0], OURS, variant, "header_tasks", [plan.workers, *shape], env,
                      units=("us/task",))
        for variant, env in starpu_variants(same_total(plan)):
            yield Run("header", shape[0], "starpu", variant, "starpu_tasks", [plan.workers, *shape], env,
                      units=("us/task",))


def flat(plan):
    """A stencil of width 100 with more and more steps; one datum with more and more readers."""
    # StarPU keeps all tasks that wait: 10^7 of them do not fit in memory
    limits = {"starpu": 10**6, "libgomp": 10**6, "libomp": 10**6, "taskflow": 10**6}
    sizes = [10**n for n in range(4, 7 if plan.quick else 8)]
    for tasks in sizes:
        for family, prefix, variant, env in contestants(plan, [max(plan.workers - 1, 1)]):
            if tasks <= limits.get(family, tasks) and (family != "starpu" or "lws" in variant):
                yield Run("flat", f"stencil {tasks}", family, variant, prefix + "_tasks",
                          [plan.workers, "stencil", tasks // 100, 100], env)
    for readers in (10, 100, 1000, 10000):
        for family, prefix, variant, env in contestants(plan, [max(plan.workers - 1, 1)]):
            if family == "taskflow": # on_taskflow.h has no edges from readers to the next writer
                continue
            yield Run("flat", f"readers {readers}", family, variant, prefix + "_tasks",
                      [plan.workers, "readers", 100000 if plan.quick else 300000, readers], env, units=("us/task",))


def memory(plan):
    count = 30000 if plan.quick else 200000
    for what in ("data", "tasks", "tasks_with_data"):
        for variant, env in with_allocators([("", {"HEDDLE_WINDOW": "0"})]):
            yield Run("memory", what, OURS, variant, "heddle_memory", [plan.workers, what, count], env)
        for variant, env in starpu_variants([1], ["lws"]):
            yield Run("memory", what, "starpu", variant, "starpu_memory", [plan.workers, what, count], env)


def latency(plan):
    for family, prefix, variant, env in contestants(plan, same_total(plan)):
        yield Run("latency", "same", family, variant, prefix + "_latency", [plan.workers], env)
    # on another thread than the one that waits, as StarPU always does
    for variant, env in heddle_variants():
        yield Run("latency", "other", OURS, variant, "heddle_latency", [1], env | {"HEDDLE_CALLER_WORKS": "0"},
                  suffix="_on_another_thread")
    for variant, env in starpu_variants([1]):
        yield Run("latency", "other", "starpu", variant, "starpu_latency", [1], env, suffix="_on_another_thread")


def metg(plan):
    for width in (2, 8):
        for family, prefix, variant, env in contestants(plan, [plan.workers]):
            yield Run("metg", str(width), family, variant, prefix + "_metg", [plan.workers, width], env)


def scale_contestants(plan, workers):
    """(family, prefix, variant, env). Heddle keeps its tasks itself: the allocator does not matter to it."""
    for policy in ("eager", "lws"):
        yield OURS, "heddle", policy, {"HEDDLE_SCHED": policy}
    if workers > 1: # a team of one runs each task where it is created
        for family, prefix in (("libgomp", "gomp"), ("libomp", "omp")):
            for variant, env in with_allocators([("", {})]):
                yield family, prefix, variant, env
    if workers <= cores():
        allocator = {"LD_PRELOAD": JEMALLOC} if JEMALLOC else {}
        for policy in ("eager",) if plan.quick else ("eager", "lws"):
            for n in sorted({max(workers - 1, 1), workers}):
                yield "starpu", "starpu", f"{policy} {n} worker{'s' * (n > 1)}", {
                    "STARPU_SCHED": policy, "STARPU_NCPU": str(n)} | allocator


def cores():
    return len(os.sched_getaffinity(0))


def scale(plan):
    """Tasks of 0 to 20 us on 1, 2, 4 ... workers up to the number of cores, then on four per core, and beside a process
    that uses half of a core. The time in the core is measured apart from the rest, because its clock takes time."""
    counts = sorted({2**i for i in range(cores().bit_length())} | {cores()})
    samples = 3 if plan.quick else 5
    for workers in counts + [4 * cores()]:
        for what in ("pool", "stencil"):
            for family, prefix, variant, env in scale_contestants(plan, workers):
                yield Run("scale", f"{what} {workers}", family, variant, prefix + "_scale", [workers, what, samples],
                          env)
        yield Run("scale", f"pool {workers}", LOOP, "", "loop_scale", [workers, "pool", samples], {})
        if workers in counts:
            for policy in ("eager", "lws"):
                yield Run("scale", f"core {workers}", OURS, policy, "heddle_scale", [workers, "pool", samples],
                          {"HEDDLE_SCHED": policy, "HEDDLE_TIME_CORE": "1"}, units=("core us",))
        if workers in counts and not (plan.quick and workers == 1):
            for family, prefix, variant, env in scale_contestants(plan, workers):
                if family != "starpu" or f"{workers} worker" in variant:
                    yield Run("scale", f"metg {workers}", family, variant, prefix + "_metg",
                              [workers, 4 * workers, "clock"], env, suffix=f"_w{workers}_metg")
    for policy in ("eager", "lws"):
        yield Run("scale", "calls", OURS, policy, "heddle_syscalls", [cores()], {"HEDDLE_SCHED": policy})
    for family, prefix, variant, env in scale_contestants(plan, cores()):
        if family in (OURS, "libgomp"):
            yield Run("scale", "busy", family, variant, prefix + "_scale", [cores(), "pool", samples, "busy"], env)


TILES = (256, 320, 512, 640, 768, 1024)


def cholesky(plan):
    tiles = plan.tiles or ((256, 320) if plan.quick else TILES)
    for letter in "ds":
        for n in [2048] if plan.quick else [4096, 8192]:
            group, scout = f"{letter}potrf_{n}", f"{letter}potrf_4096" if n > 4096 else ""
            for layout in ("in_place", "tiled"):
                for tile in tiles:
                    args = [plan.workers, n, tile, layout]
                    for policy in ("lws",) if plan.quick else ("lws", "prio", "dmdas"):
                        yield Run("cholesky", group, OURS, f"{policy} {layout} tile {tile}", "heddle_dense",
                                  [letter, "potrf", *args],
                                  {"HEDDLE_SCHED": policy}, scout=scout)
                    for policy in ("lws",) if plan.quick else ("lws", "prio", "dmdas", "eager"):
                        yield Run("cholesky", group, "starpu", f"{policy} {layout} tile {tile}",
                                  f"starpu_{letter}cholesky", args,
                                  {"STARPU_SCHED": policy, "STARPU_NCPU": str(plan.workers)}, scout=scout)
            yield Run("cholesky", group, "openblas", "", "openblas_dense",
                      [letter, "potrf", plan.workers, n])
            for tile in tiles:
                yield Run("cholesky", group, f"gemm {tile}", "", f"openblas_{letter}gemm", [tile])


ROUTINES = ("gemm", "potrf", "posv", "poinv", "getrf", "getrf_nopiv", "gesv", "geqrf")


def starpu_lu(plan, routine, n, tiles):
    """StarPU's own example of an LU factorisation, which prints a line "order milliseconds GFlop/s"."""
    def rows(out):
        return f"d{routine}_{n},{plan.workers},GFlop/s,{out.split()[-1]}\n"

    for tile in (t for t in tiles if n % t == 0):
        arguments = ["-size", n, "-nblocks", n // tile] + (["-piv"] if routine == "getrf" else [])
        for policy in ("lws", "prio"):
            yield Run("dense", f"d{routine}_{n}", "starpu", f"{policy} tile {tile}", STARPU_LU, arguments,
                      {"STARPU_SCHED": policy, "STARPU_NCPU": str(plan.workers), "OPENBLAS_NUM_THREADS": "1"},
                      rows=rows)


def other_dense_libraries(plan, routine, n, tiles):
    """OpenBLAS with its own threads; libflame over these, and on its own runtime; StarPU's LU."""
    group = f"d{routine}_{n}"
    if routine != "getrf_nopiv":
        yield Run("dense", group, "openblas", "", "openblas_dense", ["d", routine, plan.workers, n])
    if LIBFLAME and routine not in ("posv", "gesv"):
        for variant, tile in [("BLAS with threads", [])] + [(f"tile {t}", [t]) for t in tiles]:
            yield Run("dense", group, "libflame", variant, "flame_dense", ["d", routine, plan.workers, n, *tile])
    if STARPU_LU and routine.startswith("getrf"):
        yield from starpu_lu(plan, routine, n, tiles)


def dense(plan):
    """Routines in place, as LAPACK has them, and on tiles; small matrices, and one of order 6144."""
    for routine in ROUTINES:
        for n in (512, 2048) if plan.quick else (256, 512, 1024, 6144):
            group = f"d{routine}_{n}"
            tiles = [t for t in plan.tiles or (64, 96, 128, 192, 256, 320, 384) if 2 * t <= n <= 40 * t]
            for layout in ("in_place", "tiled"):
                for tile in tiles:
                    yield Run("dense", group, OURS, f"lws {layout} tile {tile}", "heddle_dense",
                              ["d", routine, plan.workers, n, tile, layout], {"HEDDLE_SCHED": "lws"})
            yield from other_dense_libraries(plan, routine, n, tiles)
            for tile in tiles if n >= 2048 else ():
                yield Run("dense", group, f"gemm {tile}", "", "openblas_dgemm", [tile])


def named(case):
    """What gives the rows of a program the name `case`."""
    return lambda out: "\n".join(",".join([case, *line.split(",")[1:]]) for line in out.splitlines())


def sparse(plan):
    """Sparse QR beside SuiteSparseQR on one thread and on all, and the rate of our dense QR."""
    names = ("TF14", "grid2d:100") if plan.quick else ("TF14", "TF15", "flower_5_4", "grid2d:200", "grid3d:24")
    for name in names:
        for tile in plan.tiles or (128, 256):
            yield Run("sparse", name, OURS, f"lws tile {tile}", "sparse", ["heddle", name, plan.workers, tile],
                      {"HEDDLE_SCHED": "lws"})
        for threads in (1, plan.workers):
            yield Run("sparse", name, f"spqr {threads} threads", "", "sparse", ["spqr", name, threads])
        yield Run("sparse", name, "dense geqrf", "2048", "heddle_dense",
                  ["d", "geqrf", plan.workers, 2048, 256, "in_place"], {"HEDDLE_SCHED": "lws"}, rows=named(name))


def virtual(plan):
    """Sizes of which StarPU over SimGrid is recorded, and larger ones; beside an older commit if its build is given."""
    many = ("eager", "dmda") if plan.quick else ("eager", "dmda", "dmdas", "multiprio", "autoheteroprio", "heft")
    cases = [("westmere-c2050", 40, ("eager", "dmda", "dmdas"))]
    cases += [("haswell-k40m", tiles, many) for tiles in ((40,) if plan.quick else (40, 120, 200))]
    for platform, tiles, policies in cases:
        for policy in policies:
            ours = Run("virtual", f"{platform} {policy} {tiles}", OURS, "", "heddle_virtual", [platform, tiles],
                       {"HEDDLE_SCHED": policy}, units=("tasks/s", "bytes/task"))
            yield ours
            if plan.older:  # with the platforms of its commit
                yield replace(ours, family="older", program=os.path.join(plan.older, "bench", "heddle_virtual"),
                              env=ours.env | {"HEDDLE_PLATFORM_PATH": os.path.join(plan.older, "..", "platforms")})


def agreement(plan):
    for n, tile in ((2048, 256),) if plan.quick else ((4096, 256), (6144, 384), (8192, 512)):
        for policy in ("lws",) if plan.quick else ("lws", "dmdas"):
            model = os.path.join(plan.scratch, f"{n}_{tile}_{policy}.yaml")
            for family, what in (("real", "real"), (OURS, "simulated")):
                yield Run("agreement", f"{n} {tile} {policy}", family, "", "heddle_agreement", [what, n, tile, model],
                          {"HEDDLE_SCHED": policy, "HEDDLE_NCPU": str(plan.workers)})


def trace(plan):
    for shape in (("independent", 300000), ("chain", 300000), ("wavefront", 500), ("cholesky", 60)):
        for family, switch in ((OURS, "1"), ("trace off", "0")):
            yield Run("trace", shape[0], family, "", "heddle_tasks", [plan.workers, *shape], {"HEDDLE_TRACE": switch},
                      units=("us/task",))
    # tasks that do something: 6000 of 15 us, kernels included
    for family, switch in ((OURS, "1"), ("trace off", "0")):
        yield Run("trace", "dpotrf", family, "", "heddle_dense",
                  ["d", "potrf", plan.workers, 2048, 64, "tiled"],
                  {"HEDDLE_TRACE": switch},
                  suffix="_tile_64")


def python(plan):
    for case in ("tasks", "tasks_data", "policy", "edges", "accesses"):
        yield Run("python", case, OURS, "", "heddle_python", [case, plan.workers])


def in_cpp(plan):
    """Tasks in C++ (ours) beside those in C: the clock with all workers, callgrind with one."""
    yield Run("lambda", "time", OURS, "", "heddle_lambda", [plan.workers])
    if shutil.which("valgrind"):
        here = os.path.dirname(os.path.abspath(__file__))
        yield Run("lambda", "instructions", OURS, "", os.path.join(here, "instructions.py"),
                  [os.path.join(plan.folder, "heddle_lambda")])


# name: (its runs, rounds, what it measures)
BENCHES = {
    "overhead": (overhead, 5, "one empty task: submission, graph, scheduling, execution, release"),
    "header": (header, 5, "an empty task of a program for StarPU, with Heddle's <starpu.h> (ours) and with StarPU"),
    "flat": (flat, 3, "the same for 10^4 to 10^7 tasks, and for many readers of one datum"),
    "memory": (memory, 3, "bytes per waiting task; bytes and time per registered datum"),
    "latency": (latency, 5, "submission of one task to the end of a wait for it; the start"),
    "metg": (metg, 3, "smallest task at 50 % efficiency, 1-D stencil"),
    "scale": (scale, 5, "tasks of 0 to 20 us: overhead, efficiency, time in the core, METG, a model of more workers"),
    "cholesky": (cholesky, 5, "GFlop/s of the factorisation"),
    "dense": (dense, 5, "GFlop/s of each dense routine, beside OpenBLAS's threads, libflame and StarPU's LU"),
    "sparse": (sparse, 3, "sparse QR beside SuiteSparseQR, seconds of wall and of processor time; beside dense QR"),
    "virtual": (virtual, 3, "tasks per second of wall time in virtual time, single precision Cholesky"),
    "agreement": (agreement, 5,
                  "simulated (ours) beside real Cholesky on this machine, kernel times measured just before"),
    "python": (python, 3, "an empty task whose kernel is in Python; 20 tiles of Cholesky in virtual time under a "
                          "policy in Python; graphs of a million tasks from numpy arrays"),
    "lambda": (in_cpp, 3, "a task from a lambda in C++ (ours) beside one from a function in C, at most 1.2 times"),
    "trace": (trace, 5, "empty tasks, and a factorisation in small tiles, with tracing on (ours) and off (peer)"),
}

# Tasks per second of StarPU (master, August 2026) over SimGrid 3.32 on a small machine of two cores, its example
# cholesky_implicit with the same kernel times, 40 x 40 tiles: recorded, not measured in the same run. Larger sizes were
# not recorded: they are compared with this one, too.
RECORDED_SIMGRID = {
    "haswell-k40m_eager": 2408, "haswell-k40m_dmda": 3739, "haswell-k40m_dmdas": 4256,
    "westmere-c2050_eager": 1512, "westmere-c2050_dmda": 2459, "westmere-c2050_dmdas": 2932,
}
