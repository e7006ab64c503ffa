#!/usr/bin/env python3
"""C and C++ are formatted as .clang-format says; no line of code, scripts included, is over 120 columns.

A tab goes to the next multiple of 8, and an address of the web is as long as it is. The formatter is that of Debian 12,
since others format differently: without it the exit status is 77, which tests use to say that they are left out.
"""
import os
import re
import subprocess
import sys

from common import ROOT, kept_files, read, report

VERSION, COLUMNS = 14, 120
FORMATTED = (".c", ".h", ".cpp", ".hpp")
CODE = FORMATTED + (".py", ".sh", ".cmake", "CMakeLists.txt", "Makefile")
ADDRESS = re.compile(r"https?://\S+")


def find_formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        try:
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        if re.search(rf"\bversion {VERSION}\.", said):
            return name
    return None


def check_format(formatter, paths):
    """One process for all: it takes longer to start than to read a file."""
    command = [formatter, "--dry-run", "--ferror-limit=1", f"--style=file:{os.path.join(ROOT, '.clang-format')}"]
    done = subprocess.run(command + paths, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        yield f"{formatter} failed:\n{done.stderr.strip()}"
        return
    for path in dict.fromkeys(re.findall(r"^(.+?):\d+:\d+: warning: ", done.stderr, re.MULTILINE)):
        yield f"{path}: not as clang-format has it: `clang-format -i {path}`"


def check_width(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        width = len(ADDRESS.sub("", line).expandtabs(8))
        if width > COLUMNS:
            yield f"{path}:{number}: {width} columns, at most {COLUMNS}"


def main():
    formatter = find_formatter()
    paths = [path for path in kept_files() if path.endswith(CODE)]
    problems = [problem for path in paths for problem in check_width(path, read(path))]
    if formatter:
        problems += check_format(formatter, [path for path in paths if path.endswith(FORMATTED)])
    elif not problems:
        print(f"no clang-format of version {VERSION} here (Debian 12: apt-get install clang-format): not checked")
        sys.exit(77)
    report("format", problems)


if __name__ == "__main__":
    main()
