#!/usr/bin/env python3
"""Words that must not be where they are: in code, by a table; paths of somebody's machine, anywhere."""
import re

from common import code_only, files, kept_files, read, report

LIBRARIES = ["src", "apps", "mpi", "research"]
ALL = ["include", "tools", *LIBRARIES, "examples", "bench", "tests"]
# pattern in code, folders looked at, files where it is allowed (a folder ends with /), why not
RULES = [
    (r"\b(?:secure_)?getenv\s*\(", LIBRARIES,
     ["src/base/variable.c"], "hd_getenv is for programs with more rights than their callers, too"),
    (r"\b(?:strto(?:d|f|ld)|atof|toupper|tolower)\s*\(", ["tools", *LIBRARIES], ["src/base/numbers.c"],
     "it follows the locale: src/base/numbers.c has what does not"),
    (r"\b(?:abort|exit|_exit|quick_exit|assert)\s*\(", LIBRARIES, [], "the library returns a status"),
    (r"\b(?:puts|printf|perror)\s*\(|\bstdout\b", ["src"], [], "the library prints nothing"),
    (r"\bstderr\b", LIBRARIES, ["src/inspect/dump.c", "src/base/lock.c", "src/start/reports.c"],
     "only the watchdog and reports print, and the assertions of builds with sanitizers"),
    (r"^\s*#\s*if\s+0\b", ALL, [],
     "delete it instead"),
    (r"\bvirtual_time\b|\bhd_engine_(?:virtual|threads)\b",
     ["src/" + room
      for room in ("state", "memory", "graph", "flow", "inspect", "adapt", "driver", "policies")],
     ["src/state/engine.h", "src/state/runtime.h"],
     "ask for the fact that matters: struct hd_engine has those in which engines differ"),
    (r"\b(?:sleep|usleep|nanosleep)\s*\(", ["tests"], ["tests/unit/program.h"],
     "a test that sleeps is slow, or fails on a slow machine"),
]
ORDER = re.compile(r"\bmemory_order_\w+|\b__ATOMIC_\w+")
UNFINISHED = r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"
PRINTED_REAL = r'\b(?:v?f|v?s|v?sn|v?as)printf\s*\([^;]*?%[-+#0 ]*[0-9*]*(?:\.[0-9*]*)?[aefg]\b'
MACHINE_PATH = r"(?<![\w.~$}\-])/(?:home|root|Users|wo" r"rk)/\w"


def search(pattern, text):
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield text.count("\n", 0, match.start()) + 1, match.group(0).strip()


def is_allowed(path, allowed):
    return any(path == a or (a.endswith("/") and path.startswith(a)) for a in allowed)


def check_rules(path, code):
    for pattern, folders, allowed, why in RULES:
        if any(path.startswith(folder + "/") for folder in folders) and not is_allowed(path, allowed):
            for line, found in search(pattern, code):
                yield f"{path}:{line}: {found}: {why}"


def check_orders(path, text, code):
    """An explicit memory order says, at most four lines above, what it pairs with. A run of such lines shares one."""
    lines, last_good = text.split("\n"), -9
    for number, line in enumerate(code.split("\n")):
        if not ORDER.search(line):
            continue
        if any("pairs" in above for above in lines[max(0, number - 4):number + 1]) or number - last_good <= 2:
            last_good = number
        else:
            yield f"{path}:{number + 1}: {ORDER.search(line).group(0)} without a comment that says what it pairs with"


def check_reals(path, text):
    """A number with a fraction is printed by what ignores the locale: src/base/numbers.c."""
    if path.startswith("src/") and path != "src/base/numbers.c":
        for line, _ in search(PRINTED_REAL, text):
            yield f"{path}:{line}: the fraction follows the locale: use hd_print, hd_print_into or hd_format"


def check_any_file(path, text):
    for pattern, why in ((UNFINISHED, "finish it or open an issue"), (MACHINE_PATH, "a path of one machine")):
        for line, found in search(pattern, text):
            yield f"{path}:{line}: {found}: {why}"


def main():
    problems = []
    for path in files(*ALL):
        text = read(path)
        code = code_only(text)
        problems += check_rules(path, code)
        if path.split("/")[0] in ("include", "src"):
            problems += check_orders(path, text, code)
        problems += check_reals(path, text)
    for path in kept_files():
        if not path.endswith((".png", ".pdf", ".gz")):
            problems += check_any_file(path, read(path))
    report("words", problems)


if __name__ == "__main__":
    main()
