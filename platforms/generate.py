#!/usr/bin/env python3
"""Writes the platform files of this directory.

    platforms/generate.py CSV_DIR [OUT_DIR]

CSV_DIR holds starpu_kernel_times.csv and starpu_links.csv: the performance models that the StarPU project publishes
with its sources (tools/perfmodels/sampling) for the machines it calls sirocco and idgraf, as tables. OUT_DIR
defaults to the directory of this script. haswell-k40m, gpu1-cpu6 and westmere-c2050 come from them; intel-v100 and
amd-a100 are modelled from the constants below, and so are the kernels of all machines that nobody has measured there.
Same input, same output, byte for byte. docs/platforms.md describes the format.
"""
import collections
import csv
import os
import statistics
import sys
import textwrap

ELEMENT = {"s": 4, "d": 8}
CHOLESKY = ("potrf", "trsm", "syrk", "gemm")
N_TILES = {"potrf": 1, "trsm": 2, "syrk": 2, "gemm": 3, "getrf_nopiv": 1}  # tiles that each kernel works on
CUBES = {"potrf": 1 / 3, "trsm": 1, "syrk": 1, "gemm": 2, "getrf_nopiv": 2 / 3}  # operations over the cube of the tile


# --- Kernels that are modelled after others -----------------------------------------------------------------------

# time = latency + (flops + half) / gflops, in us, operations and 1e9 operations a second
Curve = collections.namedtuple("Curve", "gflops half latency")

# Per kind of worker and kernel: the kernel whose curve it takes, the share of that one's gflops and the multiple of its
# half_flops. ALIKE_NOTE says where the figures come from.
ALIKE = {
    "cpu": {
        "symm": ("gemm", 1, 1), "hemm": ("gemm", 1, 1), "herk": ("syrk", 1, 1), "trmm": ("gemm", 1, 1),
        "trtri": ("potrf", 1, 1), "lauum": ("potrf", 1, 1), "getrf_nopiv": ("potrf", 1, 2),
        "getrf_panel": ("gemm", 0.7, 1),
        "geqrt": ("gemm", 0.9, 1), "gemqrt": ("gemm", 0.5, 1), "tsqrt": ("gemm", 0.9, 1), "tsmqr": ("gemm", 0.5, 1),
        "ttqrt": ("gemm", 0.8, 1), "ttmqr": ("gemm", 0.44, 1)},
    "gpu": {
        "symm": ("gemm", 0.6, 1), "hemm": ("gemm", 0.6, 1), "herk": ("syrk", 1, 1), "trmm": ("gemm", 0.43, 1),
        "trtri": ("potrf", 1, 1), "lauum": ("potrf", 1, 1), "getrf_nopiv": ("potrf", 1, 2),
        "geqrt": ("gemm", 0.08, 1), "gemqrt": ("gemm", 0.27, 1), "tsqrt": ("gemm", 0.1, 1),
        "tsmqr": ("gemm", 0.31, 1), "ttqrt": ("gemm", 0.08, 1), "ttmqr": ("gemm", 0.27, 1)},
}
# On a C2050, the kernels for GPUs of that age.
ALIKE["c2050"] = {**ALIKE["gpu"], "gemqrt": ("gemm", 0.61, 1), "tsmqr": ("gemm", 0.77, 1), "ttmqr": ("gemm", 0.67, 1)}
PANELS = ("geqrt", "tsqrt", "ttqrt", "getrf_panel")  # column after column, as potrf
ORDER = ("gemm", "symm", "hemm", "syrk", "herk", "trsm", "trmm", "potrf", "trtri", "lauum", "getrf_nopiv",
         "getrf_panel", "laswp", "geqrt", "gemqrt", "tsqrt", "tsmqr", "ttqrt", "ttmqr")
HERMITIAN = ("hemm", "herk")  # real matrices have symm and syrk

