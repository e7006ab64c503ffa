"""Each program of examples/python runs and leaves the pictures that it promises."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import heddle

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs(path, tmp_path):
    for module in re.findall(r"^import ([a-z]+\.sparse)$", path.read_text(), re.MULTILINE):
        pytest.importorskip(module, reason=f"{module}: apt-get install python3-scipy libsuitesparse-dev")
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(Path(heddle.__file__).parents[1])})
    assert done.returncode == 0 and done.stdout, done.stderr
    for picture in re.findall(r'"([\w-]+\.png)"', path.read_text()):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


def test_all_examples_are_there():
    assert len(EXAMPLES) >= 4 and all(re.match(r"\d\d_", p.name) for p in EXAMPLES)
