#!/usr/bin/env python3
"""Counts the climbs of a task: the places where its way leads from a room of src/ up to a higher one.

A climb is a call of a function of one of the three tables by which lower rooms call upper ones, struct hd_flow_calls,
struct hd_engine and struct hd_adapt, or of the one such function outside them, heddle_runtime.retire_task. layers.py
finds every other call of an upper room. Policies, drivers and rules of eviction lie in lower rooms than their
callers, or in the same room, so a call of their functions is no climb.

Two ways are walked, by the steps of "The life of one task" in docs/architecture.md:

    insertion  steps 1 and 2: from heddle_submit to the places of the task in the access chains
    end        steps 7 and 8: from hd_core_conclude to the return of the task's memory

A way reaches each function that a function on it calls or names, in any branch, however rare: hierarchical tasks,
steps of layouts and reductions count. It does not go on through a table, nor into the functions of ELSEWHERE, where
another step begins or where something is done for all tasks. Calls are found in the text of the sources.

    climbs.py --list     names each place, and how the way leads there
"""
import re
import sys

from common import code_only, files, read, report

MOST_PLACES = 7  # in all of src/ that call src/flow through its table
# Steps 7 and 8: of a task that ends because another one is inserted, or of one that is refused.
ENDS = ("hd_core_end", "hd_core_end_expanded", "hd_task_unref")
WAYS = (  # name, where it begins, where it does not go on, most climbs
    ("insertion", "heddle_submit_items", ENDS, 6),
    ("end", "hd_core_conclude", (), 8),
)
ELSEWHERE = (
    "on_ready", "hd_core_on_ready",               # step 3: a task is ready
    "hd_core_run_controls",                       # step 3: the work of controls
    "hd_core_settle", "hd_core_settle_quietly",   # step 4: ready tasks are given to workers
    "hd_prefetch_wanted",                         # step 4: prefetches that waited for the writer of a datum
    "hd_core_leave",                              # errands, for all tasks, when the core lock is given back
    "hd_throttle",                                # the thread waits for room in the window
)
TABLES = {"flow": ("src/state/flow_calls.h", "hd_flow_calls"), "engine": ("src/state/engine.h", "hd_engine"),
          "adapt": ("src/state/adapt_hooks.h", "hd_adapt")}

LONE = re.compile(r"->(retire_task)\(")

ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
FUNCTION = re.compile(r"^([A-Za-z_][^;={}()]*?)\b(\w+)(\s*\([^;{}]*\)\s*)\{", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(((?:.*\\\n)*.*)", re.MULTILINE)
NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
MEMBER = re.compile(r"\(\*(\w+)\)\s*\(")


def functions_of(path, text):
    """Yields (name, parameters and body, whether other files can call it) of functions and macros."""
    code = ATTRIBUTE.sub(" ", code_only(text))
    for match in FUNCTION.finditer(code):
        body = code[match.start(3):code.find("\n}", match.end())]
        yield match.group(2), body, path.endswith(".h") or "static" not in match.group(1).split()
    for match in MACRO.finditer(code):
        yield match.group(1), match.group(2), path.endswith(".h")


class Source:
    """`texts`: path -> text of all sources. A function is (path, name)."""

    def __init__(self, texts):
        self.bodies, self.shared = {}, {}
        for path, text in sorted(texts.items()):
            for name, body, shared in functions_of(path, text):
                self.bodies[path, name] = self.bodies.get((path, name), "") + body
                if shared:
                    self.shared.setdefault(name, []).append((path, name))

    def find(self, name):
        """The functions of that name, whoever can call them."""
        return [f for f in self.bodies if f[1] == name]

    def called(self, function):
        path, _ = function
        for name in NAME.findall(self.bodies[function]):
            if (path, name) in self.bodies:
                yield path, name
            else:
                yield from self.shared.get(name, ())

    def reached(self, start, stops):
        """Maps each function that a way reaches to the one from which it does."""
        before = dict.fromkeys(self.find(start))
        todo = list(before)
        while todo:
            function = todo.pop(0)
            for other in self.called(function):
                if other not in before and other[1] not in stops:
                    before[other] = function
                    todo.append(other)
        return before


def calls_of_table(body, table, struct, members):
    """The functions of a table that a body calls, one for each place: by the name of the table, or by a variable."""
    holders = {table, *re.findall(rf"\bstruct {struct}\s*\*\s*(?:const\s+)?(\w+)", body)}
    place = rf"(?:\b|->|\.)(?:{'|'.join(sorted(holders))})(?:->|\.)({'|'.join(members)})\("
    return re.findall(place, body)


def climbs_in(body, tables):
    """`tables`: name -> (struct, members)."""
    return [f"{table}: {member}" for table, (struct, members) in tables.items()
            for member in calls_of_table(body, table, struct, members)] + LONE.findall(body)


def way_to(function, before):
    names = []
    while function:
        names.append(function[1])
        function = before[function]
    return " <- ".join(names)


def main():
    source = Source({path: read(path) for path in files("src")})
    tables = {name: (struct, MEMBER.findall(code_only(read(path)))) for name, (path, struct) in TABLES.items()}
    starts = [start for _, start, _, _ in WAYS]
    problems = [f"there is no function {name}: see the list in climbs.py"
                for name in (*starts, *ENDS, *ELSEWHERE) if not source.find(name)]
    for way, start, stops, most in WAYS:
        before = source.reached(start, (*ELSEWHERE, *stops))
        places = [(climb, f) for f in before for climb in climbs_in(source.bodies[f], tables)]
        listed = [f"  {climb} in {f[0]}: {way_to(f, before)}" for climb, f in sorted(places)]
        n_files = len({path for path, _ in before})
        print(f"{way}: {len(places)} climbs, at most {most}; {len(before)} functions of {n_files} files")
        if "--list" in sys.argv:
            print(*listed, sep="\n")
        if len(places) > most:
            problems.append(f"{way}: {len(places)} climbs, at most {most}:\n" + "\n".join(listed))
    n = sum(len(calls_of_table(body, "flow", *tables["flow"])) for body in source.bodies.values())
    if n > MOST_PLACES:
        problems.append(f"{n} places call src/flow from below, at most {MOST_PLACES}")
    report("climbs", problems)


if __name__ == "__main__":
    main()
