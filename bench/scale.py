"""The tables of the bench `scale`, and a model of what it would measure with more workers."""
import statistics

OURS = "heddle"
PEER = "libgomp"
LOOP = ("no runtime", "")  # what the machine takes of any runtime's kernels
MODELLED = (32, 64, 128)
MODELLED_LENGTHS = ("5us", "10us", "20us")
# How many times as long a cache line takes between sockets as within one, in the second half of the model.
FARTHER = 3

MODEL = f"""
The figures below are a MODEL, not measurements. W workers run tasks of length L, and each task also needs c us of the
core, which serves one worker at a time, and o us elsewhere. Workers then wait for the core as in a closed queue with
one server and constant times of service (the machine repairman, by mean value analysis), for n = 1 ... W:

    R(n) = c (1 + Q(n-1) - U(n-1) / 2)    time to pass the core     X(n) = n / (L + o + R(n))    tasks per us
    Q(n) = X(n) R(n)    workers at the core                         U(n) = X(n) c    how busy the core is
    efficiency = X(W) L / W, at most 1 / c x L / W; if one thread submits all, X(W) is at most 1 / s

c(W) = c(1) + (d + e h) (W - 1) / W. A share (W - 1) / W of entries follows one of another worker and finds cache lines
elsewhere: d is what that adds to the time in the core, by the measured c(1) and c(m), m being the most workers
measured; before that the lock's own line arrives, h, a measured move of a line, at each of e entries per task. o is the
overhead measured with m workers less c(m), so what they waited for each other is counted twice. s is the measured time
of one submission. Assumed: work is never short, workers come to the core at random, memory and caches serve all alike,
o does not grow with W. "far" is the same where a line takes {FARTHER} times as long, as between sockets;
{FARTHER} is assumed, too."""


class Figures:
    """What was measured: medians, and ratios within rounds."""

    def __init__(self, raw):
        self.values = {}  # (kind, workers, what, unit) -> (family, variant) -> round -> value
        for _, case, workers, unit, family, variant, number, value in raw:
            kind, _, what = case.rsplit("_", 2)
            key = kind, int(workers), what, unit
            self.values.setdefault(key, {}).setdefault((family, variant), {})[number] = float(value)

    def median(self, key, who):
        rounds = self.values.get(key, {}).get(who)
        return statistics.median(rounds.values()) if rounds else None

    def worst(self, key, who):
        rounds = self.values.get(key, {}).get(who)
        return max(rounds.values()) if rounds else None

    def least(self, what, unit):
        """Of all that was ever measured by that name."""
        return min((v for (_, _, w, u), by_who in self.values.items() if (w, u) == (what, unit)
                    for rounds in by_who.values() for v in rounds.values() if v > 0), default=None)

    def ratio(self, key, ours, peer):
        """The median of what the rounds say: slow phases of the machine strike both sides of a round."""
        a, b = self.values.get(key, {}).get(ours, {}), self.values.get(key, {}).get(peer, {})
        ratios = [a[n] / b[n] for n in a if b.get(n)]
        return statistics.median(ratios) if ratios else None

    def ratio_of_medians(self, key, ours, peer, less=None):
        """The median of all of ours to the peer's; that of `less` is first taken off both."""
        a, b = self.median(key, ours), self.median(key, peer)
        off = self.median(key, less) if less else 0
        return (a - off) / (b - off) if None not in (a, b, off) and min(a, b) > off else None

    def who(self, kind, workers):
        """Those that ran this in the most rounds: others were dropped after the first."""
        found = {}
        for (k, w, _, _), by_who in self.values.items():
            if (k, w) == (kind, workers):
                for who, rounds in by_who.items():
                    found[who] = max(found.get(who, 0), len(rounds))
        return [who for who, n in found.items() if n == max(found.values())]

    def best(self, kind, workers, family, what="mean", unit="us"):
        medians = {who: self.median((kind, workers, what, unit), who)
                   for who in self.who(kind, workers) if who[0] == family}
        medians = {who: m for who, m in medians.items() if m is not None}
        return min(medians, key=medians.get) if medians else None

    def settings(self):
        """(kind, workers) in the order of the runs."""
        return list(dict.fromkeys((kind, workers) for kind, workers, _, _ in self.values))

    def lengths(self, kind, workers, unit):
        """The names of lengths, "5us", as they came."""
        return [what for k, w, what, u in self.values if (k, w, u) == (kind, workers, unit) and what.endswith("us")]


def text(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def name(who):
    return " ".join(who).strip()


def print_rows(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * w for w in widths])
    for row in rows:
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |")
    print()


def ratio_rows(figures, kind, workers, who, peer):
    keys = [(kind, workers, length) for length in figures.lengths(kind, workers, "us")]
    rows = [[f"{name(who)} / {name(peer)}"] + [text(figures.ratio((*key, "us"), who, peer)) for key in keys]]
    for what, unit, less in (("beyond " + name(LOOP), "us", LOOP), ("lines near", "us near", None),
                             ("lines far", "us far", None)):
        ratios = [figures.ratio_of_medians((*key, unit), who, peer, less) for key in keys]
        if any(ratio is not None for ratio in ratios):
            rows.append([f"    {what}"] + [text(ratio) for ratio in ratios])
    return rows


