"""What helps while one writes: type hints, and pictures in a notebook."""
import base64
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import heddle

PROGRAM = Path(__file__).with_name("typed_program.py")


def test_a_program_with_type_hints_runs(tmp_path):
    subprocess.run([sys.executable, str(PROGRAM)], cwd=tmp_path, check=True,
                   env={**os.environ, "PYTHONPATH": str(Path(heddle.__file__).parents[1])})


@pytest.mark.skipif(not shutil.which("mypy"), reason="mypy is not installed (Debian: mypy)")
def test_a_program_with_type_hints_passes_strict_mypy(tmp_path):
    wrong = PROGRAM.read_text().replace("priority=1", 'priority="high"')
    (tmp_path / "wrong.py").write_text(wrong)
    done = subprocess.run(["mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"),
                           str(PROGRAM), "wrong.py"], cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "MYPYPATH": str(Path(heddle.__file__).parents[1])})
    assert re.fullmatch(r'wrong.py:.*"priority" .*incompatible type "str".*\n.*1 error in 1 file .*checked 2 .*\n',
                        done.stdout), done.stdout + done.stderr


def size_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


@pytest.mark.parametrize("what", ["graph", "simulation", "trace", "comparison", "recorded"])
def test_things_show_themselves(what, tmp_path):
    graph = heddle.cholesky(3)
    if what == "recorded":
        with heddle.Runtime(n_cpu=1, trace=True) as rt:
            rt.submit(lambda v: None, heddle.readwrite(rt.data(np.zeros(1))))
            rt.wait()
            shown = rt.record()
    else:
        shown = {"graph": lambda: graph, "simulation": lambda: heddle.simulate(graph, "intel-v100", "eager"),
                 "trace": lambda: heddle.simulate(graph, "intel-v100", "eager").trace,
                 "comparison": lambda: heddle.compare(graph, "intel-v100", ["eager", "dmdas"])}[what]()
    width, height = size_of(shown._repr_png_())
    assert width > 100 and height > 50 and len(shown._repr_png_()) < 1 << 20
    page = shown._repr_html_()
    assert size_of(base64.b64decode(re.search(r'base64,([^"]*)"', page)[1])) == (width, height)
    assert ("dmdas</td>" if what == "comparison" else type(shown).__name__) in page


def test_the_picture_of_a_graph_shows_its_tasks(tmp_path):
    graph = heddle.Graph([0, 1], types=["first", "<b>"], edges=([0], [1]), name="a & b")
    graph.draw(tmp_path / "g.dot")
    said = (tmp_path / "g.dot").read_text()
    assert "first" in said and "->" in said
    assert "a &amp; b" in graph._repr_html_()


def test_what_is_too_large_for_a_picture_has_words():
    graph = heddle.Graph(np.zeros(2001, int), types=["t"])
    assert graph._repr_png_() is None and graph._repr_html_() == "<p>heddle.Graph graph: 2001 tasks of 1 types</p>"
    with pytest.raises(heddle.Error, match="2000|large"):
        graph.draw("/tmp/never.png")