ALIKE_NOTE = """\
Kernels given by gflops and half_flops are {what}: {base}. The others have a share of the gflops of one of these, and
its half_flops; geqrt, tsqrt, ttqrt and getrf_panel on a core have potrf's half_flops, if that is more.

Shares from what the Chameleon project publishes with its sources (simucore/perfmodels; tiles of 960 to 1600, single and
double precision, all cores busy; K40m, P100, V100 and RTX 8000 with the cores beside them, and the cores beside an
A100): the median of each kernel's rate over gemm's on the same processor. On a core symm, hemm and trmm 100 %, geqrt
and tsqrt (there tpqrt) 90 %, gemqrt (ormqr) and tsmqr (tpmqrt) 50 %; trtri and lauum as potrf. On a GPU symm and hemm
60 %, trmm 43 %, {updates}.

Shares from papers: ttqrt and ttmqr have 87 % of the rate of tsqrt and tsmqr (hierarchical QR, Dongarra et al.,
Parallel Computing 2013). On a GPU geqrt and ttqrt have 8 % and tsqrt 10 % of gemm's, as on the C1060 of Agullo et al.
(QR factorization on a multicore node enhanced with multiple GPU accelerators, IPDPS 2011).

Our estimates, for want of figures: getrf_panel has 70 % of gemm's rate on a core; on a GPU it has no time, since
libraries leave pivoting to the cores. {lu}On a GPU trtri and lauum are as potrf, and geqrt, tsqrt and ttqrt begin with
a delay as long as potrf's. laswp has no operations: it takes the bytes of its data divided by bandwidth_mbs ({laswp}).

Complex kernels: flops counts real operations, four times those of the real kernel, so that the curve is that of the
same real precision (c of s, z of d). At the same tile they run a little nearer to gflops."""

UPDATES = "gemqrt 27 %, tsmqr 31 %"
UPDATES_C2050 = ("but gemqrt 61 % and tsmqr 77 % as on the C1060 of Agullo et al., whose kernels were made for GPUs of "
                 "that age (Chameleon's: 27 and 31 %)")


def fitted(kernel, times):
    """The curve through {tile: us}: us = a + b * flops with the least sum of squares of relative errors, a >= 0."""
    points = [(CUBES[kernel] * n ** 3, us) for n, us in times.items()]
    one, x, xx = (sum((f ** k) / us ** 2 for f, us in points) for k in range(3))
    y, xy = sum(1 / us for _, us in points), sum(f / us for f, us in points)
    a = (y * xx - xy * x) / (one * xx - x * x)
    b = (one * xy - x * y) / (one * xx - x * x)
    if a < 0:
        a, b = 0, xy / xx
    return Curve(1e-3 / b, a / b, 0)


def rounded(value):
    """Three digits, without a point where none is needed."""
    digits = float(f"{value:.3g}")
    return int(digits) if digits == int(digits) else digits


def curve_line(codelet, class_name, curve):
    launch = f", latency_us: {curve.latency}" if curve.latency else ""
    return (f"- {{codelet: {codelet}, class: {class_name}, gflops: {rounded(curve.gflops)}, "
            f"half_flops: {rounded(curve.half)}{launch}}}")


def alike(kind, kernel, curves):
    """The curve of a kernel, from those in {kernel: Curve}; kind is a key of ALIKE."""
    if kernel in curves:
        return curves[kernel]
    like, share, times_half = ALIKE[kind][kernel]
    curve, potrf = curves[like], curves["potrf"]
    if kernel in PANELS and kind == "cpu":
        return Curve(share * curve.gflops, max(curve.half, potrf.half), 0)
    if kernel in PANELS:
        return Curve(share * curve.gflops, 0, rounded(potrf.latency + potrf.half / (1e3 * potrf.gflops)))
    return Curve(share * curve.gflops, times_half * curve.half, curve.latency)


def alike_lines(kind, class_name, curves, given, bandwidth):
    """The kernels that are not in `given`. curves: {"s" or "d": {kernel: Curve}}."""
    for precision in "sdcz":
        real = precision if precision in "sd" else {"c": "s", "z": "d"}[precision]
        for kernel in ORDER:
            if kernel == "laswp":
                yield f"- {{codelet: {precision}laswp, class: {class_name}, bandwidth_mbs: {bandwidth}}}"
            elif precision + kernel not in given and (kernel in curves[real] or kernel in ALIKE[kind]):
                if precision == real and kernel in HERMITIAN:
                    continue
                yield curve_line(precision + kernel, class_name, alike(kind, kernel, curves[real]))