def print_overhead(figures, kind, workers):
    lengths = figures.lengths(kind, workers, "us")
    rows = [["overhead, us (efficiency)"] + lengths]
    for who in figures.who(kind, workers):
        row = [name(who)]
        for length in lengths:
            cell = text(figures.median((kind, workers, length, "us"), who))
            efficiency = figures.median((kind, workers, length, "efficiency"), who)
            row.append(cell + (f" ({efficiency:.0%})" if efficiency is not None else ""))
        rows.append(row)
    peer = figures.best(kind, workers, PEER)
    for who in figures.who(kind, workers):
        if peer and who[0] == OURS:
            rows += ratio_rows(figures, kind, workers, who, peer)
    print(f"#### {kind}, {workers} worker{'s' * (workers > 1)}\n")
    print_rows(rows)


def print_core(figures):
    rows, header = [], None
    for kind, workers in figures.settings():
        lengths = figures.lengths(kind, workers, "core entries")
        for who in figures.who(kind, workers) if lengths else []:
            entries = [figures.median((kind, workers, length, "core entries"), who) for length in lengths]
            if any(e is not None for e in entries):
                header = header or lengths
                times = [figures.median((kind, workers, length, "core us"), who) for length in lengths]
                rows.append([f"{name(who)}, {kind}, {workers}"] +
                            [f"{text(e)}, {text(t, 3)}" for e, t in zip(entries, times)])
    if rows:
        print("#### Entries of the core per task, and time in the core per task, us\n")
        print_rows([["who, what, workers"] + header] + rows)


def print_calls(figures):
    rows, header = [], None
    for kind, workers in figures.settings():
        lengths = figures.lengths(kind, workers, "calls")
        for who in figures.who(kind, workers) if lengths else []:
            header = header or lengths
            calls = [figures.median((kind, workers, length, "calls"), who) for length in lengths]
            inside = [figures.worst((kind, workers, length, "calls in the core"), who) for length in lengths]
            if inside[0] is not None:
                rows.append([f"{name(who)}, {kind}, {workers}"] +
                            [f"{text(a, 4)}, {text(i, 0)}" for a, i in zip(calls, inside)])
    if rows:
        print("#### System calls per task; the most in the core in any run\n")
        print_rows([["who, what, workers"] + header] + rows)


def print_metg(figures):
    rows = [["METG(50 %)", "us", "kernel, us", "ratio to " + PEER]]
    for kind, workers in figures.settings():
        key = kind, workers, "metg", "us"
        if key not in figures.values or kind.endswith("_kernel"):
            continue
        peer = figures.best(kind, workers, PEER, "metg")
        for who in figures.who(kind, workers):
            kernel = figures.median((kind + "_kernel", workers, "metg", "us"), who)
            rows.append([f"{name(who)}, {kind}, {workers} workers", text(figures.median(key, who)), text(kernel),
                         text(figures.ratio(key, who, peer) if peer else None)])
    if len(rows) > 1:
        print("#### METG(50 %): threads x wall time per task at an efficiency of 50 %\n")
        print_rows(rows)


# --- The model --------------------------------------------------------------------------------------------------------

def closed_queue(workers, length, outside, core):
    """Tasks per us of `workers` that share a core: mean value analysis, constant service."""
    queue, busy, rate = 0.0, 0.0, 0.0
    for n in range(1, workers + 1):
        passing = core * (1 + queue - busy / 2)
        rate = n / (length + outside + passing)
        if core > 0:
            rate = min(rate, 1 / core)
        queue, busy = rate * passing, rate * core
    return rate


def model_rows(figures, who, counts, length):
    """What the model says for tasks of one length, "5us", under one policy; None if a figure is missing."""
    most = counts[-1]
    core = {n: figures.median(("pool", n, length, "core us"), who) for n in counts}
    overhead = figures.median(("pool", most, length, "us"), who)
    entries = figures.median(("pool", most, length, "core entries"), who)
    line = figures.least("line", "us")  # far more where the system put both threads on one core
    submission = figures.median(("pool", most, "submission", "us"), who)
    if None in (core[1], core[most], overhead, entries, line, submission):
        return None
    moving = max(core[most] - core[1], 0) * most / (most - 1) if most > 1 else 0
    outside, us = max(overhead - core[most], 0), float(length.removesuffix("us"))
    rows = []
    for label, factor in (("near", 1), ("far", FARTHER)):
        cells = []
        for workers in MODELLED:
            c = core[1] + factor * (moving + entries * line) * (workers - 1) / workers
            rate = closed_queue(workers, us, outside, c)
            single = min(rate, 1 / submission) if submission > 0 else rate
            cells.append(f"{rate * us / workers:.0%} ({single * us / workers:.0%})")
        rows.append([f"{who[1]} {label}, {length}", text(core[1], 3), text(moving, 3), text(entries * line, 3),
                     text(outside, 3), text(submission, 3)] + cells)
    return rows


def print_model(figures):
    counts = sorted({w for kind, w, _, unit in figures.values if (kind, unit) == ("pool", "core us")})
    rows = []
    for who in figures.who("pool", counts[-1]) if counts else []:
        for length in MODELLED_LENGTHS if who[0] == OURS else ():
            rows += model_rows(figures, who, counts, length) or []
    print("#### Model of more workers: efficiency, and in brackets if one thread submits all")
    print(MODEL + "\n")
    if rows:
        print_rows([["model", "c(1)", "d", "e h", "o", "s"] + [f"{w} workers" for w in MODELLED]] + rows)
    else:
        print("No model: the time in the core was not measured.\n")


def report(bench, about):
    figures = Figures(bench.raw)
    print(f"\n### {bench.name}: {about}\n")
    for kind, workers in figures.settings():
        if (kind, workers, "mean", "us") in figures.values:
            print_overhead(figures, kind, workers)
    print_core(figures)
    print_calls(figures)
    print_metg(figures)
    print_model(figures)
