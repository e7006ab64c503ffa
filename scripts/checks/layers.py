#!/usr/bin/env python3
"""Modules of src/ include only those that the table in docs/architecture.md allows.

The table is its fenced block marked `layers`: one line per layer, "module module ...: module module ...". Modules on
the left of one line may include each other, those on the right, and base; the public headers are everyone's.
"""
import os
import re

from common import ROOT, files, read, report

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def load_table(text):
    """Maps each module to (its layer, the modules it may include); a layer is the text left of the colon."""
    block = re.search(r"^```layers\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    table = {}
    for line in block.group(1).splitlines() if block else []:
        layer, _, allowed = line.partition(":")
        for module in layer.split():
            table[module] = layer, set(allowed.split()) | set(layer.split()) | {"base"}
    return table


def find_circle(table):
    """A circle among the layers, as a list, or None."""
    below = {layer: {table[m][0] for m in allowed if m in table} - {layer} for layer, allowed in table.values()}
    done = set()

    def visit(layer, path):
        if layer in path:
            return path[path.index(layer):] + [layer]
        circles = [] if layer in done else [visit(other, path + [layer]) for other in sorted(below[layer])]
        done.add(layer)
        return next((c for c in circles if c), None)

    return next((c for c in (visit(layer, []) for layer in sorted(below)) if c), None)


def check_file(path, text, table):
    module = path.split("/")[1]
    if module not in table:
        yield f"{path}: module {module} is not in the table of docs/architecture.md"
        return
    for name in INCLUDE.findall(text):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        target = beside if os.path.exists(os.path.join(ROOT, beside)) else "src/" + name
        other = target.split("/")[1] if target.startswith("src/") and "/" in name else module
        if not target.startswith("src/"):
            yield f"{path}: includes {name}, outside src/"
        elif other not in table[module][1]:
            yield f"{path}: includes {name}, but {module} may not use {other}"


def main():
    table = load_table(read("docs/architecture.md"))
    problems = [] if table else ["docs/architecture.md: no block marked `layers`"]
    circle = find_circle(table)
    if circle:
        problems.append("docs/architecture.md: the layers make a circle: " + " -> ".join(circle))
    for path in files("src"):
        problems += check_file(path, read(path), table)
    report("layers", problems)


if __name__ == "__main__":
    main()
