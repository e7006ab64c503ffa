#!/usr/bin/env python3
"""symbols.py LIBRARY FOLDER PREFIX [USER]: the shared library exports exactly what the public headers in FOLDER
declare, all named PREFIX* and of the version PREFIX0, whose number is the SOVERSION; and what the library USER needs of
its inside, of the version HEDDLE_PRIVATE.
"""
import re
import subprocess
import sys

from common import code_only, files, read, report

DECLARATION = re.compile(r"(?:const )?(?:struct |enum |unsigned )*\w+[\s*]+(?:\*|\s|const)*(heddle_\w+) ?\(")


def outside_braces(text):
    """The text without what lies in braces, other than those of extern "C"; a closed brace ends a statement."""
    kept, open_braces = [], []
    for c in re.sub(r'extern\s+"[^"]*"\s*\{', "\x01", text):
        if c in "{\x01":
            open_braces.append(c)
        elif c == "}" and open_braces:
            open_braces.pop()
            kept.append(";")
        elif "{" not in open_braces:
            kept.append(c)
    return "".join(kept)


def declared(folder):
    names = set()
    for path in files(folder):
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", code_only(read(path)), flags=re.MULTILINE)
        for statement in outside_braces(text).split(";"):
            statement = " ".join(statement.split())
            match = DECLARATION.match(statement)
            if match and not re.search(r"\b(?:static|typedef|template|inline)\b", statement):
                names.add(match.group(1))
    return names


def symbols_of(library, which):
    """(kind, name with its version) of each dynamic symbol."""
    done = subprocess.run(["nm", "-D", which, library], capture_output=True, text=True, check=True)
    return [line.split()[-2:] for line in done.stdout.splitlines()]


def exported(library):
    """The version of each symbol, by its name."""
    return dict(name.partition("@@")[::2] for kind, name in symbols_of(library, "--defined-only")
                if kind != "A") # A: the name of a version


def private_problems(shown, used):
    for name in sorted(shown - used):
        yield f"{name}: shown to libheddle-report.so, which does not use it: cmake/heddle.map"
    for name in sorted(used - shown):
        yield f"{name}: used by libheddle-report.so, but not shown to it: cmake/heddle.map"


def main():
    library, folder, prefix, *users = sys.argv[1:]
    versions, outside = exported(library), declared(folder)
    shown = {name for name, version in versions.items() if version == "HEDDLE_PRIVATE"}
    versions = {name: version for name, version in versions.items() if name not in shown}
    inside, wanted = set(versions), prefix.upper() + "0"
    problems = [f"{name}: exported, but not named {prefix}*" for name in sorted(inside)
                if not name.startswith(prefix)]
    problems += [f"{name}: declared in a public header, not defined" for name in sorted(outside - inside)]
    problems += [f"{name}: exported, but in no public header" for name in sorted(inside - outside)
                 if name.startswith(prefix)]
    problems += [f"{name}: its version is \"{version}\", not {wanted}" for name, version in versions.items()
                 if version != wanted]
    used = {name.partition("@")[0] for user in users for _, name in symbols_of(user, "--undefined-only")}
    problems += private_problems(shown, {name for name in used if name.startswith("hd_")})
    if len(outside) < 5:
        problems.append(f"only {len(outside)} declarations found: this check does not read the headers any more")
    report("symbols", problems)


if __name__ == "__main__":
    main()
