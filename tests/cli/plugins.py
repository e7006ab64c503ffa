#!/usr/bin/env python3
"""Tests of plug-ins: tests/cli/plugins.py PATH_TO_HEDDLE FOLDER_OF_EXAMPLES FOLDER_OF_FAULTY_ONES [PATTERN]

As tests/cli/run.py. The plug-ins are those of examples/, and the faulty ones of tests/plugins/.
"""
import os
import re
import shutil
import sys

from run import Place, equal, run_tests

FAULTS = {
    "version": ["version 99", "compile it again"], "nameless": ["lacks its name", "heddle_plugin"],
    "taken": ["plug-in faulty", "'eager'", "another name"], "incomplete": ["'mine'", "destroy", "required"],
    "device": ["'mine'", "no function open"], "outside": ["'mine'", "option n", "offset"],
    "no_symbol": ["no symbol heddle_plugin", "heddle/plugin.h"], "failing": ["plug-in faulty", "the moon is full"],
}
MAPPED = ("cholesky:n=5760,tile=960,precision=s", "-p", "haswell-k40m,gpu1-cpu6", "-s", "nearest,eager,dmdas")


def plugin(p, name):
    return os.path.join(p.examples, name + "_plugin.so")


def test_policy_of_a_plugin_stands_in_tables_and_heat_maps(p):
    policy = plugin(p, "18_policy")
    assert "nearest" in {row["name"] for row in p.csv("--plugin", policy, "policies")}
    equal(p.json("policies", "nearest", "--plugin=" + policy)["tunables"][0]["name"], "reach")
    rows = p.json("--plugin", policy, "compare", *MAPPED, "-o", "map.svg")["results"]
    equal([row["policy"] for row in rows], ["nearest", "eager", "dmdas"] * 2)
    assert all(row["over_bound"] >= 1 for row in rows)
    p.starts_with("map.svg", b"<?xml")
    all_of_them = p.json("sim", "cholesky", "-n", "1920", "-b", "960", "-p", "gpu1-cpu6", "-r", "s", "-s", "all",
                         HEDDLE_PLUGINS=policy)["policies"]
    equal(all_of_them[-1]["policy"], "nearest")
    p.refuses("policies", "nearest", says=["nearest"])


def test_policy_of_a_plugin_runs_any_program(p):
    env = {"HEDDLE_PLUGINS": plugin(p, "18_policy"), "HEDDLE_SCHED": "nearest"}
    equal(p.program("04_reduction", **env)[0], 0)
    equal(p.program("02_dependencies", **env, HEDDLE_NEAREST_REACH="1")[0], 0)
    status, _, err = p.program("02_dependencies", HEDDLE_SCHED="nearest")
    assert status and "nearest" in err, err


def test_variables_of_a_plugins_options_are_known(p):
    policy = plugin(p, "18_policy")
    equal(p.json("config", HEDDLE_PLUGINS=policy, HEDDLE_NEAREST_REACH="4")["unknown"], [])
    p.refuses("machine", "--plugin", policy, says=["HEDDLE_NEAREST_REACH"], HEDDLE_NEAREST_REECH="4")


def test_plugins_come_from_the_configuration_file(p):
    os.makedirs(p.path("config/heddle"))
    with open(p.path("config/heddle/config"), "w") as f:
        f.write("plugins = " + plugin(p, "18_policy") + ":" + plugin(p, "19_application") + "\n")
    assert "nearest" in p.run("policies")[0]
    assert "stencil" in p.run("run", "--help")[0]


def test_bare_name_is_no_file_of_the_current_directory(p):
    shutil.copy(plugin(p, "18_policy"), p.path("own.so"))
    p.refuses("policies", "nearest", says=["own.so", "./own.so"], status=1, HEDDLE_PLUGINS="own.so")
    assert "nearest" in p.run("policies", HEDDLE_PLUGINS="./own.so")[0]


def test_application_of_a_plugin_is_run_and_checked(p):
    stencil = "--plugin", plugin(p, "19_application")
    ran = p.json(*stencil, "run", "stencil", "--n", "3000", "--tile", "500", "--steps", "7", "--repeat", "2")["run"]
    equal((ran["n"], ran["tile"], ran["steps"], ran["tasks"]), (3000, 500, 7, 42))
    assert ran["residual"] < 30 and ran["rate_gflops"] > 0
    equal(p.json(*stencil, "run", "stencil:n=3000,tile=500,steps=7,rate=0.5", "--no-check")["run"]["residual"], None)
    p.refuses(*stencil, "run", "stencil", "--steps", "none", says=["--steps", "none", "whole number from 1"])
    p.refuses(*stencil, "run", "stencil:rate=2", says=["rate", "from 0 to 0.5"])
    p.refuses(*stencil, "run", "stencil", "--tree", "flat", says=["stencil has no option", "tree"])
    p.refuses(*stencil, "run", "cholesky:steps=3", says=["cholesky has no option", "steps"])
    p.refuses(*stencil, "run", "stencill", says=["stencil"])
    tuned = p.json(*stencil, "tune", "stencil", "--platform", "haswell-k40m", "--scheds", "dmdas")["tuned"]
    assert len({row["tile"] for row in tuned}) > 1 and tuned[0]["makespan_ms"] <= tuned[-1]["makespan_ms"], tuned
    p.refuses(*stencil, "run", "stencil:n=1e12", says=["GiB", "this machine has"])


