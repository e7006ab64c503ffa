#!/usr/bin/env python3
"""docs/rooms.md names each source file of src/ once, with what the file is for, and no file that is not there.

A file's line begins with its name in backquotes and stands under the heading of its folder:

    ## `src/flow/`

    - `inlet.c` is the ring of submitted tasks.
"""
import re

from common import files, read, report

DOCUMENT = "docs/rooms.md"
SUFFIXES = (".c", ".cpp")
HEADING = re.compile(r"^## (?:`(src/(?:[\w-]+/)+)`)?")
LINE = re.compile(r"^- `([^`]+)` *(.*)")
FEWEST_WORDS = 3  # of a line that says what a file is for


def lines_of(text):
    """The path of each file that the text names, and what it says of that file."""
    room = None
    for line in text.splitlines():
        heading, named = HEADING.match(line), LINE.match(line)
        if heading:
            room = heading.group(1)
        elif named and room:
            yield room + named.group(1), named.group(2)


def problems_of(text, sources):
    """What is wrong with the text if these are the paths of the source files."""
    named = {}
    for path, what in lines_of(text):
        if path in named:
            yield f"{DOCUMENT}: {path} is named twice"
        elif path not in sources:
            yield f"{DOCUMENT}: {path} is not there"
        elif len(what.split()) < FEWEST_WORDS:
            yield f"{DOCUMENT}: nothing is said of what {path} is for"
        named[path] = what
    for path in sources:
        if path not in named:
            yield f"{path}: {DOCUMENT} does not say what it is for"


def main():
    report("rooms", list(problems_of(read(DOCUMENT), files("src", suffixes=SUFFIXES))))


if __name__ == "__main__":
    main()