# --- Measured machines --------------------------------------------------------------------------------------------

class Measurements:
    """The kernel times and links of one machine."""

    def __init__(self, folder, machine):
        with open(os.path.join(folder, "starpu_kernel_times.csv")) as f:
            self.rows = [r for r in csv.DictReader(f) if r["machine"] == machine and r["tile_k"] == r["tile_n"]]
        with open(os.path.join(folder, "starpu_links.csv")) as f:
            self.links = {(r["src"], r["dst"]): (float(r["bandwidth_MB_s"]), float(r["latency_us"]))
                          for r in csv.DictReader(f) if r["machine"] == machine}

    def samples(self, kernel, arch):
        """{tile: [(mean, samples) per device]}; identical GPUs are all "cuda"."""
        found = {}
        for r in self.rows:
            if r["kernel"] == kernel and (r["arch"] == arch or arch == "cuda" and r["arch"].startswith("cuda")):
                found.setdefault(int(r["tile_n"]), []).append((float(r["mean_us"]), int(r["nsamples"])))
        return dict(sorted(found.items()))

    def times(self, kernel, arch):
        """{tile: us}: the median of the devices' means, which an odd GPU or ten bad samples do not move."""
        return {n: statistics.median(m for m, _ in s) for n, s in self.samples(kernel, arch).items()}

    def dtrsm(self, arch):
        """Double-precision triangular solve, from the LU without pivoting. It has two, from the left and from the
        right. Cholesky solves from the right; on the CPU one of the two often rests on few samples (and is then up
        to five times slower than the other), so there each tile takes the one with more."""
        if arch != "cpu":
            return self.times("starpu_dlu_lu_model_trsm_ru", arch)
        left = self.samples("starpu_dlu_lu_model_trsm_ll", arch)
        right = self.samples("starpu_dlu_lu_model_trsm_ru", arch)
        return {n: max(left[n][0], right[n][0], key=lambda s: s[1])[0] for n in right}

    def kernels(self, arch):
        single = {k: self.times("chol_model_" + k, arch) for k in CHOLESKY}
        double = {"gemm": self.times("starpu_dlu_lu_model_gemm", arch), "trsm": self.dtrsm(arch)}
        double["syrk"] = {n: t / 2 for n, t in double["gemm"].items()}
        double["potrf"] = {n: t * max(1, double["trsm"][n] / single["trsm"][n]) for n, t in single["potrf"].items()}
        for precision, times in (("s", single), ("d", double)):
            times["getrf_nopiv"] = self.times(f"starpu_{precision}lu_lu_model_getrf", arch)
        return {"s": single, "d": double}


def table_lines(precision, kernel, class_name, times):
    yield f"- codelet: {precision}{kernel}"
    yield f"  class: {class_name}"
    yield "  table:"
    for n, us in times.items():
        yield f"  - {{bytes: {N_TILES[kernel] * n * n * ELEMENT[precision]}, us: {round(us, 3)}}}  # tile {n}"


def measured_kernel_lines(machine, gpu, bandwidths):
    """bandwidths: MB/s of laswp on a core and on a GPU."""
    kind = gpu if gpu in ALIKE else "gpu"
    classes = [("cpu", "cpu", machine.kernels("cpu")), (kind, gpu, machine.kernels("cuda"))]
    for kernels in CHOLESKY, ("getrf_nopiv",):
        for _, class_name, by_precision in classes:
            for precision in "sd":
                for kernel in kernels:
                    yield from table_lines(precision, kernel, class_name, by_precision[precision][kernel])
    given = [precision + kernel for precision in "sd" for kernel in CUBES]
    for (kind, class_name, by_precision), bandwidth in zip(classes, bandwidths):
        curves = {p: {k: fitted(k, t) for k, t in times.items()} for p, times in by_precision.items()}
        yield from alike_lines(kind, class_name, curves, given, bandwidth)


