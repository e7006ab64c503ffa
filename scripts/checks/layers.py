#!/usr/bin/env python3
"""Rooms of src/ know only the rooms below them: by what they include, and by the symbols that their objects use.

The table is the fenced block marked `layers` in docs/architecture.md, one line a room: "room: rooms that it may know".
Everybody may know base and the public headers. A line that ends with "public" is that of a room which is written as a
plug-in is: it may call the public functions heddle_* of every room.

    layers.py            looks at the includes
    layers.py OBJECTS    looks at the symbols, too: OBJECTS is a folder with the object files of src/
"""
import os
import re
import subprocess
import sys

from common import ROOT, files, read, report

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def load_table(text):
    """Maps each room to the set of rooms that it may know, among them itself."""
    block = re.search(r"^```layers\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    table = {}
    for line in block.group(1).splitlines() if block else []:
        room, _, allowed = line.partition(":")
        table[room] = set(allowed.split()) | {room, "base"}
    return table


def find_circle(table):
    """A circle among the rooms, as a list, or None."""
    done = set()

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        below = sorted(table[room] - {room}) if room in table and room not in done else []
        circles = [visit(other, path + [room]) for other in below if other in table]
        done.add(room)
        return next((c for c in circles if c), None)

    return next((c for c in (visit(room, []) for room in sorted(table)) if c), None)


def room_of(path):
    return path.split("/")[1]


def check_includes(path, text, table):
    room = room_of(path)
    if room not in table:
        yield f"{path}: the room {room} is not in the table of docs/architecture.md"
        return
    for name in INCLUDE.findall(text):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        target = beside if os.path.exists(os.path.join(ROOT, beside)) else "src/" + name
        if not target.startswith("src/"):
            yield f"{path}: includes {name}, outside src/"
        elif "/" in target[4:] and room_of(target) not in table[room]:
            yield f"{path}: includes {name}, but {room} may not know {room_of(target)}"


def check_symbols(defined, used, table):
    """`defined`: symbol -> file. `used`: file -> symbols. Files are src/, then a room"""
    for path, symbols in sorted(used.items()):
        room = room_of(path)
        for symbol in sorted(symbols):
            other = room_of(defined[symbol]) if symbol in defined else room
            public = "public" in table.get(room, ()) and symbol.startswith("heddle_")
            if other not in table.get(room, ()) and not public:
                yield f"{path}: uses {symbol} of {defined[symbol]}, but {room} may not know {other}"


def read_symbols(objects):
    """What the object files of sources that exist define and use."""
    paths = {}
    for folder, _, names in os.walk(objects):
        for name in names:
            source = re.search(r"src/[\w/]+\.c(?:pp)?(?=\.o$)", os.path.join(folder, name).replace(objects, "", 1))
            if source and os.path.exists(os.path.join(ROOT, source.group(0))):
                paths[os.path.join(folder, name)] = source.group(0)
    out = subprocess.run(["nm", "-A", "--", *paths], check=True, capture_output=True, text=True).stdout
    defined, used = {}, {}
    for line in out.splitlines():
        path, kind, symbol = re.match(r"(.*?\.o):\s*[0-9a-f]*\s+(\w)\s+(\S+)", line).groups()
        if kind == "U":
            used.setdefault(paths[path], set()).add(symbol)
        elif kind in "TDBRVW":
            defined[symbol] = paths[path]
    return defined, used


def main():
    table = load_table(read("docs/architecture.md"))
    problems = [] if table else ["docs/architecture.md: no block marked `layers`"]
    circle = find_circle(table)
    if circle:
        problems.append("docs/architecture.md: the rooms make a circle: " + " -> ".join(circle))
    for path in files("src"):
        problems += check_includes(path, read(path), table)
    if len(sys.argv) > 1:
        defined, used = read_symbols(sys.argv[1])
        if not defined:
            problems.append(f"{sys.argv[1]}: no object files of src/")
        problems += check_symbols(defined, used, table)
    report("layers", problems)


if __name__ == "__main__":
    main()
