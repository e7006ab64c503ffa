"""Adds to the package what is generated: _ffi.py from the headers of this source tree, and _location.py.

    pip install --no-build-isolation .        # with Debian's setuptools and cffi, without a network

The library itself comes from `make install`, or from the file that the variable LIBHEDDLE names now.
"""
import os
import re
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generate import generate  # noqa: E402

VERSION = re.search(r"project\(Heddle VERSION ([0-9.]+)", (HERE.parent / "CMakeLists.txt").read_text())[1]


class Build(build_py):
    """build_py, and the generated modules."""

    def run(self) -> None:
        super().run()
        package = Path(self.build_lib) / "heddle"
        generate(HERE.parent / "include", package / "_ffi.py")
        library = os.path.abspath(os.environ["LIBHEDDLE"]) if "LIBHEDDLE" in os.environ else ""
        (package / "_location.py").write_text(f"LIBRARY = {library!r}\nVERSION = {VERSION!r}\n")


setup(version=VERSION, cmdclass={"build_py": Build})