MEASURED_NOTE = """\
Kernel times: measured by the StarPU project on this very machine. Single precision (chol_model_*): spotrf, strsm,
sgemm are measured, ssyrk is exactly half of sgemm in the published models. Double precision: dgemm is
starpu_dlu_lu_model_gemm, dtrsm is that LU's triangular solve (on GPUs the one from the right, as in Cholesky; on
the CPU, per tile, the one of the two with more samples). Not measured, but modelled: dsyrk = dgemm / 2 as for
ssyrk; dpotrf = spotrf * max(1, dtrsm / strsm), since both are triangular and bound by latency on a GPU. GPUs are
identical and make one class: each time is the median of the GPUs' means (potrf on a GPU rests on some ten samples
each, which scatter up to fourfold).

getrf_nopiv: starpu_dlu_lu_model_getrf and starpu_slu_lu_model_getrf, measured. It is StarPU's own kernel, column by
column; a blocked one on a core, with potrf's rate, would be three to seven times as fast.

Memory of a GPU: 90 % of what CUDA reports, which is what StarPU gives to data.

Links: measured by StarPU one at a time, without contention."""

FITTED = ("gemm, potrf, trsm and syrk in complex precisions have the line us = a + b * flops that comes nearest to the "
          "real kernel's times")


def measured_note(laswp, updates=UPDATES):
    return MEASURED_NOTE + "\n\n" + ALIKE_NOTE.format(
        what="modelled, not measured on this machine", base=FITTED, laswp=laswp, updates=updates, lu="")


# --- Text ---------------------------------------------------------------------------------------------------------

def comment(text):
    """Each paragraph as YAML comment lines."""
    return [line for p in text.split("\n\n")
            for line in textwrap.wrap(" ".join(p.split()), 118, initial_indent="# ", subsequent_indent="# ")]


def folded(key, text):
    return [f"{key}: >-"] + textwrap.wrap(text, 120, initial_indent="  ", subsequent_indent="  ")


def link_line(source, target, bandwidth_latency, buses):
    bandwidth, latency = bandwidth_latency
    crossed = f", buses: [{', '.join(buses)}]" if buses else ""
    return f"- {{from: {source}, to: {target}, bandwidth_mbs: {bandwidth}, latency_us: {latency}{crossed}}}"


def worker_lines(cpu_runs, gpu_cores, gpu):
    """cpu_runs: (first core, how many) per socket; gpu_cores: the core that drives each GPU."""
    first = 0
    for core, count in cpu_runs:
        start = f"first: {first}, " if first else ""
        yield f"- {{name: cpu, count: {count}, {start}class: cpu, node: ram, core: {core}}}"
        first += count
    for i, core in enumerate(gpu_cores):
        yield f"- {{name: {gpu}-{i}, class: {gpu}, node: {gpu}-{i}, core: {core}}}"


# --- Clusters of cores --------------------------------------------------------------------------------------------

# Cojean et al. 2016, table 1: acceleration of kernels in double precision on 10 cores, {tile: factor}.
TEN_CORES = {"potrf": {960: 5.55, 1920: 7.48}, "trsm": {960: 6.75, 1920: 8.48}, "syrk": {960: 6.90, 1920: 8.63},
             "gemm": {960: 7.77, 1920: 8.56}}

HASWELL_CLUSTERS = """\
Speedups, for clusters of cores: dpotrf, dtrsm, dsyrk and dgemm on 10 cores as measured by Cojean et al. on a machine of
this kind (Resource aggregation for task-based Cholesky factorization on top of heterogeneous machines, HeteroPar 2016,
table 1), with tiles of 960 and 1920. All other kernels are modelled: k cores need us / k + (1 - 1 / k) * (latency +
bytes / bandwidth) for what one core does in us. With 12 GB/s that comes near to the table, from which bandwidths of 8
to 16 GB/s follow; it is a sixth of a socket's memory bandwidth of 68 GB/s. The latency, to wake the cores and to wait
for the last one, is our estimate.

Levels: two sockets; the paper speaks of four NUMA nodes (cluster on die) and of 30 MB of cache per processor."""