def test_application_of_a_plugin_is_simulated_compared_and_drawn(p):
    stencil = "--plugin", plugin(p, "19_application")
    work = "stencil:n=3000,tile=500,steps=7"
    found = p.json(*stencil, "sim", work, "-p", "haswell-k40m", "-s", "eager,dmdas")
    equal((found["problem"]["steps"], found["problem"]["tasks"]), (7, 42))
    assert all(0 < row["of_bound_percent"] <= 100.0001 for row in found["policies"])
    p.run(*stencil, "sim", work, "-p", "haswell-k40m", "-s", "lws", "--gantt", "x.svg", "--trace", "stencil.trace")
    equal(p.json("trace", "stencil.trace")["trace"]["tasks"], 42)
    graph = p.json(*stencil, "graph", work, "-o", "stencil.json")["graph"]
    equal((graph["tasks"], graph["depth"], graph["width"]), (42, 7, 6))
    equal(p.json("graph", "stencil.json")["graph"]["edges"], graph["edges"])
    bound = p.json(*stencil, "bound", work, "-p", "haswell-k40m")["bounds"]["bound_ms"]
    rows = p.json(*stencil, "compare", work, "cholesky:n=1920,tile=960,precision=s", "-p", "haswell-k40m", "-s",
                  "eager")["results"]
    equal([row["graph"].split(":")[0] for row in rows], ["stencil", "cholesky"])
    assert rows[0]["makespan_ms"] >= bound * 0.9999


def test_driver_of_a_plugin_runs_kernels_on_its_devices(p):
    driver = "--plugin", plugin(p, "20_driver")
    devices = [row for row in p.json(*driver, "machine")["devices"] if row["kind"] == "apart"]
    equal([(row["device"], row["used"]) for row in devices], [("apart0", "yes"), ("apart1", "yes")])
    ran = p.json(*driver, "run", "cholesky", "-n", "256", "-b", "64", "--layout", "in-place", "--ncpu", "0",
                 "--sched", "eager", "--explain")
    assert ran["run"]["residual"] < 30 and ran["run"]["tasks"] == 20, ran
    equal([row["worker"] for row in ran["workers"]], ["apart0", "apart1"])
    one = p.json(*driver, "machine", HEDDLE_DEVICES="apart=1")["devices"]
    equal([row["used"] for row in one if row["kind"] == "apart"], ["yes", "no"])
    p.refuses(*driver, "machine", says=["3 apart devices", "HEDDLE_DEVICES"], HEDDLE_DEVICES="apart=3")
    p.refuses(*driver, "machine", says=['"aprt"', "HEDDLE_PLUGINS"], HEDDLE_DEVICES="aprt=1")
    p.refuses(*driver, "machine", says=["apart=x", "KIND=N"], HEDDLE_DEVICES="apart=x")
    equal(p.program("03_matrix_tiles", HEDDLE_PLUGINS=driver[1], HEDDLE_NCPU="0")[0], 0)


def test_several_plugins_are_loaded_once_each(p):
    policy, stencil = plugin(p, "18_policy"), plugin(p, "19_application")
    found = p.json("--plugin", policy, "sim", "stencil:n=3000,tile=500", "-p", "haswell-k40m", "-s", "nearest",
                   "--plugin", stencil, "--plugin", policy, HEDDLE_PLUGINS=policy + "::" + policy)
    equal(found["policies"][0]["policy"], "nearest")
    shutil.copy(stencil, p.path("again.so"))
    p.refuses("--plugin", stencil, "--plugin", "./again.so", "run", "stencil", says=["again.so", "'stencil'"], status=1)


def test_faulty_plugins_are_refused_with_the_remedy(p):
    for fault, says in FAULTS.items():
        path = os.path.join(p.faulty, f"faulty_{fault}.so")
        p.refuses("--plugin", path, "policies", says=says, status=1)
        status, _, err = p.program("01_hello", HEDDLE_PLUGINS=path)
        assert status and all(word in err for word in says), err
    p.refuses("--plugin", "./absent.so", "policies", says=["absent.so", "HEDDLE_PLUGINS"], status=1)
    p.refuses("--plugin", "absent.so", "policies", says=["absent.so", "'/'"], status=1)
    with open(p.path("text.so"), "w") as f:
        f.write("no library")
    p.refuses("policies", "--plugin", "text.so", says=["text.so"], status=1)
    p.refuses("policies", "--plugin", says=["--plugin needs"])


def test_document_quotes_what_there_is(p):
    text = open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "plugins.md"), encoding="utf-8").read()
    assert set(re.findall(r"examples/(\d+_\w+)_plugin\.c", text)) == {"18_policy", "19_application", "20_driver"}


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: plugins.py PATH_TO_HEDDLE FOLDER_OF_EXAMPLES FOLDER_OF_FAULTY_ONES [PATTERN]")
    Place.examples, Place.faulty = map(os.path.abspath, sys.argv[2:4])
    run_tests(globals(), sys.argv[1], sys.argv[4] if len(sys.argv) == 5 else "")


if __name__ == "__main__":
    main()
