#!/usr/bin/env python3
"""Prints the tables of figures in docs/policy-study.md: all in virtual time, hence the same on any machine.

    bench/policies.py compare    every policy on three machines, 20 to 60 tiles, with priorities and without
    bench/policies.py chain      what holds multiprio up beside dmdas: where the time of the last chain of tasks goes
    bench/policies.py tries      multiprio under other options, links and lookahead
    bench/policies.py bytes      what policies move, and why
    bench/policies.py asked      the setting fastest_first, off and on
    bench/policies.py untuned    autoheteroprio with its defaults and the paper's, on graphs that none were chosen on
    bench/policies.py readings   options that say how a paper is read: makespans over that of dmdas with priorities

Cholesky factorisations in single precision with tiles of order 960, unless a row says otherwise.
"""
import argparse
import collections
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MACHINES = ["haswell-k40m", "westmere-c2050", "intel-v100"]
Problem = collections.namedtuple("Problem", "machine tiles tile precision", defaults=(960, "s"))


class Heddle:
    """The command, and a folder for what it writes."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        self.env = dict(os.environ, HEDDLE_PLATFORM_PATH=os.path.join(ROOT, "platforms"))

    def run(self, *arguments):
        done = subprocess.run([self.command, *arguments], env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"heddle {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def sim(self, problem, sched, options="", expert=True, more=()):
        """`sched` is one policy or several. Without `expert`, tasks have no priorities."""
        p = problem
        return json.loads(self.run(
            "sim", "cholesky", "--n", str(p.tiles * p.tile), "--tile", str(p.tile), "--precision", p.precision,
            "--platform",
            p.machine, "--sched", sched, "--json", *(["--sched-options", options] if options else []),
            *([] if expert else ["--no-priorities"]), *more))

    def makespan(self, *arguments, **keywords):
        return self.sim(*arguments, **keywords)["policies"][0]["makespan_ms"]

    def graph(self, graph, machine, sched, options="", more=()):
        """The makespan of a graph that is no Cholesky."""
        found = json.loads(self.run("sim", graph, "--platform", machine, "--sched", sched, "--json",
                                    *(["--sched-options", options] if options else []), *more))
        return found["policies"][0]["makespan_ms"]

    def trace(self, *arguments, **keywords):
        name = os.path.join(self.folder, "run.trace")
        self.sim(*arguments, **keywords, more=["--trace", name])
        self.run("trace", name, "-o", name + ".csv")
        return Trace(name)

    def changed(self, machine, name, *changes):
        """A copy of a machine's file with each (pattern, replacement) carried out; returns its path."""
        with open(os.path.join(ROOT, "platforms", machine + ".yaml"), encoding="utf-8") as f:
            text = f.read()
        for pattern, replacement in changes:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        path = os.path.join(self.folder, f"{machine}-{name}.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def fast_links(self, machine):
        return self.changed(machine, "fast", (r"bandwidth_mbs: ([\d.]+)",
                                              lambda m: f"bandwidth_mbs: {100 * float(m[1])}"),
                            (r"latency_us: [\d.]+, buses", "latency_us: 0, buses"))


class Task:
    def __init__(self, row):
        self.id, self.codelet = int(row["id"]), row["codelet"][1:]
        self.worker, self.on_cpu = row["worker"], row["class"] == "cpu"
        times = (float(row[k + "_us"]) for k in ("ready", "picked", "start", "end"))
        self.ready, self.picked, self.start, self.end = times
        self.free = 0.0 # when its worker has done what it does before
        self.tile = None

    @property
    def kernel(self):
        return self.end - self.start

    @property
    def behind(self):
        """Time in its worker's hands while that worker runs another."""
        return max(0.0, self.free - self.picked)

    @property
    def data(self):
        """Time in which its worker waits for its data."""
        return self.start - max(self.picked, self.free)


class Trace:
    """Tasks by number; transfers; which tasks each one waited for."""

    def __init__(self, name):
        self.tasks, self.transfers, self.before = {}, [], collections.defaultdict(list)
        with open(name + ".csv", encoding="utf-8", newline="") as f:
            for row in csv.DictReader(f):
                if row["event"] == "task":
                    self.tasks[int(row["id"])] = Task(row)
                else:
                    self.transfers.append(row)
        with open(name, encoding="utf-8") as f:
            for edge in (line.split() for line in f if line.startswith("edge ")):
                self.before[int(edge[2])].append(int(edge[1]))
        self.makespan = max(t.end for t in self.tasks.values())
        last = {}
        for t in sorted(self.tasks.values(), key=lambda t: t.start):
            t.free, last[t.worker] = last.get(t.worker, 0.0), t.end
        self.number_tiles()

    def number_tiles(self):
        """Tasks are numbered in the order in which apps/dense/routines/potrf.c submits them, tiles column by column."""
        n = self.n = sum(t.codelet == "potrf" for t in self.tasks.values())
        order = iter(sorted(self.tasks.values(), key=lambda t: t.id))
        for k in range(n):
            for m in range(k, n):
                next(order).tile = m, k
            for column in range(k + 1, n):
                for m in range(column, n):
                    next(order).tile = m, column
        self.tiles = [(m, column) for column in range(n) for m in range(column, n)]

    def chain(self):
        """The last task to end, the one that made it ready by ending last, and so on to the first."""
        task = max(self.tasks.values(), key=lambda t: t.end)
        while task:
            yield task
            task = max((self.tasks[i] for i in self.before[task.id]), key=lambda t: t.end, default=None)


# --- Output -----------------------------------------------------------------------------------------------------------

def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def both(with_, without):
    """Two figures as one when they read the same."""
    return with_ if with_ == without else f"{with_} / {without}"


# --- compare ----------------------------------------------------------------------------------------------------------

def compare(heddle):
    for machine in MACHINES:
        rows = collections.defaultdict(list)
        sizes = 20, 40, 60
        found = [[heddle.sim(Problem(machine, n), "all", expert=expert) for expert in (True, False)] for n in sizes]
        for pair in found:
            bound = pair[0]["problem"]["bound_ms"]
            for one, other in zip(*(found["policies"] for found in pair)):
                rows[one["policy"]].append(both(*(f"{row['makespan_ms'] / bound:.2f}" for row in (one, other))))
        for key, figure in ("moved_mib", lambda x: f"{x / 1024:.1f}"), ("idle_percent", lambda x: f"{x:.0f}"):
            for pair in found:
                for row in pair[0]["policies"]:
                    rows[row["policy"]].append(figure(row[key]))
        bounds = ", ".join(f"{pair[0]['problem']['bound_ms']:.0f}" for pair in found)
        print(f"`{machine}`; bounds {bounds} ms\n")
        heads = ["policy"] + [f"{what}{n}" for what in ("time / bound, ", "GiB, ", "idle %, ") for n in sizes]
        print_table(heads, [[f"`{name}`", *cells] for name, cells in rows.items()])


# --- readings: options that say how a paper is read -------------------------------------------------------------------

ALL_MACHINES = ["haswell-k40m", "westmere-c2050", "intel-v100", "amd-a100", "gpu1-cpu6"]
SIZES = 10, 20, 30, 40, 60
WIDE = [f"random:n=2000,fat={fat},ccr={ccr},seed={seed}" for fat in (0.5, 0.7) for ccr in (0.05, 0.5)
        for seed in (1, 2, 3)]
READINGS = [("dmdas", ""), ("multiprio", ""), ("multiprio", "accounting=taken"), ("multiprio", "share=yes"),
            ("multiprio", "first=criticality"), ("critprio", ""), ("critprio", "accounting=taken")]


def mean(values):
    return statistics.geometric_mean(values)


class Ratios:
    """Makespans over that of dmdas, which has an expert's priorities where there are any."""

    def __init__(self, heddle, sizes=SIZES, graphs=WIDE):
        self.heddle, self.sizes, self.graphs = heddle, sizes, graphs
        self.dmdas = {(m, n): heddle.makespan(Problem(m, n), "dmdas") for m in ALL_MACHINES for n in sizes}
        self.dmdas.update({(m, graph): heddle.graph(graph, m, "dmdas") for m in ALL_MACHINES for graph in graphs})

    def on_cholesky(self, machine, *run, expert=False, more=()):
        return [self.heddle.makespan(Problem(machine, n), *run, expert=expert, more=more) / self.dmdas[machine, n]
                for n in self.sizes]

    def on_random(self, *run, more=()):
        return [self.heddle.graph(graph, machine, *run, more=more) / self.dmdas[machine, graph]
                for graph in self.graphs for machine in ALL_MACHINES]


ASKED = ["eager", "prio", "ws", "lws", "multiprio", "critprio", "heteroprio", "laheteroprio", "autoheteroprio"]


def asked(heddle):
    ratios, rows = Ratios(heddle), []
    for sched in ASKED:
        cells = []
        for more in (), ("--set", "fastest_first=1"):
            on = [ratios.on_cholesky(machine, sched, expert=sched == "prio", more=more) for machine in ALL_MACHINES]
            cells.append([*on, sum(on, []), ratios.on_random(sched, more=more)])
        rows.append([f"`{sched}`", *(f"{mean(off):.2f} / {mean(on):.2f}" for off, on in zip(*cells))])
    print_table(["", *ALL_MACHINES, "mean", "random"], rows)


UNTUNED = ["", "preset=paper", "heuristic=URTxD_L5", "gate=bucket", "gate=no", "refresh=32"]


def untuned(heddle):
    widths = 0.3, 0.5, 0.7, 0.9
    graphs = [f"random:n=2000,fat={fat},ccr={ccr},seed={seed}" for fat in widths for ccr in (0.05, 0.5)
              for seed in (11, 12)]
    ratios, rows = Ratios(heddle, (20, 40), graphs), []
    for options in UNTUNED:
        run = "autoheteroprio", options
        cholesky = sum((ratios.on_cholesky(machine, *run) for machine in ALL_MACHINES), [])
        random = ratios.on_random(*run)
        each = len(random) // len(widths)
        cells = [cholesky, random, *(random[i * each:(i + 1) * each] for i in range(len(widths)))]
        rows.append([f"`{options}`" if options else "all defaults", *(f"{mean(cell):.2f}" for cell in cells)])
    print_table(["options", "Cholesky, 20 and 40 tiles", "random", *(f"n^{fat}" for fat in widths)], rows)


def readings(heddle):
    ratios, rows = Ratios(heddle), []
    for run in READINGS:
        cells = [ratios.on_cholesky(machine, *run) for machine in ALL_MACHINES]
        rows.append([" ".join(run).strip(), *(" ".join(f"{x:.2f}" for x in row) for row in cells),
                     f"{mean(sum(cells, [])):.3f}", f"{mean(ratios.on_random(*run)):.3f}"])
    sizes = " ".join(map(str, SIZES))
    print_table(["", *(f"{machine} {sizes}" for machine in ALL_MACHINES), "mean", "random"], rows)


# --- chain, tries: multiprio on small graphs --------------------------------------------------------------------------

SMALL = ["haswell-k40m", "intel-v100"]
CODELETS = ["potrf", "trsm", "syrk", "gemm"]
CHAIN_RUNS = [("dmdas, priorities", "dmdas", "", True), ("dmdas", "dmdas", "", False),
              ("multiprio", "multiprio", "", False),
              ("multiprio, share=yes", "multiprio", "share=yes", False), ("critprio", "critprio", "", False),
              ("autoheteroprio", "autoheteroprio", "", False),
              ("autoheteroprio, refresh=20", "autoheteroprio", "refresh=20", False)]


def chain_row(trace):
    fastest, parts = {}, collections.Counter()
    for t in trace.tasks.values():
        fastest[t.codelet] = min(t.kernel, fastest.get(t.codelet, t.kernel))
    steps = list(trace.chain())
    for t in steps:
        parts["kernel"] += fastest[t.codelet]
        parts["slower"] += t.kernel - fastest[t.codelet]
        parts["queue"] += t.picked - t.ready
        parts[t.codelet] += t.picked - t.ready
        parts["behind"] += t.behind
        parts["data"] += t.data
    on_panel = sum(t.codelet != "gemm" for t in steps)
    ms = {part: f"{us / 1000:.0f}" for part, us in parts.items()}
    queue = f"{ms['queue']} ({' '.join(ms.get(k, '0') for k in CODELETS)})"
    return [f"{trace.makespan / 1000:.0f}", len(steps), on_panel, ms["kernel"], ms["slower"], queue, ms["behind"],
            ms["data"]]


def workers_row(trace):
    gpu = [t for t in trace.tasks.values() if not t.on_cpu]
    cpu = collections.Counter(t.codelet for t in trace.tasks.values() if t.on_cpu)
    time = trace.makespan * len({t.worker for t in gpu})
    busy, data = sum(t.kernel for t in gpu) / time, sum(t.data for t in gpu) / time
    queued = sum(t.picked - t.ready for t in trace.tasks.values()) / trace.makespan
    ends = {t.tile[0]: t.end / 1000 for t in trace.tasks.values() if t.codelet == "potrf"}
    return [f"{queued:.0f}", *(f"{100 * share:.0f}" for share in (busy, data, 1 - busy - data)),
            " ".join(str(cpu[k]) for k in CODELETS), " ".join(f"{ends[k]:.0f}" for k in (2, 5, 10, 15))]


def chain(heddle):
    for machine in SMALL:
        traces = [(name, heddle.trace(Problem(machine, 20), *run)) for name, *run in CHAIN_RUNS]
        print(f"`{machine}`\n")
        print_table(["run", "makespan, ms", "tasks in the chain", "not gemm", "kernels", "longer on slower workers",
                     f"in the queue ({' '.join(CODELETS)})", "behind another", "waiting for data"],
                    [[name, *chain_row(trace)] for name, trace in traces])
        print_table(["run", "ready tasks queued", "GPUs busy %", "waiting for data %", "without a task %",
                     f"CPUs ran {' '.join(CODELETS)}", "end of potrf 2 5 10 15, ms"],
                    [[name, *workers_row(trace)] for name, trace in traces])


def tries(heddle):
    runs = [("dmdas", "", True), ("dmdas", "", False), ("dmdas", "prefetch=no", True)]
    runs += [("multiprio", o, False) for o in ("", "share=yes", "eviction=no", "n=1", "n=64", "epsilon=0",
                                               "max_tries=100")]
    for machine in SMALL:
        files = [machine, heddle.fast_links(machine)]
        files += [heddle.changed(machine, f"pipeline-{n}", ("pipeline: 2", f"pipeline: {n}")) for n in (1, 3, 8)]
        rows = []
        for sched, options, expert in runs:
            name = ", ".join(filter(None, [sched, "priorities" if expert else "", options]))
            rows.append([name] + [f"{heddle.makespan(Problem(file, 20), sched, options, expert):.0f}"
                                  for file in files])
        print(f"`{machine}`, ms\n")
        print_table(["run", "as it is", "links 100 x faster", "pipeline 1", "pipeline 3", "pipeline 8"], rows)


# --- bytes: dada ------------------------------------------------------------------------------------------------------

BYTES_RUNS = [("heft", ""), ("heft", "steal=class"), ("dada", "cp=yes"), ("dada", "cp=yes,backlog=none"),
              ("dada", "cp=yes,alpha=1"), ("dada", "cp=yes,backlog=none,alpha=1"),
              ("dada", "cp=yes,backlog=none,alpha=1,steal=class"), ("dada", "cp=yes,backlog=none,alpha=1,steal=all"),
              ("laheteroprio", ""), ("dmdas", "")]


def moves(trace):
    """Transfers: the first of a tile that is still to be written, later ones of such, and those of finished tiles."""
    finished = {t.tile: t.end for t in trace.tasks.values() if t.codelet in ("potrf", "trsm")}
    seen, first, again, final = set(), 0, 0, 0
    for row in trace.transfers:
        tile = trace.tiles[int(row["id"])]
        if float(row["start_us"]) >= finished[tile]:
            final += 1
        elif tile in seen:
            again += 1
        else:
            first += 1
            seen.add(tile)
    return first, again, final


def readers(n, tile):
    """The tiles whose updates read this one once it is finished: of its row and its column."""
    m, column = tile
    row = [(m, j) for j in range(column + 1, m + 1)] if m > column else []
    return row + [(i, m if m > column else column) for i in range(m + (m == column), n)]


def fetches_at_random(n, gpus):
    """Expected fetches of finished tiles if the owner of each is drawn: each goes to other owners of its readers."""
    tiles = [(m, column) for column in range(n) for m in range(column, n)]
    return sum((gpus - 1) * (1 - (1 - 1 / gpus) ** len(set(readers(n, tile)))) for tile in tiles)


def fetches_on_grid(n, rows, columns):
    """The same if GPUs own tiles block-cyclically on a grid."""
    def owner(tile):
        return tile[0] % rows, tile[1] % columns
    tiles = [(m, column) for column in range(n) for m in range(column, n)]
    return sum(len({owner(t) for t in readers(n, tile)} - {owner(tile)}) for tile in tiles)


def bytes_rows(heddle, problem, gpus, grid):
    n, n_tiles = problem.tiles, problem.tiles * (problem.tiles + 1) // 2
    rows, of_heft = [], None
    for sched, options in BYTES_RUNS:
        trace = heddle.trace(problem, sched, options)
        first, again, final = moves(trace)
        total = first + again + final
        of_heft = of_heft or (trace.makespan, total)
        rows.append([f"{sched} {options}".strip(), f"{trace.makespan / of_heft[0]:.2f}", f"{total / of_heft[1]:.2f}",
                     first, again, final,
                     f"{final / n_tiles:.1f}"])
    on_grid = f"*grid {grid[0]} x {grid[1]}*"
    for name, final in ("*owners drawn*", fetches_at_random(n, gpus)), (on_grid, fetches_on_grid(n, *grid)):
        rows.append([name, "", f"{(n_tiles + final) / of_heft[1]:.2f}", n_tiles, 0, f"{final:.0f}",
                     f"{final / n_tiles:.1f}"])
    return rows


def measure_bytes(heddle):
    odd = r"^- \{.*c2050-[1357].*\n"
    four = heddle.changed("westmere-c2050", "4", (odd, ""))
    for machine, what, gpus, grid in (("westmere-c2050", "8 GPUs", 8, (2, 4)), (four, "4 GPUs", 4, (2, 2)),
                                      ("westmere-c2050-dada", "8 GPUs without links between GPUs", 8, (2, 4))):
        for problem in Problem(machine, 16, 512, "d"), Problem(machine, 20), Problem(machine, 40):
            precision = {"s": "single", "d": "double"}[problem.precision]
            print(f"{what}, {problem.tiles} tiles of {problem.tile} in {precision} precision\n")
            print_table(["run", "time / heft's", "bytes / heft's", "first", "again", "finished", "per tile"],
                        bytes_rows(heddle, problem, gpus, grid))


def main():
    tables = {"compare": compare, "chain": chain, "tries": tries, "bytes": measure_bytes,
              "asked": asked, "untuned": untuned, "readings": readings}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=tables)
    parser.add_argument("--heddle", default=os.path.join(ROOT, "build", "heddle"), help="the command; build/heddle")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables[options.table](Heddle(options.heddle, folder))


if __name__ == "__main__":
    main()