MODELLED_CLUSTERS = """\
Speedups, for clusters of cores, are modelled: k cores need us / k + (1 - 1 / k) * (latency + bytes / bandwidth) for
what one core does in us. The bandwidth has the share of a socket's memory bandwidth ({memory} GB/s) that it has on
haswell-k40m, where it is near to what was measured. The latency is our estimate."""


def level_line(name, *ranges):
    return f"- {{name: {name}, cores: [{', '.join(ranges)}]}}"


def law_lines(bandwidth):
    return ["speedups:", "- class: cpu", "  latency_us: 5", f"  bandwidth_mbs: {bandwidth}"]


def measured_speedup_lines():
    yield from law_lines(12000)
    for kernel, factors in TEN_CORES.items():
        yield f"- codelet: d{kernel}"
        yield "  class: cpu"
        yield "  cores: 10"
        yield "  factors:"
        for n, factor in factors.items():
            yield f"  - {{bytes: {N_TILES[kernel] * n * n * 8}, factor: {factor}}}  # tile {n}"


def platform(name, head, gpu, capacity_mib, workers, network, kernels):
    gpu_nodes = [w.split("node: ")[1].split(",")[0] for w in workers if f"class: {gpu}," in w]
    lines = ["# Written by platforms/generate.py; change that, not this."] + comment(head["note"])
    lines += ["version: 1", f"name: {name}"]
    lines += folded("description", head["description"]) + folded("source", head["source"])
    lines += ["nodes:", "- {name: ram, capacity_mib: 0}  # no limit"]
    lines += [f"- {{name: {n}, capacity_mib: {capacity_mib}}}" for n in gpu_nodes]
    lines += ["classes:", "- {name: cpu, kind: cpu}", f"- {{name: {gpu}, kind: cuda, pipeline: 2}}"]
    lines += ["workers:  # each GPU is driven by a core that runs nothing else"] + workers
    lines += network + ["kernels:"] + list(kernels) + ["levels:"] + head["levels"] + list(head["speedups"])
    return "\n".join(lines) + "\n"


# --- haswell-k40m, gpu1-cpu6 --------------------------------------------------------------------------------------

HASWELL_LEVELS = [level_line("socket", "0-11", "12-23"), level_line("numa", "0-5", "6-11", "12-17", "18-23"),
                  level_line("l3", "0-11", "12-23")]

HOST_NOTE = """\
Bus "host" is a model, the one StarPU gives SimGrid for this machine: everything that moves shares the best
bandwidth seen between main memory and a GPU."""


def one_host_network(machine, gpu, n_gpus):
    names = {"RAM": "ram", **{f"cuda{i}": f"{gpu}-{i}" for i in range(n_gpus)}}
    used = {pair: v for pair, v in machine.links.items() if pair[0] in names and pair[1] in names}
    best = max(v[0] for pair, v in machine.links.items() if "RAM" in pair)
    lines = ["buses:", f"- {{name: host, bandwidth_mbs: {best}}}", "links:"]
    return lines + [link_line(names[a], names[b], v, ["host"]) for (a, b), v in used.items()]


def haswell(folder):
    machine = Measurements(folder, "sirocco")
    source = ("Kernel times, link speeds and memory sizes measured by the StarPU project on the machine it calls "
              "sirocco (tools/perfmodels/sampling in its sources); dsyrk and dpotrf are modelled, ssyrk is half of "
              "sgemm there. Kernels that are neither of Cholesky nor of LU without pivoting are modelled.")
    kernels = list(measured_kernel_lines(machine, "k40m", (5000, 72000)))
    note = measured_note("5 GB/s on a core, a quarter of the memory's 288 GB/s on a K40m") + "\n\n" + HOST_NOTE
    note += "\n\n" + HASWELL_CLUSTERS
    clusters = {"levels": HASWELL_LEVELS, "speedups": list(measured_speedup_lines())}
    yield "haswell-k40m", platform(
        "haswell-k40m", {
            **clusters, "note": note, "source": source,
            "description": "2 x 12-core Haswell Xeon E5-2680 v3 and 4 Tesla K40m; 20 CPU workers, 1 core taken by "
                           "each GPU."},
        "k40m", 10367, list(worker_lines([(0, 10), (12, 10)], [10, 11, 22, 23], "k40m")),
        one_host_network(machine, "k40m", 4), kernels)
    yield "gpu1-cpu6", platform(
        "gpu1-cpu6", {
            **clusters, "note": note, "source": source,
            "description": "One K40m and 6 CPU workers out of haswell-k40m: small enough to read a schedule by eye."},
        "k40m", 10367, list(worker_lines([(0, 6)], [6], "k40m")),
        one_host_network(machine, "k40m", 1), kernels)


