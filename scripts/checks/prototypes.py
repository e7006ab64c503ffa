#!/usr/bin/env python3
"""What several files use is declared once, in a header: no prototype in a .c file, and no #include of a .c file.

A .c file may declare a function of its own beforehand when functions call each other in a circle, and to give it an
attribute; a declaration that makes an alias is its definition.
"""
import re

from common import code_only, kept_files, read, report

PROTOTYPE = re.compile(r"^(?!typedef\b|return\b)([A-Za-z_][\w\s*]*?[\s*])(\w+)\s*\(([^;{}=]*)\)([^;{}=()]*);",
                       re.MULTILINE)
DEFINITION = re.compile(r"^[A-Za-z_][^;{}]*=[^;]*?;|^[A-Za-z_][^;{}]*?\{.*?^\}", re.MULTILINE | re.DOTALL)
DEFINED = re.compile(r"(\w+)\s*(?:\(|\[|=)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]*\.c)[">]', re.MULTILINE)


def load_uses(code):
    """Maps each function, and each variable with a value, to the words in its definition."""
    uses = {}
    for match in DEFINITION.finditer(code):
        name = DEFINED.search(match.group(0))
        if name:
            uses[name.group(1)] = set(re.findall(r"\w+", match.group(0)[name.end():]))
    return uses


def is_in_circle(name, uses):
    seen, reached = set(), set(uses.get(name, ()))
    while reached:
        word = reached.pop()
        if word == name:
            return True
        if word not in seen:
            seen.add(word)
            reached |= uses.get(word, set())
    return False


def check_file(path, text):
    code = code_only(text)
    for match in INCLUDE.finditer(text):
        if code[match.start():match.end()].strip(): # not in a comment
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: includes {match.group(1)}: link it instead"
    if not path.endswith(".c"):
        return
    uses = load_uses(code)
    for match in PROTOTYPE.finditer(code):
        storage, name, rest = match.group(1), match.group(2), match.group(3) + match.group(4)
        where = f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {name}"
        if name == "__attribute__" or re.search(r"__attribute__\s*\(\(alias\b", match.group(0)):
            continue
        if "static" not in storage.split():
            yield f"{where}: its prototype belongs in a header"
        elif "__attribute__" not in rest and not is_in_circle(name, uses):
            yield f"{where}: declared beforehand without need: define it there"


def main():
    paths = [path for path in kept_files() if path.endswith((".c", ".h", ".cpp", ".hpp"))]
    report("prototypes", [problem for path in paths for problem in check_file(path, read(path))])


if __name__ == "__main__":
    main()
