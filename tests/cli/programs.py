#!/usr/bin/env python3
"""Tests of what settings alone get from a program: tests/cli/programs.py PATH_TO_HEDDLE EXAMPLES [PATTERN]

As tests/cli/run.py. The programs are those of examples/.
"""
import csv
import json
import os
import re
import sys

from run import Place, equal, run_tests

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "trace": b"heddle-trace", "paje": b"%EventDef"}


def succeeds(p, name, **env):
    """What the program writes to standard error."""
    status, _, err = p.program(name, **env)
    equal(status, 0)
    return err


def test_trace_of_any_program_is_written_in_every_format(p):
    names = [f"run.{extension}" for extension in (*MAGIC, "json", "csv")]
    equal(succeeds(p, "04_reduction", HEDDLE_TRACE=",".join(names)), "")
    for extension, magic in MAGIC.items():
        p.starts_with(f"run.{extension}", magic)
    with open(p.path("run.json")) as f:
        assert "traceEvents" in json.load(f)
    with open(p.path("run.csv")) as f:
        assert any("dot" in row.values() for row in csv.DictReader(f))
    codelets = {row["codelet"]: row["tasks"] for row in p.json("trace", "run.trace")["codelets"]}
    equal(codelets["dot"], 16)


def test_graph_of_any_program_is_recorded_and_simulated(p):
    equal(succeeds(p, "09_virtual_time", HEDDLE_RECORD="g.json"), "")
    equal(sorted(os.listdir(p.directory)), ["g-2.json", "g.json"])
    equal(p.json("graph", "g-2.json")["graph"]["tasks"], 200)
    assert p.json("sim", "g.json", "--platform", "haswell-k40m", "-s", "dmda")["policies"][0]["makespan_ms"] > 0


def test_graph_is_written_to_each_file_of_a_list(p):
    equal(succeeds(p, "01_hello", HEDDLE_RECORD="x.dot,y.json"), "")
    equal(sorted(name for name in os.listdir(p.directory) if "." in name), ["x.dot", "y.json"])


def test_runtimes_of_a_process_write_files_of_their_own(p):
    succeeds(p, "09_virtual_time", HEDDLE_TRACE="run%p.trace", HEDDLE_EXPLAIN="why")
    found = sorted(os.listdir(p.directory))
    assert re.fullmatch(r"run(\d+)-2.trace run\1.trace why why-2", " ".join(found)), found
    with open(p.path("why")) as f:
        assert "under eager" in f.readline()
    with open(p.path("why-2")) as f:
        assert "under dmda" in f.readline()


def test_explanation_says_what_everything_did(p):
    err = succeeds(p, "03_matrix_tiles", HEDDLE_EXPLAIN="yes", HEDDLE_NCPU="0", HEDDLE_EMULATED="1",
                   HEDDLE_SCHED="eager")
    assert err.startswith("heddle: 7 tasks on this machine under eager in "), err
    for line in (r"^emulated0 +emulated +7 ", r"^total .* 1 ", r"^memory +hits", r"^picks: \d",
                 r"^tasks queued: 7 tasks"):
        assert re.search(line, err, re.MULTILINE), (line, err)
    equal(succeeds(p, "01_hello", HEDDLE_EXPLAIN="0"), "")


def test_reports_that_cannot_be_written_are_no_error_of_the_program(p):
    err = succeeds(p, "01_hello", HEDDLE_TRACE="absent/a.png", HEDDLE_RECORD="absent/a.dot", HEDDLE_EXPLAIN="absent/a")
    for word in "HEDDLE_TRACE", "HEDDLE_RECORD", "HEDDLE_EXPLAIN", "absent/a.png", "absent/a.dot":
        assert word in err, err
    assert "absent" not in os.listdir(p.directory)


def test_graphs_of_runs_are_written_for_graphviz(p):
    for name in "run.dot", "run.gv":
        succeeds(p, "01_hello", HEDDLE_TRACE=name)
        with open(p.path(name)) as f:
            assert f.read().startswith("digraph"), name


def test_reports_in_no_format_are_refused_at_the_start(p):
    for setting, says in ({"HEDDLE_TRACE": "run.xml"}, ".paje"), ({"HEDDLE_RECORD": "g.trace"}, ".dot"):
        status, _, err = p.program("01_hello", **setting)
        assert status and says in err and next(iter(setting)) in err, err


def test_command_leaves_the_reports_to_other_programs(p):
    out, err = p.warns("graph", "potrf:n=512,tile=256", "--json", HEDDLE_TRACE="a.trace")
    equal(json.loads(out)["graph"]["tasks"], 4)
    assert "HEDDLE_TRACE" in err and not os.listdir(p.directory), err


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: programs.py PATH_TO_HEDDLE FOLDER_OF_EXAMPLES [PATTERN]")
    Place.examples = os.path.abspath(sys.argv[2])
    run_tests(globals(), sys.argv[1], sys.argv[3] if len(sys.argv) == 4 else "")


if __name__ == "__main__":
    main()