# --- westmere-c2050 -----------------------------------------------------------------------------------------------

TREE_NOTE = """\
Buses are a model, the one StarPU gives SimGrid for this machine: a tree of PCIe links, each with the best bandwidth
seen through it. Two GPUs share a switch (swN), two switches a host bridge (brN), and all traffic with main memory
and between the bridges shares "host". "through" is what a bridge passes in both directions together. Left out
because they never bind: the same of a switch, and what repeats a link below it. StarPU counts traffic between the
bridges twice on its host; here it counts once."""


def tree_route(a, b):
    """Buses on the way between two GPUs, or a GPU and None for main memory."""
    def up(gpu):
        return [f"gpu{gpu}-up", f"sw{gpu // 2}-up", f"br{gpu // 4}-through", f"br{gpu // 4}-up"]

    def down(gpu):
        return [f"br{gpu // 4}-down", f"br{gpu // 4}-through", f"sw{gpu // 2}-down", f"gpu{gpu}-down"]

    if a is None:
        return ["host"] + down(b)
    if b is None:
        return up(a) + ["host"]
    if a // 2 == b // 2:  # under one switch
        return [f"gpu{a}-up", f"gpu{b}-down"]
    if a // 4 == b // 4:  # under one bridge
        return up(a)[:3] + down(b)[2:]
    return up(a) + ["host"] + down(b)


def tree_network(machine, gpu):
    def number(node):
        return None if node == "RAM" else int(node[4:])

    def name(node):
        return "ram" if node == "RAM" else f"{gpu}-{number(node)}"

    best, links = {}, []
    for (a, b), v in machine.links.items():
        route = tree_route(number(a), number(b))
        links.append(link_line(name(a), name(b), v, route))
        for bus in route:
            if bus != "host" or "RAM" in (a, b):
                best[bus] = max(best.get(bus, 0), v[0])
    for bus in best:
        if bus.endswith("-through"):
            best[bus] = 2 * best[bus.replace("-through", "-up")]
    order = sorted(best, key=lambda bus: (["ho", "br", "sw", "gp"].index(bus[:2]), bus))
    return ["buses:"] + [f"- {{name: {b}, bandwidth_mbs: {round(best[b], 3)}}}" for b in order] + ["links:"] + links


NO_PEERS_NOTE = """\
westmere-c2050 without links between GPUs: data go from one GPU to another by way of main memory, as two transfers whose
bytes both count. For the figures of DADA (Bleuse et al., Euro-Par 2014), measured on such a machine: the paper reports
pairs of GPUs that share the bandwidth of one PCIe x16 as the only contention, names no way from GPU to GPU, and counts
the bytes of all transfers. It does not say outright that there was none; with the links, use westmere-c2050. The
paper's kernels were PLASMA's and MAGMA's on ATLAS and CUDA 5; those of this file are westmere-c2050's."""


