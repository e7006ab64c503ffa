#!/usr/bin/env python3
"""Programs without libheddle-report.so, and with it: run.py LIBRARY_FOLDER COMPILER VERSION

chart.c is linked with libheddle.so alone, which is copied into a folder of its own, where libheddle-report.so is
missing, or of another version, or there. Then it is linked with libheddle.a, without the part that draws, and with it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, COMPILER, VERSION = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "include")
LIBRARY = "libheddle-report.so.0"
OTHER = 'struct { const char *version; int (*error)(int, const char *, ...); } hd_report = {"0.0.9", 0};'
PNG = b"\x89PNG"


def compiled(output, *arguments):
    subprocess.run([COMPILER, "-std=gnu11", *arguments, "-o", output], check=True)


def static_libraries():
    """What CMake has found, in the words of the linker: the last line of heddle.pc."""
    with open(os.path.join(BUILD, "heddle.pc"), encoding="utf-8") as f:
        return re.search(r"^Libs.private: (.*)$", f.read(), re.MULTILINE)[1].split()


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(os.path.join(BUILD, "libheddle.so.0"), self.folder)
        self.program = os.path.join(self.folder, "program")

    def link(self, *libraries):
        compiled(self.program, os.path.join(HERE, "chart.c"), f"-I{INCLUDE}", *libraries)

    def link_shared(self):
        """It finds libheddle.so by its own path, in which the loader does not look for what libheddle.so loads."""
        self.link(os.path.join(BUILD, "libheddle.so"), f"-Wl,-rpath,{self.folder}")

    def run_it(self, *arguments, **environment):
        kept = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**kept, **environment})
        return done.returncode, done.stdout + done.stderr

    def starts_with(self, name, magic):
        with open(os.path.join(self.folder, name), "rb") as f:
            self.assertEqual(f.read(len(magic)), magic)

    def is_refused(self, who, *sentences, arguments=("a.png",), **environment):
        status, said = self.run_it(*arguments, **environment)
        self.assertEqual(status, 1, said)
        self.assertIn(f"{who} needs", said)
        for sentence in sentences:
            self.assertIn(sentence, said)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "a.png")))

    def draws(self):
        self.assertEqual(self.run_it("a.png", HEDDLE_TRACE="t.svg"), (0, ""))
        self.starts_with("a.png", PNG)
        self.starts_with("t.svg", b"<?xml")

    def writes_text(self):
        self.assertEqual(self.run_it(HEDDLE_TRACE="t.json,t.trace,t.csv,t.paje", HEDDLE_RECORD="g.dot"), (0, ""))
        with open(os.path.join(self.folder, "t.json"), encoding="utf-8") as f:
            self.assertIn("traceEvents", json.load(f))
        self.starts_with("t.trace", b"heddle-trace")
        self.starts_with("t.csv", b"event,")
        self.starts_with("t.paje", b"%EventDef")
        self.starts_with("g.dot", b"digraph")

    def test_without_it_an_error_says_what_to_install(self):
        self.link_shared()
        missing = f"{LIBRARY}: cannot open shared object file", "apt-get install libheddle-report0"
        self.is_refused("heddle_chart_lines", *missing)
        self.is_refused("trace (HEDDLE_TRACE)", *missing, arguments=(), HEDDLE_TRACE="a.png")

    def test_without_it_traces_are_written_as_text(self):
        self.link_shared()
        self.writes_text()

    def test_it_is_found_beside_the_library(self):
        self.link_shared()
        shutil.copy(os.path.join(BUILD, LIBRARY), self.folder)
        self.draws()

    def test_it_is_found_where_the_loader_looks(self):
        self.link_shared()
        elsewhere = os.path.join(self.folder, "elsewhere")
        os.mkdir(elsewhere)
        shutil.copy(os.path.join(BUILD, LIBRARY), elsewhere)
        self.assertEqual(self.run_it("a.png", LD_LIBRARY_PATH=elsewhere), (0, ""))
        self.starts_with("a.png", PNG)

    def test_one_of_another_version_is_refused(self):
        self.link_shared()
        source = os.path.join(self.folder, "other.c")
        with open(source, "w", encoding="ascii") as f:
            f.write(OTHER)
        compiled(os.path.join(self.folder, LIBRARY), source, "-shared", "-fPIC")
        self.is_refused("heddle_chart_lines", f"of Heddle {VERSION}", "is of 0.0.9")

    def test_one_that_is_broken_is_refused_with_the_reason(self):
        self.link_shared()
        with open(os.path.join(self.folder, LIBRARY), "w", encoding="ascii") as f:
            f.write("broken")
        self.is_refused("heddle_chart_lines", f"{self.folder}/{LIBRARY}: ")

    def test_a_static_program_draws_if_it_was_asked_to(self):
        self.link("-Wl,--as-needed", os.path.join(BUILD, "libheddle.a"), *static_libraries())
        self.draws()

    def test_a_static_program_can_leave_it_out(self):
        words = [word for word in static_libraries() if not re.search("hd_report|cairo|Clp|stdc", word)]
        self.link(os.path.join(BUILD, "libheddle.a"), *words)
        self.is_refused("heddle_chart_lines", "-Wl,-u,hd_report")
        self.writes_text()


unittest.main(argv=sys.argv[:1])
