#!/usr/bin/env python3
"""needed.py LIBRARY NAME...: the shared library needs only those libraries whose names are given, such as libm.

What a library needs, each program that is linked with it brings along: a program that computes must not bring what
draws. The dynamic section says it (readelf -d).
"""
import re
import subprocess
import sys

from common import report


def needed(section):
    """The libraries that a dynamic section, as readelf prints it, names as needed."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", section)


def problems_of(library, libraries, allowed):
    if not libraries:
        return [f"{library}: it needs no library at all: this check does not understand readelf any more"]
    return [f"{library}: it needs {name}, and every program that is linked with it brings that along"
            for name in libraries if re.sub(r"\.so\b.*", "", name) not in allowed]


def main():
    library, *allowed = sys.argv[1:]
    done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    report("needed", problems_of(library, needed(done.stdout), allowed))


if __name__ == "__main__":
    main()