def westmere(folder):
    machine = Measurements(folder, "idgraf")
    description = "2 x 6-core Westmere Xeon X5650 and 8 Tesla C2050; 4 CPU workers, 1 core taken by each GPU."
    source = ("Kernel times, link speeds, PCIe tree and memory sizes measured by the StarPU project on the machine it "
              "calls idgraf (tools/perfmodels/sampling in its sources); dsyrk and dpotrf are modelled, ssyrk is half "
              "of sgemm there. Kernels that are neither of Cholesky nor of LU without pivoting are modelled.")
    laswp = "3 GB/s on a core, a quarter of the memory's 144 GB/s on a C2050"
    note = measured_note(laswp, UPDATES_C2050) + "\n\n" + TREE_NOTE
    note += "\n\n" + MODELLED_CLUSTERS.format(memory=32)
    sockets = [level_line(name, "0-5", "6-11") for name in ("socket", "numa", "l3")]
    clusters = {"levels": sockets, "speedups": law_lines(5600)}
    network = tree_network(machine, "c2050")
    by_ram = [line for line in network if not line.startswith("- {from: c2050") or "to: ram" in line]
    workers = list(worker_lines([(0, 2), (6, 2)], [2, 3, 4, 5, 8, 9, 10, 11], "c2050"))
    kernels = list(measured_kernel_lines(machine, "c2050", (3000, 36000)))
    yield "westmere-c2050", platform(
        "westmere-c2050", {**clusters, "note": note, "description": description, "source": source},
        "c2050", 2418, workers, network, kernels)
    yield "westmere-c2050-dada", platform(
        "westmere-c2050-dada", {
            **clusters, "note": NO_PEERS_NOTE + "\n\n" + note, "source": source,
            "description": description + " GPUs exchange data by way of main memory, as in the DADA paper."},
        "c2050", 2418, workers, by_ram, kernels)


# --- intel-v100, amd-a100: modelled -------------------------------------------------------------------------------

# Per kernel: share of the peak reached by large tiles, work at which half of that is reached (double precision; twice
# that in single, where the same work lasts half as long), us to launch.
CPU_CURVE = {"potrf": (0.60, 2e7, 0), "trsm": (0.80, 4e6, 0), "syrk": (0.85, 4e6, 0), "gemm": (0.90, 4e6, 0)}
V100_CURVE = {"potrf": (0.10, 1.0e9, 50), "trsm": (0.50, 1.5e9, 20), "syrk": (0.80, 6e8, 10), "gemm": (0.90, 6e8, 10)}
A100_CURVE = {"potrf": (0.09, 1.3e9, 50), "trsm": (0.50, 2.2e9, 20), "syrk": (0.80, 9e8, 10), "gemm": (0.90, 9e8, 10)}

MODEL_NOTE = """\
Nothing here was measured on this machine. Kernels follow rate curves, time = latency + (flops + half_flops) /
gflops: gflops is a share of the public peak (gemm 90 %, syrk 80-85 %, trsm 50-80 %, potrf 60 % on a core and about
10 % on a GPU). The shares other than gemm's and half_flops are our estimates: on gemm tiles of 960 a GPU gets 66-75
% of its gflops in double precision and 50-60 % in single.

@ALIKE@

Memory of a GPU: 90 % of what CUDA reports.

Links: PCIe x16 at some 78 % of its nominal rate. Buses are a model: one PCIe link per GPU and direction, each GPU
under its own socket, which its copies from main memory and from the other GPU share."""


def model_note(laswp, memory):
    return (MODEL_NOTE + "\n\n" + MODELLED_CLUSTERS.format(memory=memory)).replace("@ALIKE@", ALIKE_NOTE.format(
        what="all of them", base="gemm, potrf, trsm and syrk as said above", laswp=laswp, updates=UPDATES,
        lu="getrf_nopiv has potrf's gflops at twice its half_flops. "))


def curves_of(constants, peak):
    """{"s" or "d": {kernel: Curve}}"""
    return {precision: {kernel: Curve(share * peak * factor, half * factor, latency)
                        for kernel, (share, half, latency) in constants.items()}
            for precision, factor in (("s", 2), ("d", 1))}


def curve_lines(class_name, curves):
    for precision, by_kernel in curves.items():
        for kernel, curve in by_kernel.items():
            launch = f", latency_us: {curve.latency}" if curve.latency else ""
            yield (f"- {{codelet: {precision}{kernel}, class: {class_name}, "
                   f"gflops: {round(curve.gflops, 1)}, half_flops: {curve.half:.0f}{launch}}}")


