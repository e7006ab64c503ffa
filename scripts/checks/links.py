#!/usr/bin/env python3
"""Links of Markdown documents lead somewhere: links.py DIRECTORY checks those below it, installed ones for example.

Each link names a file that is there, relative to its document; what follows a # is a heading of that document.
Addresses of the web are not looked up.
"""
import os
import re
import sys

from common import report

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def anchor(heading):
    """What a page of documents calls this heading in its address."""
    text = re.sub(r"[^\w\- ]", "", heading.lower())
    return text.replace(" ", "-")


def prose(path):
    with open(path, encoding="utf-8") as f:
        return FENCE.sub("", f.read())


def broken_links(path):
    """The links of one document that lead nowhere."""
    for link in LINK.findall(prose(path)):
        if re.match(r"\w+:", link):
            continue
        name, _, part = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(target):
            yield f"link to {link}, which is not there"
        elif part and part not in {anchor(h) for h in HEADING.findall(prose(target))}:
            yield f"link to {link}: {os.path.basename(target)} has no such heading"


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    problems, found = [], 0
    for where, _, names in os.walk(sys.argv[1]):
        for path in sorted(os.path.join(where, n) for n in names if n.endswith(".md")):
            found += 1
            problems += [f"{path}: {problem}" for problem in broken_links(path)]
    report("links", problems if found else [f"{sys.argv[1]}: no document there"])


if __name__ == "__main__":
    main()
