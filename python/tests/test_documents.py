"""What docs/python.md shows runs as it stands there: the program, and the indented lines, one block after the other."""
import os
import re
import textwrap

import numpy as np
from conftest import ROOT

import heddle

TEXT = (ROOT / "docs" / "python.md").read_text()
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)

# What the reader has: four tasks of Cholesky on two tiles.
GIVEN = {"heddle": heddle, "kind": [0, 1, 1, 0], "flops": np.full(4, 1e9), "sizes": [8 << 20, 8 << 20],
         "task": [0, 1, 1, 2, 3], "datum": [0, 0, 1, 1, 1], "mode": np.array([3, 1, 3, 3, 3], np.int32),
         "before": [0], "after": [1]}


def test_the_program_of_the_page_runs():
    program, = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    exec(compile(program, "docs/python.md", "exec"), {"__name__": "__main__"})


def test_the_lines_of_the_page_run(tmp_path, capsys):
    blocks = [textwrap.dedent(block) for block in INDENTED.findall(re.sub(r"^```.*?^```", "", TEXT,
                                                                          flags=re.MULTILINE | re.DOTALL))]
    assert len(blocks) >= 2
    here, names = os.getcwd(), dict(GIVEN)
    os.chdir(tmp_path)
    try:
        for block in blocks:
            exec(compile(block, "docs/python.md", "exec"), names)
    finally:
        os.chdir(here)
    assert (tmp_path / "run.png").stat().st_size and "newest" in capsys.readouterr().out.lower()


def test_names_of_the_page_exist():
    """Of each `heddle.name`, and of each `rt.name(` of a runtime."""
    for name in set(re.findall(r"heddle\.([A-Za-z]\w*)", TEXT)) - {"hpp", "sparse", "fmm"}:
        assert hasattr(heddle, name), name
    for name in set(re.findall(r"\brt\.(\w+)\(", TEXT)):
        assert hasattr(heddle.Runtime, name), name