def modelled_kernel_lines(gpu, cpu_curves, gpu_curves, bandwidths):
    """bandwidths: MB/s of laswp on a core and on a GPU."""
    given = [precision + kernel for precision in "sd" for kernel in CHOLESKY]
    yield from curve_lines("cpu", cpu_curves)
    yield from curve_lines(gpu, gpu_curves)
    yield from alike_lines("cpu", "cpu", cpu_curves, given, bandwidths[0])
    yield from alike_lines("gpu", gpu, gpu_curves, given, bandwidths[1])


def pcie_network(gpu, host, peer):
    a, b = f"{gpu}-0", f"{gpu}-1"
    lines = ["buses:"] + [f"- {{name: {g}-{d}, bandwidth_mbs: {host[0]}}}" for g in (a, b)
                          for d in ("up", "down")] + ["links:"]
    for g in (a, b):
        lines += [link_line("ram", g, host, [f"{g}-down"]), link_line(g, "ram", host, [f"{g}-up"])]
    return lines + [link_line(a, b, peer, [f"{a}-up", f"{b}-down"]), link_line(b, a, peer, [f"{b}-up", f"{a}-down"])]


def modelled():
    yield "intel-v100", platform(
        "intel-v100", {
            "note": model_note("6 GB/s on a core, a quarter of the memory's 900 GB/s on a V100", 128),
            "levels": [level_line(name, "0-15", "16-31") for name in ("socket", "numa", "l3")],
            "speedups": law_lines(22600),
            "description": "2 x 16-core Xeon Gold 6142 and 2 V100 16 GB (PCIe); 30 CPU workers, 1 core taken by each "
                           "GPU.",
            "source": "Modelled. V100 PCIe: 7.0 Tflop/s fp64, 14.0 fp32, 16160 MiB; one Gold 6142 core: 32 fp64 "
                      "flop/cycle (AVX-512, 2 FMA) at 2.2 GHz, its all-core AVX-512 turbo = 70.4 Gflop/s fp64, 140.8 "
                      "fp32; PCIe gen3 x16 12.3 GB/s, 9 GB/s between GPUs across sockets."},
        "v100", 14544, list(worker_lines([(0, 15), (16, 15)], [15, 31], "v100")),
        pcie_network("v100", (12300, 10), (9000, 20)),
        modelled_kernel_lines("v100", curves_of(CPU_CURVE, 70.4), curves_of(V100_CURVE, 7000), (6000, 225000)))
    yield "amd-a100", platform(
        "amd-a100", {
            "note": model_note("6 GB/s on a core, a quarter of the memory's 1555 GB/s on an A100", 205),
            "levels": [level_line(name, "0-31", "32-63") for name in ("socket", "numa")] + [
                level_line("l3", *(f"{core}-{core + 3}" for core in range(0, 64, 4)))],
            "speedups": law_lines(36000),
            "description": "2 x 32-core EPYC 7513 (Zen 3) and 2 A100 40 GB (PCIe); 62 CPU workers, 1 core taken by "
                           "each GPU.",
            "source": "Modelled. A100: 9.7 Tflop/s fp64 and 19.5 fp32, both without tensor cores, 40536 MiB; one EPYC"
                      " 7513 core: 16 fp64 flop/cycle (AVX2, 2 FMA) at its base 2.6 GHz = 41.6 Gflop/s fp64, 83.2 "
                      "fp32; PCIe gen4 x16 24.5 GB/s, 18 GB/s between GPUs across sockets."},
        "a100", 36482, list(worker_lines([(0, 31), (32, 31)], [31, 63], "a100")),
        pcie_network("a100", (24500, 10), (18000, 20)),
        modelled_kernel_lines("a100", curves_of(CPU_CURVE, 41.6), curves_of(A100_CURVE, 9700), (6000, 389000)))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) == 3 else os.path.dirname(os.path.abspath(__file__))
    for group in (haswell(folder), westmere(folder), modelled()):
        for name, text in group:
            with open(os.path.join(out, name + ".yaml"), "w") as f:
                f.write(text)


if __name__ == "__main__":
    main()
