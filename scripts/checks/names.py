#!/usr/bin/env python3
"""A name in a comment, a document or a message is that of something: an identifier in the code, a file, an option ...

What counts as a name: what has the form of an identifier and stands in backquotes or before (); words that begin with
hd_, heddle_, HD_ or HEDDLE_; files and folders. With *, ... or a <placeholder> behind it, it stands for all that begin
so; with _ in front, for one that ends so. The few that exist outside this tree are in OUTSIDE, each with where.
"""
import os
import re

from common import TOKENS, code_only, kept_files, read, report

# Where to find what is not in this tree.
STARPU = "the sources of StarPU"
OUTSIDE = {
    "examples/cholesky/cholesky_implicit.c": STARPU,
    "src/sched_policies/deque_modeling_policy_data_aware.c": STARPU,
    "src/sched_policies/work_stealing_policy.c": STARPU,
    "tools/perfmodels/sampling": STARPU,
    "hello.c": "written by the reader of README.md",
    "program.py": "written by the reader of docs/python.md",
    "_ffi.py": "made by python/generate.py",
    "heddle/_ffi.py": "made by python/generate.py",
    "_sparse_ffi.py": "made by python/generate.py",
    "_fmm_ffi.py": "made by python/generate.py",
    "_location.py": "made by the build of the Python package",
    "program.c": "written by the reader of docs/debugging.md",
    "platforms/this.yaml": "made by `heddle platform calibrate`, below the user's data",
    "pj_dump": "a program of pajeng",
    "x_k": "an element of the vector x, in formulas",
}
PROSE = (".c", ".h", ".cpp", ".hpp", ".md", ".py", ".sh", ".cmake", ".txt", ".yaml", ".in", "Makefile")
C = (".c", ".h", ".cpp", ".hpp")
# They name what is not there.
MYSELF, MY_TEST = "scripts/checks/names.py", "scripts/checks/test_checks.py"
WORD = re.compile(r"[A-Za-z_]\w*")
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?:(?:struct|enum|union) )?[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*)*(?:\(\))?")
CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w+)\(\)")
OWN = re.compile(r"(?<![\w<$/.-])((?:hd|heddle|HD|HEDDLE)_\w+)(\*|\.\.\.|(?<=_)[<{])?")
FOLDERS = "src|include|tools|apps|starpu|research|tests|bench|examples|docs|scripts|cmake|platforms"
FILE = re.compile(r"(?<![\w/.*<>{}$~-])((?:[\w-]+/)*[\w.-]*\w\.(?:c|h|py|md))(?![\w(*-]|\.\w)")
PATH = re.compile(rf"(?<![\w/.*<>{{}}$~-])((?:{FOLDERS})/[\w./-]*\w)/?(?![\w*])")
ROW = re.compile(r'\b(?:SWITCH_)?ROW\(\w+, "(\w+)"') # of the table of settings
EXAMPLE = re.compile(r"^```(?s:.*?)^```|^    .*", re.MULTILINE) # in documents
INCLUDED = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)


def comments(path, text):
    """Yields (line, text) of what is written for readers."""
    if path.endswith(".md"):
        yield 1, text
    elif path.endswith(C):
        for match in TOKENS.finditer(text):
            if match.group(0)[0] == "/":
                yield text.count("\n", 0, match.start()) + 1, match.group(0)
    else:
        for match in re.finditer(r'"""(?s:.*?)"""|(?:^|\s)#[^\n]*', text):
            yield text.count("\n", 0, match.start()) + 1, match.group(0)


