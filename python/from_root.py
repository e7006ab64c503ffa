"""What builds the package for pip where that is called at the root of the clone: setuptools, in the folder python/."""
import os
from pathlib import Path

from setuptools import build_meta

HERE = Path(__file__).resolve().parent


def _here(hook):
    """The hook of setuptools as one that runs in python/. pip gives it absolute paths."""
    def run(*arguments, **settings):
        before = os.getcwd()
        os.chdir(HERE)
        try:
            return hook(*arguments, **settings)
        finally:
            os.chdir(before)
    return run


def build_editable(*_, **__):
    """Refuses. Without this hook pip would call setuptools at the root, which installs nothing, as UNKNOWN."""
    raise SystemExit("an editable install lacks what is generated: use PYTHONPATH=build/python")


get_requires_for_build_editable = build_editable
get_requires_for_build_wheel = _here(build_meta.get_requires_for_build_wheel)
get_requires_for_build_sdist = _here(build_meta.get_requires_for_build_sdist)
prepare_metadata_for_build_wheel = _here(build_meta.prepare_metadata_for_build_wheel)
build_wheel = _here(build_meta.build_wheel)
build_sdist = _here(build_meta.build_sdist)
