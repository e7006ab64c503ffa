"""Adds to the package what is generated: _ffi.py, _sparse_ffi.py and _fmm_ffi.py from the headers of this source tree,
and _location.py.

    pip install --no-build-isolation .        # with Debian's setuptools and cffi, without a network

The library itself comes from `make install`, or from the file that the variable LIBHEDDLE names now. A source
distribution has no headers, but these three, which are the same everywhere.
"""
import os
import re
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
INCLUDE, CMAKE, PKG_INFO = HERE.parent / "include" / "heddle", HERE.parent / "CMakeLists.txt", HERE / "PKG-INFO"
sys.path.insert(0, str(HERE))

from generate import generate  # noqa: E402


def version() -> str:
    """The version of Heddle: a source distribution has it from the clone that it was made of."""
    file, line = ((PKG_INFO, r"(?m)^Version: ([0-9.]+)$") if PKG_INFO.exists() else
                  (CMAKE, r"project\(Heddle VERSION ([0-9.]+)"))
    found = re.search(line, file.read_text()) if file.exists() else None
    if not found:
        raise SystemExit(f"{file} does not say the version: the package is built in a clone of Heddle, or from what "
                         "`python3 setup.py sdist` made there")
    return found[1]


VERSION = version()


class Build(build_py):
    """build_py, and the generated modules."""

    def run(self) -> None:
        super().run()
        package = Path(self.build_lib) / "heddle"
        if not PKG_INFO.exists():
            generate(INCLUDE.parent, package / "_ffi.py")
        library = os.path.abspath(os.environ["LIBHEDDLE"]) if "LIBHEDDLE" in os.environ else ""
        (package / "_location.py").write_text(f"LIBRARY = {library!r}\nVERSION = {VERSION!r}\n")


class Source(sdist):
    """sdist, and what is made of the headers, which it does not have."""

    def make_release_tree(self, base_dir: str, files: list) -> None:
        super().make_release_tree(base_dir, files)
        generate(INCLUDE.parent, Path(base_dir) / "heddle" / "_ffi.py")


setup(version=VERSION, cmdclass={"build_py": Build, "sdist": Source})
