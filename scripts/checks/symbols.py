#!/usr/bin/env python3
"""symbols.py LIBRARY: what the shared library exports is exactly what the public headers declare, all named heddle_*."""
import re
import subprocess
import sys

from common import code_only, files, read, report

def declared():
    names = set()
    for path in files("include"):
        text = code_only(read(path))
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
        depth, outer = 0, []
        text = re.sub(r'extern\s+"[^"]*"\s*\{', " ", text)
        for c in text: # bodies and structures are not declarations of functions
            depth -= c == "}"
            if depth <= 0 and c != "}":
                outer.append(c)
            depth += c == "{"
            depth = max(depth, 0)
        for statement in re.split(r"[;]", "".join(outer)):
            statement = " ".join(statement.split())
            if re.search(r"\b(static|typedef|template|inline)\b", statement):
                continue
            match = re.match(r"(?:const )?(?:struct |enum |unsigned )*\w+[\s*]+(?:\*|\s|const)*(heddle_\w+) ?\(", statement)
            if match:
                names.add(match.group(1))
    return names


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def main():
    inside, outside = exported(sys.argv[1]), declared()
    problems = [f"{name}: exported, but not named heddle_*" for name in sorted(inside) if not name.startswith("heddle_")]
    problems += [f"{name}: declared in a public header, not defined" for name in sorted(outside - inside)]
    problems += [f"{name}: exported, but in no public header" for name in sorted(inside - outside) if name.startswith("heddle_")]
    if len(outside) < 50:
        problems.append(f"only {len(outside)} declarations found: this check does not read the headers any more")
    report("symbols", problems)


main()