class Index:
    """What there is: `names` are identifiers of C code, `own` also variables and options, `words` all of strings."""

    def __init__(self, texts):
        """`texts` maps the path of each file to its text, or to None where nobody looks inside."""
        self.paths, self.names, self.words, self.own = set(), set(), set(), set()
        for path, text in texts.items():
            while path:
                self.paths.add(path)
                path = os.path.dirname(path)
        for path, text in texts.items():
            if text and path.endswith(C):
                self.add_c(text)
            elif text and not path.endswith(".md") and path != MYSELF:
                code = WORD.findall(re.sub(r"(?:^|\s)#[^\n]*", "", text))
                self.words.update(code)
                self.own.update(code)
        self.used = set() # of OUTSIDE
        self.basenames = {os.path.basename(p) for p in self.paths}
        self.words |= self.names
        self.own |= self.names

    def add_c(self, text):
        self.names.update(WORD.findall(code_only(text)))
        self.names.update("HEDDLE_" + setting for setting in ROW.findall(text))
        self.paths.update(INCLUDED.findall(text))
        for match in TOKENS.finditer(text):
            if match.group(0)[0] == '"':
                self.words.update(WORD.findall(match.group(0)))
                self.own.add(match.group(0)[1:-1])

    def is_outside(self, name):
        self.used.update({name} & set(OUTSIDE))
        return name in OUTSIDE

    def has(self, name):
        if name in self.words or self.is_outside(name):
            return True
        if name.startswith("_"):
            return any(w.endswith(name) for w in self.words)
        placeholder = re.fullmatch(r"([a-z_]+_)[A-Z]+", name)
        return bool(placeholder) and placeholder.group(1) in self.words

    def has_own(self, name):
        """Ours by its prefix. HEDDLE_POLICY_OPTION is a variable when both are words: hd_variable reads it."""
        parts = name.lower().split("_")[1:]
        return name in self.own or \
            name.startswith("HEDDLE_") and len(parts) == 2 and all(p in self.words for p in parts)

    def has_own_prefix(self, prefix):
        return any(n.startswith(prefix) for n in self.own)

    def has_file(self, name):
        if name in self.paths or name in self.basenames:
            return True
        return "/" in name and any(p.endswith("/" + name) for p in self.paths) or self.is_outside(name)


def check_own(text, index):
    for match in OWN.finditer(text):
        name = match.group(1)
        is_prefix = match.group(2) or name.endswith("_")
        if not (index.has_own_prefix(name) if is_prefix else index.has_own(name)):
            yield match.start(), match.group(0)


def check_comment(text, index, shown=frozenset()):
    """Yields (offset, name) of the names in it that are nothing's; `shown` are the words of its examples."""
    yield from check_own(text, index)
    for match in CALLED.finditer(text):
        if not OWN.match(match.group(1)) and match.group(1) not in index.names:
            yield match.start(), match.group(0)
    for at, name in {(m.start(), m.group(1)) for pattern in (FILE, PATH) for m in pattern.finditer(text)}:
        if not index.has_file(name):
            yield at, name
    for match in QUOTED.finditer(text):
        if NAME.fullmatch(match.group(1)) and not FILE.fullmatch(match.group(1)):
            for name in WORD.findall(match.group(1)):
                if not OWN.fullmatch(name) and name not in shown and not index.has(name):
                    yield match.start(), match.group(0)


def check_file(path, text, index):
    examples = EXAMPLE.findall(text) if path.endswith(".md") else []
    found = [(line, piece, check_comment(piece, index, set(WORD.findall(" ".join(examples)))))
             for line, piece in comments(path, text)]
    if path.endswith(C):
        found += [(text.count("\n", 0, m.start()) + 1, m.group(0), check_own(m.group(0), index))
                  for m in TOKENS.finditer(text) if m.group(0)[0] == '"']
    for line, piece, missing in found:
        for at, name in missing:
            yield f"{path}:{line + piece.count(chr(10), 0, at)}: {name}: there is no such thing"


def main():
    texts = {path: read(path) if path.endswith(PROSE) and path != MY_TEST else None for path in kept_files()}
    index = Index(texts)
    problems = sorted({p for path, text in texts.items() if text for p in check_file(path, text, index)})
    problems += [f"{MYSELF}: {name} is named nowhere: delete it" for name in sorted(set(OUTSIDE) - index.used)]
    report("names", problems)


if __name__ == "__main__":
    main()
