#!/usr/bin/env python3
"""A function whose comment says that it is called with the lock held asserts it: HD_HELD(...), in developer builds.

The comment stands above the function, or above or behind its prototype. One that begins with the name of a .c file and
a colon speaks of all prototypes down to the next empty line.
"""
import re

from common import TOKENS, code_only, files, read, report

CLAIM = re.compile(r"(?:^|[.;:,] )(?:all )?under the (?:core )?lock(?=[.;:,]|$)|\block (?:is )?held\b", re.IGNORECASE)
OF_A_FILE = re.compile(r"^[^.]*\.c\)?[:,]")
DECLARED = re.compile(r"^[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;{}]*\)[^;{}()=]*[;{]", re.MULTILINE)
DEFINITION = re.compile(r"^[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\([^;{}]*\)\s*\{(.*?)^\}", re.MULTILINE | re.DOTALL)


def words_of(comment):
    return " ".join(re.sub(r"^/[*/]|\*/$|\n\s*\*", " ", comment).split())


def load_claims(path, text):
    """Yields (function, line of the comment) for all that are said to be called with the lock held."""
    code = code_only(text)
    for match in TOKENS.finditer(text):
        comment = words_of(match.group(0)) if match.group(0)[0] == "/" else ""
        if not CLAIM.search(comment):
            continue
        line = text.count("\n", 0, match.start()) + 1
        before = code[code.rfind("\n", 0, match.start()) + 1:match.start()]
        if before.strip(): # behind a prototype
            names = DECLARED.findall(code[code.rfind("\n", 0, match.start()) + 1:match.end()])
        elif OF_A_FILE.match(comment):
            names = DECLARED.findall(code[match.end():text.find("\n\n", match.end())])
        else:
            following = DECLARED.match(code, match.end() + 1)
            names = [following.group(1)] if following else []
        for name in names:
            yield name, line


def load_definitions(text):
    """Maps functions to their bodies."""
    return dict(DEFINITION.findall(code_only(text)))


def check(texts):
    bodies = {}
    for path, text in texts.items():
        for name, body in load_definitions(text).items():
            bodies.setdefault(name, []).append((path, body))
    for path, text in texts.items():
        for name, line in load_claims(path, text):
            there = [b for p, b in bodies.get(name, []) if p == path] or [b for _, b in bodies.get(name, [])]
            if there and not any(re.search(r"\bHD_HELD\s*\(", body) for body in there):
                yield f"{path}:{line}: {name} is said to be called with the lock held: HD_HELD() in it asserts that"


def main():
    report("locks", sorted(set(check({path: read(path) for path in files("src")}))))


if __name__ == "__main__":
    main()
