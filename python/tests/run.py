#!/usr/bin/env python3
"""Runs the tests of the package heddle with pytest: run.py [ARGUMENTS of pytest]. Ends with 77, after saying why, where
something that they need is missing; CTest counts them as skipped then."""
import importlib.util
import sys
import tempfile
from pathlib import Path

missing = [m for m in ("cffi", "numpy", "pytest") if importlib.util.find_spec(m) is None]
if missing:
    print(f"skipped: {sys.executable} has no {', '.join(missing)} (Debian: apt-get install",
          " ".join(f"python3-{m}" for m in missing) + ")")
    sys.exit(77)

import pytest  # noqa: E402

with tempfile.TemporaryDirectory() as scratch:
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", f"--basetemp={scratch}/tests", "--tb=short",
                          f"--rootdir={Path(__file__).parent}", *sys.argv[1:],
                          *([] if any(Path(a).exists() for a in sys.argv[1:]) else [str(Path(__file__).parent)])]))
