#!/usr/bin/env python3
"""Names and headers of src/ keep a reader's way short.

- A struct, an enum or a union hd_* is defined once: the same name for two things makes readers look at the wrong one.
- The include guard of a header is named after its path: src/state/task.h has HD_STATE_TASK_H.
- A header pulls at most MOST_PULLED other headers of src/, counted through all that it includes.
"""
import os
import re

from common import ROOT, files, read, report

MOST_PULLED = 10
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
DEFINED = re.compile(r"\b(?:struct|enum|union)\s+(hd_\w+)\s*\{")
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1$", re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def twice(texts):
    """`texts`: path -> text. Yields what is defined in two files."""
    first = {}
    for path, text in sorted(texts.items()):
        for name in DEFINED.findall(COMMENT.sub(" ", text)):
            if first.setdefault(name, path) != path:
                yield f"{path}: {name} is also defined in {first[name]}"


def wrong_guard(path, text):
    """What is wrong with the include guard of a header of src/; None: nothing."""
    guard = GUARD.search(text)
    wanted = "HD_" + re.sub(r"\W", "_", path.partition("/")[2]).upper()
    if not guard or guard.group(1) != wanted:
        return f"{path}: its include guard is {guard.group(1) if guard else 'missing'}, not {wanted}"
    return None


def included(path, text):
    for name in INCLUDE.findall(text):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        yield beside if os.path.exists(os.path.join(ROOT, beside)) else "src/" + name


def pulled(path, includes):
    """All headers that a header includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        for other in includes.get(todo.pop(), ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def main():
    texts = {path: read(path) for path in files("src") if path.endswith((".c", ".h"))}
    problems = list(twice(texts))
    problems += filter(None, (wrong_guard(path, text) for path, text in sorted(texts.items()) if path.endswith(".h")))
    includes = {path: list(included(path, text)) for path, text in texts.items()}
    for path in sorted(texts):
        n = len(pulled(path, includes)) if path.endswith(".h") else 0
        if n > MOST_PULLED:
            problems.append(f"{path}: pulls {n} headers of src/, at most {MOST_PULLED}")
    report("structure", problems)


if __name__ == "__main__":
    main()
