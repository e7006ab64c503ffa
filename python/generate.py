"""Makes heddle/_ffi.py, the description of the C interface for cffi, from Heddle's public headers, and beside it
_sparse_ffi.py and _fmm_ffi.py, the descriptions of libheddle-sparse and libheddle-fmm.

    python3 generate.py INCLUDE_FOLDER OUTPUT

cffi works in its ABI mode: libheddle.so is loaded at run time and called through libffi, so that neither building nor
installing the package needs a C compiler or Python's headers, and one package serves every version of Python. The
layout of structures is computed from the declarations, which is why these are taken from the headers and nothing is
written down twice. The output is Python code that loads in a millisecond.
"""
import contextlib
import io
import re
import sys
from pathlib import Path

HEADERS = ("status", "runtime", "data", "task", "event", "group", "platform", "model", "policy", "driver", "trace",
           "graph", "settings", "chart")

# The modules of libraries on top of Heddle, and the headers in apps/ that each needs.
APPS = {"_sparse_ffi": ("dense", "sparse"), "_fmm_ffi": ("fmm",)}

# What C programs get from another header.
PRELUDE = "void free(void *);\n"


def without_conditionals(text: str) -> str:
    """The lines that a C compiler sees if neither __cplusplus nor __GNUC__ is defined; of the other preprocessor lines,
    only macros that are integers stay."""
    kept, seen = [], [True]
    for line in text.replace("\\\n", " ").split("\n"):
        words = line.split()
        if line.startswith("#if"):
            unknown = words[-1] in ("__cplusplus", "__GNUC__")
            seen.append(seen[-1] and (not unknown or words[0] == "#ifndef"))
        elif line.startswith("#else"):
            seen[-1] = seen[-2] and not seen[-1]
        elif line.startswith("#endif"):
            seen.pop()
        elif seen[-1] and (not line.startswith("#") or re.fullmatch(r"#define \w+ \d+", line.strip())):
            kept.append(line)
    return "\n".join(kept)


def declarations(text: str) -> str:
    """A header without comments, inline functions and what is for the preprocessor."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    text = without_conditionals(text)
    text = re.sub(r"^static inline .*?^}$", "", text, flags=re.DOTALL | re.MULTILINE)
    return text


def source(include: Path) -> str:
    """The declarations of all headers below `include`."""
    return PRELUDE + "\n".join(declarations((include / "heddle" / f"{name}.h").read_text(encoding="utf-8"))
                               for name in HEADERS)


def app_source(apps: Path, names: tuple[str, ...]) -> str:
    """The declarations of the headers of some folders of apps/."""
    return "\n".join(declarations((apps / name / "include" / "heddle" / f"{name}.h").read_text(encoding="utf-8"))
                     for name in names)


def generate(include: Path, output: Path) -> None:
    """Writes the module `output`, and the modules of APPS beside it."""
    import cffi  # only here, so that the functions above need nothing

    base = cffi.FFI()
    base.set_source("heddle._ffi", None)
    base.cdef(source(include))
    output.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        base.emit_python_code(str(output))
        for module, names in APPS.items():
            ffi = cffi.FFI()
            ffi.include(base)
            ffi.set_source(f"heddle.{module}", None)
            ffi.cdef(app_source(include.parent / "apps", names))
            ffi.emit_python_code(str(output.with_name(f"{module}.py")))


if __name__ == "__main__":
    generate(Path(sys.argv[1]), Path(sys.argv[2]))
