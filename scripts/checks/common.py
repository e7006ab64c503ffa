"""What the checks share: finding files, C without its comments, reporting."""
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def files(*folders, suffixes=(".c", ".h")):
    """Paths relative to ROOT of the files below `folders` with one of the suffixes, sorted."""
    found = []
    for folder in folders:
        for where, below, names in os.walk(os.path.join(ROOT, folder)):
            if "CMakeCache.txt" in names:  # a build folder, whatever its name
                below[:], names = [], []
            below[:] = [b for b in below if not b.startswith(".") and b not in ("build", "__pycache__")]
            found += [os.path.relpath(os.path.join(where, n), ROOT) for n in names if n.endswith(tuple(suffixes))]
    return sorted(found)


def kept_files():
    """All files that are or would be committed; without git, all outside build folders."""
    try:
        done = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"],
                              cwd=ROOT,
                              capture_output=True, check=True)
        return sorted(p for p in done.stdout.decode().split("\0") if p and os.path.isfile(os.path.join(ROOT, p)))
    except (OSError, subprocess.CalledProcessError):
        return files(".", suffixes=("",))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_only(text):
    """C text with comments, strings and characters blanked out; lines stay where they are."""
    def blank(match):
        token = match.group(0)
        if token[0] in "\"'":
            return token[0] + " " * (len(token) - 2) + token[0]
        return re.sub(r"[^\n]", " ", token)
    return TOKENS.sub(blank, text)


def report(check, problems):
    """Prints the problems; the exit status is 1 when there are any."""
    for problem in problems:
        print(problem)
    print(f"{check}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
