#!/usr/bin/env python3
"""Tests of the `heddle` command: tests/cli/run.py PATH_TO_HEDDLE [PATTERN]

Each function named test_* is one test; it runs in an empty directory with an empty user's data directory, and fails by
raising. PATTERN, a regular expression, is found in the names of those that are wanted. Only the last line counts for
CTest's reader: "N passed, N failed"; the exit status is 0 when none failed.
"""
import csv
import io
import json
import os
import re
import resource
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PLATFORMS = os.path.join(HERE, "..", "..", "platforms")
DOCUMENTS = os.path.join(HERE, "..", "..", "docs")
SUPPRESSIONS = os.path.join(HERE, "..", "sanitizers", "leak.txt")


class Place:
    """A scratch directory and the environment of the commands run in it."""

    def __init__(self, command, directory):
        self.command = command
        self.directory = directory
        kept = {k: v for k, v in os.environ.items() # what was compiled for OpenCL devices may be kept between tests
                if not k.startswith(("HEDDLE_", "XDG_")) or k == "XDG_CACHE_HOME"}
        self.env = dict(kept, HOME=directory, XDG_DATA_HOME=os.path.join(directory, "data"),
                        XDG_CONFIG_HOME=os.path.join(directory, "config"), HEDDLE_PLATFORM_PATH=PLATFORMS,
                        HEDDLE_CUDA="0", HEDDLE_OPENCL="0")
        self.env.setdefault("LSAN_OPTIONS", # as in cmake/HeddleTest.cmake
                            f"suppressions={SUPPRESSIONS}:print_suppressions=0:intercept_tls_get_addr=0")

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *arguments, status=0, **env):
        """Runs `heddle arguments`, checks the exit status, returns (stdout, stderr); that is empty after success."""
        out, err = self.warns(*arguments, status=status, **env)
        assert (status == 0) == (err == ""), f"heddle {' '.join(arguments)}: standard error is\n{err}"
        return out, err

    def warns(self, *arguments, status=0, **env):
        """The same with whatever on standard error."""
        result = subprocess.run([self.command, *arguments], cwd=self.directory, env=dict(self.env, **env),
                                capture_output=True, timeout=300)
        out, err = result.stdout.decode(), result.stderr.decode()
        what = "heddle " + " ".join(arguments)
        assert result.returncode == status, f"{what}: exit {result.returncode}, not {status}\n{out}\n{err}"
        return out, err

    def json(self, *arguments, **env):
        return json.loads(self.run(*arguments, "--json", **env)[0])

    def csv(self, *arguments, **env):
        return list(csv.DictReader(io.StringIO(self.run(*arguments, "--csv", **env)[0])))

    def refuses(self, *arguments, says, status=2, **env):
        """The command fails with that status, and each of the words is in its message."""
        _, err = self.run(*arguments, status=status, **env)
        for word in says:
            assert word in err, f"heddle {' '.join(arguments)}: no {word!r} in\n{err}"
        assert "heddle" in err.split("\n")[0], err

    def program(self, name, **env):
        """Runs an example of the folder self.examples, and returns its exit status and what it printed."""
        done = subprocess.run([os.path.join(self.examples, name)], env=dict(self.env, **env), cwd=self.directory,
                              capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def starts_with(self, name, magic):
        with open(self.path(name), "rb") as f:
            head = f.read(len(magic))
        assert head == magic, f"{name} begins with {head!r}"


SIM = ("sim", "cholesky", "--n", "9600", "--tile", "960", "--precision", "s", "--platform", "haswell-k40m")
RUN = ("run", "cholesky", "--n", "512", "--tile", "128")


def document(name):
    with open(os.path.join(DOCUMENTS, name), encoding="utf-8") as f:
        return f.read()


def equal(a, b):
    assert a == b, f"{a!r} is not {b!r}"


# --- The command itself -----------------------------------------------------------------------------------------------

def test_command_without_arguments_prints_usage(p):
    p.refuses(says=["Usage: heddle COMMAND", "machine", "policies"])


def test_command_help_lists_every_command(p):
    out, _ = p.run("--help")
    equal(out, p.run("help")[0])
    listed = re.findall(r"^  (\w+) +(.*)$", out, re.MULTILINE)
    commands = [row for row in listed if row[0] not in ("help", "version")]
    equal(re.findall(r"^\| \[`(\w+)`\]\(#heddle-\1\) \| (.*) \|$", document("heddle.md"), re.MULTILINE), commands)
    for name, _ in commands:
        assert "Usage: heddle " + name in p.run(name, "--help")[0], name
        equal(p.run("help", name)[0], p.run(name, "--help")[0])
    assert "Usage: heddle platform calibrate" in p.run("platform", "calibrate", "--help")[0]


def test_command_version_is_printed(p):
    assert p.run("--version")[0].startswith("heddle ")


def test_command_misspelt_is_answered_by_the_right_one(p):
    p.refuses("plicies", says=["policies"])
    p.refuses("machin", says=["machine"])
    p.refuses("xyzzyxyzzy", says=["machine", "policies", "trace"])
    p.refuses("--json", says=["after the command"])
    p.refuses("help", "machin", says=["machine"])


def test_option_misspelt_is_answered_by_the_right_one(p):
    p.refuses("machine", "--jsn", says=["--json"])
    p.refuses("run", "cholesky", "--tyle", "3", says=["--tile"])
    p.refuses("sim", "cholesky", "--shced=dm", says=["--sched"])
    p.refuses("policies", "--qqqqqqqq", says=["--help"])


def test_option_value_out_of_range_names_the_range(p):
    p.refuses("run", "cholesky", "--n", "many", says=["--n", "many", "whole number"])
    p.refuses("run", "cholesky", "--n", "0", says=["from 1"])
    p.refuses("run", "cholesky", "--n", "100", "--tile", "200", says=["--tile", "200", "100"])
    p.refuses("run", "cholesky", "--n", "12x", says=["12x"])
    p.refuses("run", "cholesky", "--emulated-memory", "64Q", says=["64M"])
    p.refuses("run", "cholesky", "--precision", "half", says=["double", "single"])
    p.refuses("run", "cholesky", "--ncpu", "0", says=["worker"])
    p.refuses("machine", "--json", "--csv", says=["--json", "--csv"])
    p.refuses("machine", "extra", says=["extra"])


def test_wrong_usage_that_the_library_finds_has_status_2(p):
    p.refuses(*RUN, "--clusters", "garbage", says=["garbage", "socket"])
    p.refuses(*RUN, "--sched-options", "zork=1", says=["zork"])
    p.refuses(*RUN, "--ncpu", "90000", says=["90000 CPU workers"])
    p.refuses(*RUN, says=["HEDDLE_NCPU", "zz"], HEDDLE_NCPU="zz")
    p.refuses(*RUN, says=["HEDDLE_CLUSTERS", "HEDDLE_CLUSTERZ"], HEDDLE_CLUSTERZ="2")


def test_option_without_a_meaning_here_is_refused(p):
    p.refuses("run", "cholesky", "--m", "3", "--n", "64", "--tile", "32", says=["--m", "potrf"])
    p.refuses("run", "gemm", "--nrhs", "3", "--n", "64", "--tile", "32", says=["--nrhs", "gemm"])
    p.refuses("run", "potrs:n=64,tile=32,k=3", says=["--k", "potrs"])
    p.run("run", "potrs:n=64,tile=32,nrhs=3")
    p.refuses("models", "list", "-o", "x.png", says=["--output", "plot"])
    p.refuses("platforms", "--clusters=garbage", says=["--clusters", "name of a platform"])


def test_option_given_twice_is_refused_or_adds_up(p):
    p.refuses("run", "cholesky", "--n", "64", "--tile", "32", "--n", "96", says=["--n", "twice"])
    p.refuses("run", "cholesky:n=64,tile=32,n=96", says=["n is given twice"])
    run = ("sim", os.path.join(GRAPHS, "sample.json"), "-p", "gpu1-cpu6")
    assumed = p.warns(*run, "--speedup", "k40m:potrf=5", "--speedup", "k40m:trsm=3")[1]
    assert "potrf" in assumed and "trsm" in assumed, assumed


def test_names_in_tables_and_messages_have_nothing_that_a_terminal_obeys(p):
    with open(p.path("a.json"), "w") as f:
        f.write('{"heddle_graph": 1, "name": "a", "types": [{"name": "x\\u001b[31my", "color": "#D03B3B"}],'
                '"tasks": [{"type": "x\\u001b[31my", "times": {"cpu": 1}}]}')
    out, _ = p.run("graph", "a.json")
    assert "\033" not in out and "x\\x1b[31my" in out, out
    p.refuses("graph", "\033[31m.json", says=["\\x1b[31m.json"], status=1)
    for option in ("--n", "--sched", "--streams", "--seed", "--precision", "--set"):
        p.refuses("sim", "cholesky", "-p", "gpu1-cpu6", option, "\033[31m", says=["\\x1b[31m"])


def test_output_to_a_full_device_fails(p):
    if not os.path.exists("/dev/full"):
        return
    p.run("graph", "--random", "n=5", "-o", "g.json")
    for arguments in (["help"], ["--help"], ["-h"], ["--version"], ["version"], ["sim", "--help"], ["sim", "--usage"],
                      ["policies"],
                      ["policies", "--csv"], ["policies", "--json"], ["machine", "--help"], ["help", "sim"], ["config"],
                      ["platforms", "--csv"],
                      ["models", "list"], ["repro", "--list"], [*SIM], [*SIM, "--csv"], [*SIM, "--json"],
                      ["graph", "g.json"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([p.command, *arguments], cwd=p.directory, env=p.env, stdout=full,
                                    stderr=subprocess.PIPE)
        assert result.returncode == 1 and b"standard output" in result.stderr, (arguments, result)


def test_missing_folder_of_a_file_is_an_error_that_names_it(p):
    p.run(*SIM, "--trace", "t.trace")
    for arguments in ([*SIM, "--gantt", "nodir/x.png"], [*SIM, "--trace", "nodir/t.trace"],
                      ["trace", "t.trace", "-o", "nodir/x.png"],
                      ["graph", "--random", "n=5", "-o", "nodir/g.json"],
                      ["platform", "calibrate", "--output", "nodir/p.yaml"]):
        p.refuses(*arguments, says=["there is no directory nodir", "make it"], status=1)
    p.refuses("lab", "--quick", "-o", "nodir/deeper", says=["nodir/deeper"], status=1)
    assert not os.path.exists(p.path("nodir"))


def test_settings_come_from_a_regular_file_of_a_decent_size(p):
    p.refuses("config", says=["/dev/zero", "no regular file"], status=1, HEDDLE_CONFIG="/dev/zero")
    with open(p.path("large"), "wb") as f:
        f.truncate(1 << 30)
    p.refuses("config", says=["large", "1048576"], status=1, HEDDLE_CONFIG=p.path("large"))


# --- machine, policies, config, platforms -----------------------------------------------------------------------------

def test_machine_shows_workers_and_nodes(p):
    m = p.json("machine")
    assert len(m["workers"]) >= 1 and len(m["nodes"]) >= 1 and m["classes"][0]["kind"] == "cpu"
    out, _ = p.run("machine")
    assert "Memory nodes" in out and "Workers" in out


def test_machine_lists_devices_or_says_what_is_missing(p):
    rows = p.json("machine")["devices"]
    equal({row["kind"] for row in rows}, {"cuda", "opencl"})
    for row in rows:
        assert row["missing"] or row["device"], row
    # All OpenCL devices are used, except those that an OpenCL driver offers of a GPU that CUDA drives.
    m = p.json("machine", "--opencl", "-1")
    names = {row["device"] for row in m["devices"] if row["kind"] == "opencl" and row["used"] == "yes"}
    equal({w["name"] for w in m["workers"] if w["name"].startswith("opencl")}, names)


def test_opencl_without_a_device_says_what_to_install(p):
    row = next(row for row in p.json("machine", OCL_ICD_VENDORS="/nonexistent")["devices"] if row["kind"] == "opencl")
    if row["device"]:
        return # the loader that is installed does not read this variable
    assert "apt-get install" in row["missing"], row
    equal(p.json("machine", "--opencl", "-1", OCL_ICD_VENDORS="/nonexistent")["nodes"], p.json("machine")["nodes"])
    p.refuses(*RUN, "--opencl", "1", says=["1 OpenCL device is asked for", "apt-get install"],
              OCL_ICD_VENDORS="/nonexistent")


def test_run_and_calibrate_on_an_opencl_device(p):
    device = next(row for row in p.json("machine")["devices"] if row["kind"] == "opencl")
    if not device["device"]:
        print(f"left out: {device['missing']}")
        return
    options = ("--opencl", "1", "--ncpu", "1", "--streams", "3", "--memory", "64M")
    m = p.json("machine", *options, "--measure")
    equal([w["name"] for w in m["workers"]], ["cpu0", device["device"]])
    equal(m["classes"][1]["streams"], 3)
    equal(m["nodes"][1]["capacity_mib"], 64)
    assert all(link["latency_us"] > 0 for link in m["links"]), m["links"]
    r = p.json(*RUN, *options, "--explain")
    assert r["run"]["residual"] < 30, r["run"]
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64", *options, "-o", "here.yaml")
    equal({c["kind"] for c in p.json("platforms", "./here.yaml")["classes"]}, {"cpu", "opencl"})
    # alone, from the data to the residual; what has no kernel there is said
    r = p.json(*RUN, "--opencl", "1", "--ncpu", "0", "--explain")
    assert r["run"]["residual"] < 30, r["run"]
    equal({w["worker"] for w in r["workers"]}, {device["device"]})
    p.refuses("run", "getrf", "--n", "64", "--tile", "32", "--opencl", "1", "--ncpu", "0", status=1,
              says=["no worker of this runtime can run codelet dgetrf_panel"])


def environment_of_the_standin(p, *libraries):
    """For commands on the stand-in for CUDA's driver; None, after saying why, where it or one of `libraries` is not."""
    standin = os.path.join(os.path.dirname(p.command), "standin")
    there = os.listdir(standin) if os.path.isdir(standin) else []
    for library in ("libcuda.so.1", *libraries):
        if not any(name.startswith(library) for name in there):
            print(f"left out: this build has no stand-in for {library}")
            return None
    return {"LD_LIBRARY_PATH": standin, "STANDIN_DEVICES": "3", "HEDDLE_CUDA": "-1"}


def test_cuda_devices_are_used_unless_told_otherwise(p):
    env = environment_of_the_standin(p)
    if not env:
        return
    m = p.json("machine", "--ncpu", "1", **env)
    equal([w["name"] for w in m["workers"]], ["cpu0", "cuda0", "cuda1", "cuda2"])
    equal([d["used"] for d in m["devices"] if d["kind"] == "cuda"], ["yes"] * 3)
    assert all(d["address"] and d["near_cores"] for d in m["devices"] if d["kind"] == "cuda"), m["devices"]
    m = p.json("machine", "--cuda", "1", "--ncpu", "1", "--streams", "4", "--measure", **env)
    equal([d["used"] for d in m["devices"] if d["kind"] == "cuda"], ["yes", "no", "no"])
    equal(m["classes"][1]["streams"], 4)
    equal(len(m["links"]), 2)
    p.refuses("machine", "--cuda", "4", says=["4 CUDA devices are asked for", "cuda2"], **env)


def test_run_and_calibrate_on_a_cuda_device(p):
    env = environment_of_the_standin(p, "libcublas.so", "libcusolver.so") # NVIDIA's own need a device
    if not env:
        return
    r = p.json(*RUN, "--ncpu", "1", "--cuda", "2", **env)
    assert r["run"]["residual"] < 30, r["run"]
    options = ("--cuda", "1", "--ncpu", "1", "--streams", "3")
    r = p.json(*RUN, *options, "--sched", "random", "--explain", **env)
    assert r["run"]["residual"] < 30, r["run"]
    equal({w["worker"] for w in r["workers"]}, {"cpu0", "cuda0"})
    p.run("platform", "calibrate", "--seconds", "0", "--n", "128", "--tiles", "32", *options, "-o", "here.yaml", **env)
    found = p.json("platforms", "./here.yaml")
    cuda = next(row for row in found["classes"] if row["kind"] == "cuda")
    equal((cuda["streams"], len(cuda["sharing"].split())), (3, 3))
    equal({k["class"] for k in found["kernels"] if k["codelet"] == "dgemm"}, {"cpu", cuda["name"]})


def test_machine_takes_the_options_of_run(p):
    m = p.json("machine", "--ncpu", "1", "--emulated", "2", "--memory", "64M", "--streams", "3")
    equal([w["name"] for w in m["workers"]], ["cpu0", "emulated0", "emulated1"])
    equal([n["capacity_mib"] for n in m["nodes"][1:]], [64, 64])
    equal([c["streams"] for c in m["classes"]], [1, 3])
    m = p.json("machine", "--emulated", "1", "--memory", "64M", "--emulated-memory", "1M", "--emulated-latency", "7")
    equal(m["nodes"][1]["capacity_mib"], 1)
    equal(m["links"][0]["latency_us"], 7)
    p.refuses("machine", "--opencl", "x", says=["--opencl", "-1"])


def test_machine_measures_links_when_asked(p):
    assumed = p.json("machine", "--emulated", "1")["links"]
    equal({link["latency_us"] for link in assumed}, {0})
    measured = p.json("machine", "--emulated", "1", "--measure")["links"]
    assert all(link["latency_us"] > 0 for link in measured), measured


def test_devices_that_are_not_there_are_refused(p):
    for kind, name in (("cuda", "CUDA"), ("opencl", "OpenCL")):
        says = [f"9999 {name} devices are asked for", f"HEDDLE_{name.upper()}", f"--{kind}"]
        p.refuses("machine", f"--{kind}", "9999", says=says)
        p.refuses(*RUN, f"--{kind}", "9999", says=says)
        p.refuses("platform", "calibrate", f"--{kind}", "9999", says=says)
    p.refuses(*RUN, "--ncpu", "0", says=["--ncpu", "--cuda", "--opencl", "--emulated"])


def test_machine_shows_emulated_accelerators_when_configured(p):
    for extra, env in ([("--set", "n_emulated=2", "--set", "emulated_memory=64M"), {}],
                       [(), {"HEDDLE_EMULATED": "2", "HEDDLE_EMULATED_MEMORY": "64M"}]):
        m = p.json("machine", *extra, **env)
        equal(sum(w["class"] == "emulated" for w in m["workers"]), 2)
        equal([n["capacity_mib"] for n in m["nodes"][1:]], [64, 64])
        assert len(m["links"]) >= 4


def test_more_workers_than_cores_are_refused(p):
    cores = len(p.json("machine")["workers"])
    says = ["1000", f" {cores} core", "-1"]
    p.refuses(*RUN, "--ncpu", "1000", says=says)
    p.refuses("machine", says=says, HEDDLE_NCPU="1000")


def test_machine_ncpu_limits_the_workers(p):
    equal(len(p.json("machine", HEDDLE_NCPU="1")["workers"]), 1)


def test_policies_are_listed_with_source(p):
    names = [row["name"] for row in p.csv("policies")]
    for name in ["eager", "prio", "random", "ws", "lws", "dm", "dmda", "dmdar", "dmdas"]:
        assert name in names, name
    assert all(row["summary"] and row["source"] for row in p.json("policies")["policies"])


def test_policies_name_shows_tunables(p):
    found = p.json("policies", "dmda")
    equal(found["policy"]["name"], "dmda")
    beta = [t for t in found["tunables"] if t["name"] == "beta"]
    assert beta and float(beta[0]["default"]) == 1 and beta[0]["help"], found
    assert "beta" in p.run("policies", "dmda")[0]


def test_policies_tunables_can_be_variables(p):
    what = ["sim", "cholesky", "--n", "5760", "--tile", "960", "--precision", "s", "--platform", "haswell-k40m",
            "--sched", "dada"]

    def makespan(*more, **env):
        return p.json(*what, *more, **env)["policies"][0]["makespan_ms"]
    zero = makespan("--sched-options", "alpha=0")
    assert zero != makespan()
    equal(makespan(HEDDLE_DADA_ALPHA="0"), zero)
    equal(makespan("--sched-options", "alpha=0.5", HEDDLE_DADA_ALPHA="0"), makespan())
    p.refuses(*what, says=["alpha", "dada", "0 to 1"], HEDDLE_DADA_ALPHA="2")
    assert "HEDDLE_DADA" not in p.run("config", HEDDLE_DADA_ALPHA="1")[0]
    assert "HEDDLE_DADA_BETA" in p.run("config", HEDDLE_DADA_BETA="1")[0]


def test_policies_long_list_of_words_stands_below_the_table(p):
    words = {t["name"]: t["unit"].split("|") for t in p.json("policies", "autoheteroprio")["tunables"]}
    out, _ = p.run("policies", "autoheteroprio")
    table, heuristics, locality = re.split("Values of (?:heuristic|locality)\n", out)
    assert "URT/s_diff" not in table and table.split("Tunables\n")[1].index("meaning") < 90, table
    equal(heuristics.split(), words["heuristic"])
    equal(locality.split(), words["locality"])
    assert max(map(len, heuristics.split("\n"))) <= 100, heuristics


def documented_tunables(tunables):
    """The table of tunables as docs/policies.md must have it."""
    rows = ["| tunable | default | values | meaning |", "|---|---|---|---|"]
    for t in tunables:
        limits = f"{t['min']} to {t['max']} {t['unit']}".strip()
        values = ", ".join(f"`{word}`" for word in t["unit"].split("|")) if "|" in t["unit"] else t["unit"]
        default = f"`{t['default']}`" if t["default"] else "(empty)"
        rows.append(f"| `{t['name']}` | {default} | {values if t['max'] is None else limits} | {t['help']} |")
    return "\n".join(rows) if tunables else "No tunables."


def test_policies_document_has_every_policy_with_its_tunables(p):
    text = document("policies.md")
    sections = dict(re.findall(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    policies = p.csv("policies")
    equal(list(sections), [row["name"] for row in policies])
    table = re.findall(r"^\| \[`(\w+)`\]\(#\1\) \| (when \w+) \|", text, re.MULTILINE)
    equal(table, [(row["name"], row["decides"]) for row in policies])
    for name, section in sections.items():
        expected = documented_tunables(p.json("policies", name)["tunables"])
        assert f"\n\n{expected}\n\n" in section, f"docs/policies.md, section `{name}`, must have this:\n\n{expected}"


def test_policies_unknown_name_is_answered(p):
    p.refuses("policies", "dmdaz", says=["dmda"])
    p.refuses("policies", "dm", "dmda", says=["dmda"])


def test_config_shows_every_setting_and_its_origin(p):
    os.makedirs(p.path("config/heddle"))
    with open(p.path("config/heddle/config"), "w") as f:
        f.write("window = 77 # comment\n")
    found = p.json("config", "--set", "n_cpu=1", HEDDLE_SEED="5")
    rows = {row["name"]: row for row in found["settings"]}
    equal((rows["window"]["value"], rows["window"]["origin"]), ("77", "file"))
    equal((rows["seed"]["value"], rows["seed"]["origin"]), ("5", "environment"))
    equal((rows["n_cpu"]["value"], rows["n_cpu"]["origin"]), ("1", "--set"))
    equal(rows["noise"]["origin"], "default")
    assert all(row["variable"].startswith("HEDDLE_") and row["help"] and row["range"] for row in rows.values())
    assert found["configuration"]["file"].endswith("config/heddle/config")


def test_config_unknown_variable_is_reported(p):
    found = p.json("config", HEDDLE_SHCED="dm")
    equal(found["unknown"], [{"variable": "HEDDLE_SHCED", "suggestion": "HEDDLE_SCHED"}])
    assert "HEDDLE_SHCED" in p.run("config", HEDDLE_SHCED="dm")[0]
    equal(p.json("config")["unknown"], [])
    p.refuses("machine", says=["HEDDLE_EMULATD", "HEDDLE_EMULATED"], HEDDLE_EMULATD="2")
    p.run("machine", HEDDLE_SOURCE_DIR="2")


def test_config_wrong_value_is_refused(p):
    p.refuses("config", says=["HEDDLE_NCPU", "lots"], HEDDLE_NCPU="lots")
    p.refuses("config", "--set", "windw=3", says=["window"])
    p.refuses("config", "--set", "window=-3", says=["window", "-3"])
    p.refuses("config", "--set", "window", says=["NAME=VALUE"])
    p.refuses("config", says=["HEDDLE_PIPELINE", "to 1000"], HEDDLE_PIPELINE="1000000")


def test_booleans_are_spelt_alike_everywhere(p):
    def bind(*more, **env):
        return [row["value"] for row in p.json("config", *more, **env)["settings"] if row["name"] == "bind"][0]

    def makespan(**env):
        return p.csv("sim", "cholesky:n=9600,tile=960,precision=s", "--platform", "haswell-k40m", "--sched", "dmda",
                     "--sched-options",
                     env.pop("options", ""), **env)[0]["makespan_ms"]
    fetched = {yes: makespan(options=f"prefetch={'yes' if yes else 'no'}") for yes in (False, True)}
    assert fetched[False] != fetched[True]
    for word, yes in ("0", False), ("no", False), ("false", False), ("1", True), ("yes", True), ("true", True):
        with open(p.path("settings"), "w") as f:
            f.write(f"bind = {word}\n")
        equal([bind("--set", "bind=" + word), bind(HEDDLE_BIND=word), bind(HEDDLE_CONFIG=p.path("settings"))],
              [str(int(yes))] * 3)
        equal([makespan(options="prefetch=" + word), makespan(HEDDLE_DMDA_PREFETCH=word)], [fetched[yes]] * 2)
    p.run(*RUN)
    path = os.path.join(models_dir(p), "dgemm.yaml")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace("complete: true", "complete: yes"))
    assert "complete: yes" in open(path).read() and p.json("models", "show", "dgemm")["models"]
    words = ["0", "1", "no", "yes", "false", "true"]
    p.refuses("config", "--set", "bind=maybe", says=["maybe", *words])
    p.refuses("config", says=["HEDDLE_BIND", "2", *words], HEDDLE_BIND="2")
    p.refuses(*SIM, "--sched", "dmda", "--sched-options", "prefetch=2", says=["prefetch", "2", *words])


def test_config_empty_policy_is_the_default(p):
    rows = {row["name"]: row for row in p.json("config", HEDDLE_SCHED="")["settings"]}
    equal(rows["sched"]["value"], "auto")
    p.run(*RUN, HEDDLE_SCHED="")
    p.refuses("run", "cholesky", "--sched", "qqqqqqqqqqqqqqqq", says=["lws", ", auto"])


def test_platforms_are_listed_and_described(p):
    names = [row["name"] for row in p.csv("platforms")]
    for name in ["haswell-k40m", "westmere-c2050", "intel-v100", "amd-a100"]:
        assert name in names, name
    k40m = p.json("platforms", "haswell-k40m")
    equal(sum(w["class"] == "k40m" for w in k40m["workers"]), 4)
    assert any(k["codelet"] == "sgemm" for k in k40m["kernels"]) and k40m["platform"]["source"]
    equal([(c["streams"], c["sharing"]) for c in k40m["classes"]], [(1, "1"), (1, "1")])


def test_platforms_show_has_rates_by_tile(p):
    rows = p.csv("platforms", "show", "haswell-k40m", "-r", "s", "--kernels", "gemm,potrf", "--tiles", "960,1920")
    equal([(r["codelet"], r["class"], r["tile"]) for r in rows],
          [(c, k, t) for c in ("sgemm", "spotrf") for k in ("cpu", "k40m") for t in ("960", "1920")])
    for r in rows:
        third = 6 if r["codelet"] == "sgemm" else 1
        rate = third * int(r["tile"]) ** 3 / 3 / float(r["mean_us"]) * 1e-3
        assert abs(float(r["rate_gflops"]) - rate) <= 1e-9 * rate, r
    equal(rows[0]["mean_us"], "34940.3")
    # a complex kernel has four times as many operations, and so the real one's rate
    real = p.csv("platforms", "show", "intel-v100", "--kernels", "tsmqr", "--tiles", "1920")
    both = zip(real, p.csv("platforms", "show", "intel-v100", "-r", "z", "--kernels", "tsmqr", "--tiles", "1920"))
    for d, z in both:
        assert float(d["rate_gflops"]) < float(z["rate_gflops"]) < 1.1 * float(d["rate_gflops"]), (d, z)
    lines = p.run("platforms", "show", "westmere-c2050")[0].splitlines()
    equal(lines[1].split(), ["codelet", "class", "240", "480", "960", "1920"])
    assert any(line.split()[:2] == ["dttmqr", "c2050"] for line in lines), lines
    assert not any(line.split()[:2] == ["dgetrf_panel", "c2050"] for line in lines), lines
    assert not any("hemm" in line for line in lines) and "zhemm" in p.run("platforms", "show", "amd-a100", "-rz")[0]


def test_platforms_show_draws(p):
    p.run("platforms", "show", "gpu1-cpu6", "--kernels", "gemm,trsm", "-o", "rates.svg")
    with open(p.path("rates.svg")) as f:
        assert "<svg" in f.read()
    p.run("platforms", "show", "gpu1-cpu6", "--tiles", "960", "-o", "rates.png") # an axis of one value


def test_platforms_show_refuses(p):
    p.refuses("platforms", "show", says=["needs a platform"])
    p.refuses("platforms", "shwo", says=["show"])
    p.refuses("platforms", "show", "haswell-k40", says=["haswell-k40m"])
    p.refuses("platforms", "show", "intel-v100", "--kernels", "gemm,trms", says=["trms", "trsm"])
    p.refuses("platforms", "show", "intel-v100", "-r", "x", says=["d, s, z or c"])
    p.refuses("platforms", "show", "intel-v100", "--tiles", "960,0", says=["--tiles", "from 1"])
    p.refuses("platforms", "show", "intel-v100", "--tiles", ",".join(["8"] * 33), says=["--tiles", "32"])
    p.refuses("platforms", "show", "intel-v100", "-o", "rates.gif", says=[".png"])
    p.refuses("platforms", "show", "intel-v100", "-o", "no/rates.png", says=["no"], status=1)
    p.refuses("platforms", "show", "intel-v100", "--kernels", "hemm", says=["intel-v100", "hemm"], status=1)


def test_platforms_unknown_name_is_answered(p):
    p.refuses("platforms", "haswell-k40", says=["haswell-k40m"])
    p.refuses("platform", "calibrat", says=["calibrate"])
    p.refuses("sim", "cholesky", "--platform", "haswel", says=["haswell-k40m"])


def test_platforms_damaged_file_is_named(p):
    os.makedirs(p.path("data/heddle/platforms"))
    with open(p.path("data/heddle/platforms/broken.yaml"), "w") as f:
        f.write("name: [1, 2\n")
    p.refuses("platforms", "broken", says=["broken.yaml"], status=1)
    p.refuses("platforms", says=["broken"], status=1)


# --- run --------------------------------------------------------------------------------------------------------------

def test_run_gives_a_small_residual(p):
    for precision in "d", "s":
        for layout in "tiled", "in-place":
            r = p.json(*RUN, "--precision", precision, "--layout", layout)["run"]
            assert 0 <= r["residual"] < 10 and r["makespan_ms"] > 0 and r["rate_gflops"] > 0, r
            equal(r["tasks"], 20)


def test_run_ragged_tiles_are_factorised(p):
    assert p.json("run", "cholesky", "--n", "500", "--tile", "120")["run"]["residual"] < 10


def test_tile_that_nobody_chose_is_at_most_the_matrix(p):
    for n, tile in (1, 1), (64, 64), (300, 256):
        r = p.json("run", "cholesky", "--n", str(n))["run"]
        assert (r["n"], r["tile"]) == (n, tile) and r["residual"] < 10, r
    equal(p.json("sim", "cholesky", "--n", "50", "--platform", "intel-v100")["problem"]["tile"], 50)
    for what in ("cholesky", "--n", "50"), ("cholesky:n=50",):
        equal(p.json("bound", *what, "--platform", "intel-v100")["bounds"]["tasks"], 1)
    equal(p.csv("compare", "cholesky:n=50", "--platforms", "intel-v100", "--scheds", "eager")[0]["runs"], "1")
    assert "--n 10 --tile 10)" in p.run("demo", "--n", "10", "-o", "pictures")[0]
    p.refuses("run", "cholesky", "--tile", "5000", says=["5000", "4096"])
    p.refuses("run", "cholesky:n=50,tile=60", says=["60", "50"])
    p.refuses("demo", "--n", "10", "--tile", "20", says=["--tile", "20", "10"])


def test_policies_that_are_compared_take_what_each_takes_alone(p):
    """All but the first simulate the graph that the first has submitted: also with memory that is too small."""
    policies = "eager", "dmdas", "lws", "multiprio"
    for work in "cholesky:n=28800,tile=960", "geqrf:n=4800,tile=960", "poinv:n=9600,tile=960":
        where = "compare", "--jobs", "1", work, "--platforms", "gpu1-cpu6", "--noise", ".1", "--scheds"
        together = p.csv(*where, ",".join(policies))
        for policy, row in zip(policies, together):
            alone = p.csv(*where, policy)[0]
            for column in "policy", "makespan_ms", "moved_mib", "idle_percent", "over_bound":
                equal(row[column], alone[column])


def test_run_on_emulated_accelerators_moves_and_evicts(p):
    r = p.json("run", "cholesky", "--n", "768", "--tile", "128", "--ncpu", "1", "--emulated", "2", "--memory",
               "1M",
               "--sched", "eager")["run"]
    assert r["residual"] < 10 and r["moved_mib"] > 0 and r["evictions"] > 0, r


def test_run_explain_shows_each_memory(p):
    """The memory has room for half of the tiles; 20 tasks read 40."""
    small = ("--ncpu", "0", "--emulated", "1", "--emulated-memory", "640K", "--sched", "eager")
    found = p.json(*RUN, *small, "--explain")
    ram, card = found["memories"]
    equal((ram["memory"], card["memory"], card["capacity_mib"]), ("ram", "emulated0", 0.625))
    equal(card["hits"] + card["misses"], 40)
    equal(ram["hits"] + ram["misses"] + ram["evictions"], 0)
    equal(card["evictions"], found["run"]["evictions"])
    assert 0 < card["least_in_mib"] <= card["in_mib"] == card["demand_mib"] + card["prefetch_mib"], card
    equal((card["in_mib"], card["out_mib"]), (ram["out_mib"], ram["in_mib"]))
    equal(card["in_mib"] + card["out_mib"], found["run"]["moved_mib"])
    assert 0 < card["copying_ms"] == ram["copying_ms"] and 0 <= card["overlap_percent"] <= 100, card


def test_run_with_room_moves_no_more_than_it_must(p):
    for streams in "1", "3":
        found = p.json(*RUN, "--ncpu", "1", "--emulated", "2", "--streams", streams, "--sched", "dmdas", "--explain")
        for memory in found["memories"]:
            assert memory["least_in_mib"] <= memory["in_mib"] and memory["evictions"] == 0, memory


def test_run_with_data_in_ram_moves_what_sim_moves(p):
    """One accelerator alone fills the matrix in its own memory; virtual time begins with all data in main memory."""
    alone = ("--ncpu", "0", "--emulated", "1")
    p.run("platform", "calibrate", "--seconds", "0", "--n", "512", "--tiles", "128", *alone, "-o", "./e.yaml")
    for routine, tiles in ("potrf", 10), ("gemm", 48):
        work = (routine, "--n", "512", "--tile", "128", "--sched", "dmdas")
        virtual = p.csv("sim", *work, "--platform", "./e.yaml")[0]
        real = p.csv("run", *work, *alone, "--data", "ram", "--repeat", "2")[0]
        for row in virtual, real:
            equal((row["transfers"], float(row["moved_mib"])), (str(tiles), tiles / 8))
        equal(p.csv("run", *work, *alone, "--data", "filled")[0]["transfers"], "0")
    p.refuses(*RUN, "--data", "disk", says=["--data", "filled", "ram", "disk"])


def test_sim_explain_shows_each_memory_of_every_policy(p):
    with open(os.path.join(PLATFORMS, "gpu1-cpu6.yaml"), encoding="utf-8") as f:
        text = f.read()
    with open(p.path("small.yaml"), "w", encoding="utf-8") as f:
        f.write(text.replace("capacity_mib: 10367", "capacity_mib: 64"))
    found = p.json("sim", "cholesky", "--n", "9600", "--tile", "960", "--precision", "s", "--platform", "./small.yaml",
                   "--sched", "all", "--explain")
    for row in found["policies"]:
        ram, card = [m for m in found["memories"] if m["policy"] == row["policy"]]
        equal(card["evictions"], row["evictions"])
        assert 0 < card["least_in_mib"] <= card["in_mib"] == card["demand_mib"] + card["prefetch_mib"], card
        assert abs(card["in_mib"] + card["out_mib"] - row["moved_mib"]) < 1e-6, (row, card)
        equal(sum(m["hits"] + m["misses"] for m in (ram, card)), 10 + 90 + 90 + 360)
        assert 0 <= card["overlap_percent"] <= 100, card


def test_run_stays_above_its_area_bound(p):
    r = p.json("run", "cholesky", "--n", "512", "--tile", "64")["run"]
    assert 0 < r["area_bound_ms"] <= r["makespan_ms"] * 1.001 and r["path_bound_ms"] > 0, r
    assert p.json(*RUN, "--no-trace")["run"]["area_bound_ms"] is None


def test_run_without_a_place_for_models_prints_its_table(p):
    open(p.path("file"), "w").close()
    out, err = p.warns(*RUN, XDG_DATA_HOME=p.path("file"))
    assert "residual" in out, out
    assert p.path("file/heddle/models") in err and "HEDDLE_MODEL_DIR" in err and err.count("\n") == 1, err
    out, err = p.warns(*RUN, status=1, HEDDLE_MODEL_DIR=p.path("file/mine"))
    assert "residual" in out, out
    assert p.path("file/mine") in err and "HEDDLE_MODEL_DIR" in err, err
    out, _ = p.run(*RUN, XDG_DATA_HOME=p.path("file"), HEDDLE_MODEL_DIR="none")
    assert "residual" in out, out


def test_run_says_that_a_platform_is_ignored(p):
    out, err = p.warns(*RUN, HEDDLE_PLATFORM="haswell-k40m")
    assert "residual" in out, out
    assert "HEDDLE_PLATFORM" in err and "heddle sim cholesky --platform haswell-k40m" in err, err
    p.run(*RUN, HEDDLE_PLATFORM="")


def test_run_repeated_gives_the_median(p):
    r = p.json(*RUN, "--repeat", "3")["run"]
    assert 0 < r["min_makespan_ms"] <= r["makespan_ms"] <= r["max_makespan_ms"], r


def test_run_writes_trace_and_charts(p):
    os.mkdir(p.path("out"))
    p.run(*RUN, "--trace", "out/t.trace", "--gantt", "out/g.png")
    p.starts_with("out/g.png", b"\x89PNG")
    found = p.json("trace", "out/t.trace")
    equal(found["trace"]["tasks"], 20)
    equal(found["trace"]["clock"], "real")


def test_run_explain_shows_workers_and_codelets(p):
    found = p.json(*RUN, "--explain")
    equal(sum(row["tasks"] for row in found["workers"]), 20)
    equal({row["codelet"] for row in found["codelets"]}, {"dpotrf", "dtrsm", "dsyrk", "dgemm"})


def test_run_explain_counts_the_policys_figures_over_the_timed_factorisation(p):
    def figures(*options):
        rows = p.json(*RUN, "--no-check", "--explain", *options)["figures"]
        return {row["figure"]: row["value"] for row in rows}, {row["figure"]: row["span"] for row in rows}
    for repeat in "1", "5":
        found, span = figures("--sched", "lws", "--repeat", repeat)
        equal(found["picks"] - found["picks in vain"], 20)
        equal(found["taken from the own queue"] + found["stolen"], 20)
        equal((span["picks"], span["stolen"], span["longest queue"]), ("this run", "this run", "since the start"))
        equal(figures("--sched", "dmda", "--repeat", repeat)[0]["tasks placed"], 20)
    found, _ = figures("--sched", "heteroprio", "--repeat", "3")
    equal(sum(value for name, value in found.items() if " takes: " in name), 20)


def test_run_wrong_names_are_answered(p):
    p.refuses("run", says=["cholesky"])
    p.refuses("run", "choleski", says=["cholesky"])
    p.refuses(*RUN, "--sched", "dmdass", says=["dmdas"])
    p.refuses(*RUN, "--sched", "dmda", "--sched-options", "betta=1", says=["beta"])
    p.refuses(*RUN, "--gantt", "g.gif", says=[".png"])
    p.refuses(*RUN, "--trace", "/proc/none/x", says=["/proc/none"], status=1)
    p.refuses(*RUN, "--no-trace", "--explain", says=["--explain"])


def test_run_that_does_not_fit_the_emulated_memory_says_what_would(p):
    run = ["run", "cholesky", "--n", "512", "--tile", "256", "--ncpu", "0", "--emulated", "1"]
    p.refuses(*run, "--emulated-memory", "1400K", says=["bytes of data at once", "smaller pieces", "emulated_memory"],
              status=1)
    p.refuses(*run, "--emulated-memory", "1900K", says=["residual", "--no-check", "--emulated-memory", "--tile"],
              status=1)
    p.run(*run, "--emulated-memory", "1900K", "--no-check")


def test_run_without_address_space_for_blas_is_refused(p):
    """OpenBLAS tries again for ever when it gets no memory."""
    def start(*arguments):
        return subprocess.run([p.command, *arguments], cwd=p.directory, env=p.env, capture_output=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)))
    if start("version").returncode:
        return  # a sanitizer wants more before it begins
    result = start(*RUN, "--ncpu", "1")
    for word in ("address space", "OpenBLAS", "300 MiB", "ulimit -v", "--ncpu"):
        assert result.returncode == 1 and word in result.stderr.decode(), (word, result)


def test_run_too_large_for_memory_is_refused(p):
    p.refuses("run", "cholesky", "--n", "9000000", "--tile", "1000", says=["--n", "iB"])


# --- sim --------------------------------------------------------------------------------------------------------------

def test_sim_all_policies_stay_above_the_bounds(p):
    found = p.json(*SIM, "--sched", "all")
    rows, problem = found["policies"], found["problem"]
    equal([row["policy"] for row in rows], [row["name"] for row in p.csv("policies")])
    equal(problem["tasks"], 220)
    assert problem["bound_ms"] >= max(problem["area_bound_ms"], problem["path_bound_ms"]) > 0
    for row in rows:
        assert row["makespan_ms"] >= problem["bound_ms"] * (1 - 1e-6), row
        assert 0 <= row["idle_percent"] <= 100 and row["rate_gflops"] > 0 and row["simulated_tasks_per_s"] > 0, row


def test_sim_twice_gives_the_same(p):
    def results(**env):
        rows = p.csv(*SIM, "--sched", "random,dmda,lws", "--noise", "0.1", "--seed", "3", **env)
        return [[v for k, v in row.items() if k != "simulated_tasks_per_s"] for row in rows]
    equal(results(), results())


def test_sim_traces_are_identical_byte_for_byte(p):
    for name in "a.trace", "b.trace":
        p.run(*SIM, "--sched", "dmdas", "--trace", name)
    with open(p.path("a.trace"), "rb") as a, open(p.path("b.trace"), "rb") as b:
        equal(a.read() == b.read(), True)


def test_sim_seed_changes_noisy_times(p):
    times = {p.csv(*SIM, "--sched", "dmda", "--noise", "0.2", "--seed", seed)[0]["makespan_ms"] for seed in "123"}
    equal(len(times), 3)


def test_sim_draws_the_best_policy(p):
    p.run(*SIM, "--sched", "eager,dmdas", "--gantt", "g.svg", "--trace", "t.trace")
    said = p.warns("sim", "cholesky:n=3840,tile=960", "-p", "gpu1-cpu6", "-s", "eager,dmda,dmdar", "--gantt", "g.svg")
    assert "the picture shows dmda; the makespan is the same under dmdar" in said[1], said[1]
    with open(p.path("g.svg")) as f:
        assert "<svg" in f.read(2000)
    equal(p.json("trace", "t.trace")["trace"]["policy"], "dmdas")


def test_sim_charts_have_one_row_for_idle_workers_side_by_side(p):
    heights = []
    for n in "960", "9600": # one task, and many
        p.run("sim", "cholesky", "-n", n, "-b", "960", "-r", "s", "-p", "haswell-k40m", "-s", "eager", "--gantt",
              "a.svg")
        with open(p.path("a.svg")) as f:
            heights.append(float(re.search(r'height="([0-9.]+)', f.read()).group(1)))
    assert heights[0] < 300 < heights[1], heights


def test_sim_platform_comes_from_the_environment(p):
    out, _ = p.run("sim", "cholesky", "--n", "9600", "--tile", "960", "--sched", "eager",
                   HEDDLE_PLATFORM="westmere-c2050")
    assert "westmere-c2050" in out


def test_sim_explain_sums_to_all_tasks(p):
    found = p.json(*SIM, "--sched", "eager,dmda", "--explain")
    equal(sum(row["tasks"] for row in found["workers"]), 440)
    assert found["links"] and {row["policy"] for row in found["figures"]} == {"eager", "dmda"}, found["figures"]
    costs = {row["figure"]: row["value"] for row in found["figures"] if row["policy"] == "dmda"}
    equal(costs["picks"] - costs["picks in vain"], 220)
    assert costs["batches of ready tasks"] > 0 and costs["time in the policy per task"] > 0, costs


def test_sim_streams_are_those_that_the_option_says(p):
    def area(streams, in_trace):
        result = p.json(*SIM, "--sched", "all", "--streams", streams, "--trace", "a.trace")
        with open(p.path("a.trace"), encoding="utf-8") as f:
            equal("streams: " in f.read(), in_trace)
        return result["problem"]["area_bound_ms"]
    alone = area("1", False)
    equal(area("4", True), alone)  # kernels at once gain nothing unless rates say so
    assert alone / 1.5 < area("1,0.75,0.5", True) < 0.9 * alone


CLUSTERED = ("potrf", "--n", "5760", "--tile", "960", "--platform", "haswell-k40m", "--sched", "dmdas")


def test_sim_groups_cores_into_clusters(p):
    workers = {w["worker"]: w for w in p.json("sim", *CLUSTERED, "--clusters", "socket", "--explain")["workers"]}
    equal(sorted(workers), ["cpu0-9", "cpu12-21", "k40m-0", "k40m-1", "k40m-2", "k40m-3"])
    equal({w["class"] for w in workers.values()}, {"cpu*10", "k40m"})
    assert sum(w["tasks"] for w in workers.values() if w["class"] == "cpu*10") > 0, workers
    for unknown in "sockets", "best", "auto:none,socket":
        p.refuses("sim", *CLUSTERED, "--clusters", unknown,
                  says=["haswell-k40m", unknown.split(",")[0], "it must be none, socket, numa", "2x4+1x6",
                        "auto, adaptive, or a list such as adaptive:none,2"])
    p.refuses("sim", *CLUSTERED, "--clusters", "3x10", says=["3x10", "20 cores"])
    by_variable, _ = p.run("sim", *CLUSTERED, "--csv", HEDDLE_CLUSTERS="socket")
    equal(by_variable.split(",")[:11], p.run("sim", *CLUSTERED, "--csv", "--clusters", "2x10")[0].split(",")[:11])
    workers = p.json("sim", *CLUSTERED, "--clusters", "adaptive", "--explain")["workers"]
    assert {"cpu*10", "k40m"} <= {w["class"] for w in workers if w["tasks"]}, workers  # it merges
    bound = p.json("bound", *CLUSTERED[:7], "--clusters", "socket")["bounds"]
    assert bound["path_bound_ms"] < p.json("bound", *CLUSTERED[:7])["bounds"]["path_bound_ms"] / 2, bound
    r = p.json("platforms", "haswell-k40m", "--clusters", "socket,1x10")
    equal([(w["name"], w["driven"]) for w in r["workers"] if w["class"] == "cpu*10"],
          [("cpu0-9", "yes"), ("cpu12-21", "yes")])
    equal({w["driven"] for w in r["workers"] if w["class"] == "cpu"}, {"no"})
    equal([x["level"] for x in r["levels"]], ["socket", "numa", "l3"])
    equal([x["factors"] for x in r["speedups"] if x["codelet"] == "dgemm"], ["7.77 8.56"])
    ours = p.json("machine", "--clusters", "none")
    assert ours["levels"] == [] or all(x["level_cores"] for x in ours["levels"]), ours["levels"]


def test_sim_keeps_codelets_on_classes(p):
    def classes(codelet, *options):
        usual = [word for word in CLUSTERED if "--n" not in options or word not in ("--n", "5760")]
        rows = p.json("sim", *usual, "--explain", *options)["codelets"]
        return {row["class"] for row in rows if row["codelet"] == codelet}
    clusters = "--clusters", "1x10+10x1", "--sched", "random", "--n", "11520"
    equal(classes("dgemm", *clusters), {"cpu", "cpu*10", "k40m"})
    equal(classes("dgemm", *clusters, "--keep", "dgemm=cpu+k40m"), {"cpu", "k40m"})  # off clusters
    equal(classes("dgemm", *clusters, "--keep", "dtrsm=k40m,dgemm=cpu*10+k40m"), {"cpu*10", "k40m"})  # off cores
    equal(classes("dtrsm", "--clusters", "adaptive", "--keep", "dtrsm=cpu*10"), {"cpu*10"})
    p.refuses("sim", *CLUSTERED, "--keep", "dgemm", says=["dgemm", "CODELET=CLASS+CLASS"])
    p.refuses("sim", *CLUSTERED, "--keep", "dgemm=cpu+", says=["dgemm", "CODELET=CLASS+CLASS"])
    p.refuses("sim", *CLUSTERED, "--keep", "", says=["--keep is empty"])
    p.refuses("sim", *CLUSTERED, "--keep", "dgem=cpu", says=["dgem", "dgemm"])
    p.refuses("sim", *CLUSTERED, "--keep", "dgemm=cpu+k40", says=["k40", "k40m"])
    p.refuses("sim", *CLUSTERED, "--clusters", "2x10", "--keep", "dgemm=cpu,dgemm=k40m", says=["nothing could run it"])
    p.refuses("sim", *CLUSTERED, "--clusters", "auto", "--keep", "dgemm=cpu", says=["--clusters", "not auto"])
    p.refuses("sim", os.path.join(GRAPHS, "sample.json"), "-p", "haswell-k40m", "--keep", "a=cpu",
              says=["times of their own"])


def test_adaptive_clusters_are_hardly_worse_than_cores_or_sockets(p):
    for routine, orders in (("potrf", (3840, 5760, 15360)), ("getrf_nopiv", (3840, 4800, 9600)),
                            ("getrf", (3840, 11520, 14400)), ("geqrf", (2880, 7680, 9600))):
        gains = []
        for n in orders:
            question = ("sim", routine, "--n", str(n), "--tile", "960", "--platform", "haswell-k40m", "--sched",
                        "dmdas", "--clusters")
            rates = {c: p.json(*question, c)["policies"][0]["rate_gflops"] for c in ("none", "socket", "adaptive")}
            gains.append(rates["adaptive"] / max(rates["none"], rates["socket"]) - 1)
        assert min(gains) >= -0.02 and max(gains) > 0.02, (routine, orders, gains)


def test_auto_clusters_are_never_worse_than_cores_or_sockets(p):
    """Orders at which adaptive is the worst, or cores or sockets are the best of all cluster sets."""
    for routine, orders in (("potrf", (1920, 7680, 9600, 12480)), ("getrf_nopiv", (1920, 9600, 12480)),
                            ("getrf", (1920, 11520)), ("geqrf", (8640, 9600))):
        for n in orders:
            question = ("sim", routine, "--n", str(n), "--tile", "960", "--platform", "haswell-k40m", "--sched",
                        "dmdas", "--clusters")
            times = {c: p.json(*question, c)["policies"][0]["makespan_ms"] for c in ("none", "socket", "auto")}
            assert times["auto"] <= 1.02 * min(times.values()), (routine, n, times)


def test_auto_clusters_are_the_best_of_the_cluster_sets(p):
    for routine, n in ("potrf", "5760"), ("getrf_nopiv", "3840"), ("geqrf", "3840"):
        question = ("sim", routine, "--n", n, "--tile", "960", "--platform", "haswell-k40m", "--sched", "dmdas",
                    "--clusters")
        r = p.json(*question, "auto")
        tried = {x["clusters"]: x["makespan_ms"] for x in r["cluster_sets"]}
        chosen = [x["clusters"] for x in r["cluster_sets"] if x["chosen"] == "yes"]
        assert len(tried) >= 8 and {"none", "socket", "1x10"} <= set(tried), tried
        equal(len(chosen), 1)
        equal(tried[chosen[0]], min(tried.values()))
        equal(r["policies"][0]["makespan_ms"], tried[chosen[0]])
        equal(p.json(*question, "socket")["policies"][0]["makespan_ms"], tried["socket"])
        assert tried[chosen[0]] < 0.95 * min(tried["none"], tried["socket"]), tried
    out, _ = p.run("tune", "potrf", "--n", "4800", "--tile", "960", "--platform", "haswell-k40m", "--scheds", "dmdas",
                   "--clusters", "auto")
    command = out.strip().split("\n")[-1].split()
    equal(command[-2], "--clusters")
    assert float(p.csv(*command[1:])[0]["makespan_ms"]) > 0
    equal(p.json("sim", *CLUSTERED, HEDDLE_CLUSTERS="auto")["cluster_sets"],
          p.json("sim", *CLUSTERED, "--clusters", "auto")["cluster_sets"])
    here = ("potrf", "--n", "256", "--clusters", "auto")
    p.refuses("run", *here, "--tile", "128", says=["heddle platform calibrate"])
    p.refuses("tune", *here, says=["heddle platform calibrate"])
    broken = p.path("broken")
    os.mkdir(broken)
    with open(os.path.join(broken, "this.yaml"), "w") as f:
        f.write("version: 1\nname: this\n")
    for command in ("run", *here, "--tile", "128"), ("tune", *here):
        p.refuses(*command, says=["this.yaml"], status=1, HEDDLE_PLATFORM_PATH=broken)
    pairs = {"heddle_graph": 1, "types": [{"name": "pair"}], "classes": ["cpu*2"], "data": [], "edges": [],
             "tasks": [{"type": "pair", "data": [], "times": {"cpu*2": 100}}]}
    with open(p.path("pairs.json"), "w") as f:
        json.dump(pairs, f)
    out, err = p.warns("sim", "pairs.json", "--platform", "haswell-k40m", "--sched", "eager", "--clusters", "auto",
                       "--json")
    left_out = "pairs.json on haswell-k40m: clusters none are left out: "
    assert left_out in err and "pair" in err.split(left_out)[1], err
    tried = {row["clusters"]: row for row in json.loads(out)["cluster_sets"]}
    equal(tried["2"]["chosen"], "yes")
    equal(tried["none"]["makespan_ms"], None)
    bound, _ = p.warns("bound", "pairs.json", "--platform", "haswell-k40m", "--clusters", "auto", "--json")
    equal(json.loads(bound)["bounds"]["path_bound_ms"], 0.1)


def test_auto_clusters_may_change_while_tasks_run(p):
    question = ("--n", "4800", "--tile", "960", "--platform", "haswell-k40m", "--sched", "dmdas", "--clusters")
    for noise in (), ("--noise", "0.05"):
        r = p.json("sim", "potrf", *question, "auto", *noise)
        tried = {x["clusters"]: x for x in r["cluster_sets"]}
        equal([c for c, x in tried.items() if x["chosen"] == "yes"], ["adaptive"])
        equal(tried["adaptive"]["workers"], None)
        others = [x["makespan_ms"] for c, x in tried.items() if c != "adaptive"]
        assert tried["adaptive"]["makespan_ms"] < 0.9 * min(others), tried
        equal(r["policies"][0]["makespan_ms"],
              p.json("sim", "potrf", *question, "adaptive", *noise)["policies"][0]["makespan_ms"])
    out, _ = p.run("tune", "potrf", *question, "auto")
    command = out.strip().split("\n")[-1].split()
    equal(command[-2:], ["--clusters", "adaptive"])
    assert f"{float(p.csv(*command[1:])[0]['makespan_ms']):.2f}" in out.split(), out
    platforms = p.path("platforms")
    os.mkdir(platforms)
    with open(os.path.join(HERE, "..", "..", "platforms", "haswell-k40m.yaml"),
              encoding="utf-8") as f, open(os.path.join(platforms, "this.yaml"), "w", encoding="utf-8") as this:
        this.write(f.read().replace("name: haswell-k40m", "name: this", 1))
    out, _ = p.run("run", "geqrf", "--n", "192", "--tile", "64", "--sched", "dmdas", "--clusters", "auto",
                   HEDDLE_PLATFORM_PATH=platforms)
    row = next(line.split() for line in out.split("\n") if line.startswith("adaptive "))
    equal((row[1], row[-1]), ("-", "yes"))
    levels = "".join(f"- {{name: by{n}, cores: [{', '.join(f'{i}-{i + n - 1}' for i in range(0, 25 - n, n))}]}}\n"
                     for n in range(2, 20))
    with open(os.path.join(platforms, "this.yaml"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(platforms, "many.yaml"), "w", encoding="utf-8") as f:
        f.write(text.replace("name: this", "name: many", 1).replace("levels:\n", "levels:\n" + levels, 1))
    r = p.json("sim", "potrf", "--n", "1920", "--tile", "960", "--platform", "many", "--sched", "eager", "--clusters",
               "auto", HEDDLE_PLATFORM_PATH=platforms)
    tried = [x["clusters"] for x in r["cluster_sets"]]
    assert len(tried) == 16 and tried[-1] == "adaptive", tried


def test_compare_and_bound_know_auto_clusters(p):
    """Each policy has a cluster set of its own for each problem; bounds hold for all that are tried."""
    graphs = "cholesky:n=4800,tile=960,cholesky:n=7680,tile=960"
    compare = "compare", "--graphs", graphs, "--platforms", "haswell-k40m", "--scheds", "eager,dmdas"
    r = p.json(*compare, "--clusters", "auto")
    equal([x["clusters"] for x in r["results"]], ["socket", "adaptive", "socket", "1x5"])
    for i, n in enumerate(("4800", "7680")):
        question = "cholesky", "--n", n, "--tile", "960", "--platform", "haswell-k40m", "--clusters"
        bounds = p.json("bound", *question, "auto")["bounds"]
        equal(r["problems"][i]["workers"], None)
        plain = max(bounds[name + "_bound_ms"] for name in ("area", "path", "iterative"))
        equal(r["problems"][i]["bound_ms"], plain)
        for row in r["results"][2 * i:2 * i + 2]:
            sim = p.json("sim", *question, "auto", "--sched", row["policy"])
            equal([x["clusters"] for x in sim["cluster_sets"] if x["chosen"] == "yes"], [row["clusters"]])
            equal(sim["policies"][0]["makespan_ms"], row["makespan_ms"])
        for x in sim["cluster_sets"]:
            one = p.json("bound", *question, x["clusters"])["bounds"]["bound_ms"]
            assert bounds["bound_ms"] <= min(one, x["makespan_ms"]) * (1 + 1e-9), x
    plain = p.json(*compare)
    equal({x["clusters"] for x in plain["results"]}, {None})
    equal([x["workers"] for x in plain["problems"]], [24, 24])
    for command in (("bound", "cholesky", "--n", "960", "--platform"), compare[:-3],
                    ("tune", "potrf", "--n", "960", "-p")):
        p.refuses(*command, "haswell-k40m", "--clusters", "best", says=["haswell-k40m", "best", "it must be none"])


def test_idle_time_is_that_of_cores_which_are_driven(p):
    def is_near(value, expected):
        assert abs(value - expected) < 1e-6 * expected, (value, expected)
    for clusters in "none", "socket", "adaptive":
        r = p.json("sim", *CLUSTERED, "--clusters", clusters, "--explain", "--trace", "a.trace")
        makespan, workers = r["policies"][0]["makespan_ms"], r["workers"]
        cores = [int(w["class"].partition("*")[2] or 1) for w in workers]
        total = 24 * makespan  # 20 cores and 4 GPUs, however they are grouped
        busy = sum(n * w["busy_ms"] for n, w in zip(cores, workers))
        is_near(r["policies"][0]["idle_percent"], 100 * (1 - busy / total))
        traced = p.json("trace", "a.trace")
        is_near(traced["trace"]["idle_percent"], 100 * (1 - busy / total))
        equal([(w["worker"], w["driven_ms"], w["idle_percent"]) for w in traced["workers"]],
              [(w["worker"], w["driven_ms"], w["idle_percent"]) for w in workers])
        for w in workers:
            equal(w["idle_percent"] is None, w["driven_ms"] == 0)
        driven = sum(n * w["driven_ms"] for n, w in zip(cores, workers)) / total
        p.run("trace", "a.trace", "-o", "a.csv")
        with open(p.path("a.csv"), encoding="utf-8") as f:
            equal("retired," in f.read(), clusters == "adaptive")
        assert 1 <= driven < 1.5 if clusters == "adaptive" else abs(driven - 1) < 1e-9, driven  # kernels that end later


def test_sim_wrong_names_are_answered(p):
    p.refuses("sim", "cholesky", says=["haswell-k40m"])
    p.refuses(*SIM, "--sched", "dmda,dmdax", says=["dmda"])
    p.refuses(*SIM, "--noise", "7", says=["noise", "0 to 1"])
    p.refuses(*SIM, "--seed", "-1", says=["seed"])
    p.refuses(*SIM, "--streams", "0", says=["--streams", "1 to 64"])
    p.refuses(*SIM, "--streams", "1,x", says=["--streams", "1,0.6,0.5"])
    p.refuses(*SIM, "--streams", "1,2", says=["--streams", "sharing[1] is 2"])
    p.refuses("sim", "cholesky", "--platform", "./missing.yaml", says=["missing.yaml"], status=1)


# --- graphs -----------------------------------------------------------------------------------------------------------

GRAPHS = os.path.join(HERE, "..", "graphs")


def results(rows):
    return [{k: v for k, v in row.items() if k != "simulated_tasks_per_s"} for row in rows]


def test_graph_without_times_for_a_class_says_so(p):
    """The sample has times for cores alone."""
    graph, what = os.path.join(GRAPHS, "sample.stg"), ("--platform", "gpu1-cpu6", "--json")
    out, err = p.warns("sim", graph, *what, "--sched", "eager")
    found = json.loads(out)
    equal(found["problem"]["untimed_classes"], "k40m")
    equal(found["policies"][0]["of_bound_percent"], None)
    assert found["problem"]["bound_ms"] > 0 and found["policies"][0]["makespan_ms"] > 0, found
    assert "sample.stg" in err and "k40m" in err and "gpu1-cpu6" in err and err.count("\n") == 1, err
    out, err = p.warns("bound", graph, *what)
    equal(json.loads(out)["bounds"]["untimed_classes"], "k40m")
    assert "k40m" in err, err
    out, err = p.warns("compare", "--graphs", f"{graph},random:n=20", "--platforms", "gpu1-cpu6", "--scheds", "eager",
                       "--json")
    found = json.loads(out)
    equal([row["untimed_classes"] for row in found["problems"]], ["k40m", None])
    equal(found["results"][0]["over_bound"], None)
    equal(found["policies"][0]["mean_over_bound"], found["results"][1]["over_bound"])
    assert err.count("\n") == 1, err
    equal(p.json("sim", "random:n=20", "--platform", "gpu1-cpu6", "--sched", "eager")["problem"]["untimed_classes"],
          None)
    for command in ("sim", graph, "-s", "eager,lws"), ("bound", graph), ("compare", graph, "-s", "eager,lws"):
        out, err = p.warns(*command, "--platform", "haswell-k40m", "--clusters", "auto")
        assert err.count("\n") == 1 and "k40m" in err, (command, err) # not for each of the cluster sets


def test_graph_speedup_gives_times_to_classes_that_it_does_not_know(p):
    with open(p.path("mine.json"), "w") as f:
        json.dump({"heddle_graph": 1, "name": "mine", "types": [{"name": "one"}, {"name": "two"}], "classes": ["cpu"],
                   "data": [8], "tasks": [{"type": "one", "data": ["RW", 0], "times": {"cpu": 50}},
                                          {"type": "two", "data": ["RW", 0], "times": {"cpu": 40}}]}, f)
    what = "sim", "mine.json", "--platform", "gpu1-cpu6", "-s", "eager", "--json"

    def path_us(speedup):
        out, err = p.warns(*what, "--speedup", speedup)
        assert "assumed" in err, err
        return round(1000 * json.loads(out)["problem"]["path_bound_ms"], 6)
    equal([path_us(speedup) for speedup in ("k40m=10", "k40m=0.5", "k40m:one=10", "k40m=10,k40m:two=4",
                                            "k40m:two=4,k40m=10")], [9, 90, 45, 15, 15])
    out, err = p.warns("bound", "mine.json", "--platform", "gpu1-cpu6", "--speedup", "k40m=10", "--json")
    equal(round(1000 * json.loads(out)["bounds"]["path_bound_ms"], 6), 9)
    assert "k40m" in err and "cpu / 10" in err, err
    equal(json.loads(out)["bounds"]["assumed_times"], "k40m: cpu / 10")
    equal(json.loads(p.warns(*what, "--speedup", "k40m=10,k40m:two=4")[0])["problem"]["assumed_times"],
          "k40m: cpu / 10; k40m two: cpu / 4")
    p.refuses(*what, "--speedup", "k40n=3", says=["k40n", "k40m"])
    p.refuses(*what, "--speedup", "k40m:nothing=3", says=["nothing", "one"])
    p.refuses(*what, "--speedup", "k40m=-3", says=["k40m=-3", "CLASS:TYPE=F"])
    p.refuses(*SIM, "--speedup", "k40m=3", says=["no graph"])


def test_graph_times_are_given_per_type_and_class(p):
    """gpu1-cpu6 has no times of its own for these types; the graph has some for devices of CUDA, which stay."""
    def write(classes, times):
        with open(p.path("mine.json"), "w") as f:
            json.dump({"heddle_graph": 1, "name": "mine", "types": [{"name": "one"}, {"name": "two"}],
                       "classes": classes, "data": [8],
                       "tasks": [{"type": "one", "data": ["RW", 0], "times": times},
                                 {"type": "two", "data": ["RW", 0], "times": times}]}, f)
    what = "sim", "mine.json", "--platform", "gpu1-cpu6", "-s", "eager", "--json"

    def assumed(*options):
        out, err = p.warns(*what, *options)
        problem = json.loads(out)["problem"]
        return round(1000 * problem["path_bound_ms"], 6), problem["assumed_times"], err
    write(["cpu"], {"cpu": 50})
    path, said, err = assumed("--times", "k40m:one=7")
    equal((path, said), (57, "k40m one: 7 us"))
    assert "times of one on k40m are assumed: 7 us" in err, err
    equal(assumed("--times", "k40m:one=7,k40m:two=2.5")[:2], (9.5, "k40m one: 7 us; k40m two: 2.5 us"))
    equal(assumed("--speedup", "k40m=10", "--times", "k40m:one=7")[:2], (12, "k40m one: 7 us; k40m: cpu / 10"))
    equal(assumed("--times", "cpu:one=3,k40m:two=1")[0], 4)
    write(["cpu", "cuda"], {"cpu": 50, "cuda": 20})
    equal(assumed("--times", "k40m:one=7")[0], 27)
    equal(assumed("--speedup", "k40m:one=50")[0], 21)
    out, err = p.warns("bound", "mine.json", "--platform", "gpu1-cpu6", "--times", "k40m:one=7", "--json")
    equal(json.loads(out)["bounds"]["assumed_times"], "k40m one: 7 us")
    out, err = p.warns("compare", "mine.json", "-p", "gpu1-cpu6", "-s", "eager", "--times", "k40m:one=7", "--json")
    equal(round(1000 * json.loads(out)["problems"][0]["path_bound_ms"], 6), 27)
    for wrong in ("k40m=7", "k40m:=7", "k40m:one=0", "k40m:one", ":one=3"):
        p.refuses(*what, "--times", wrong, says=[wrong, "CLASS:TYPE=US"])
    p.refuses(*what, "--times", "k40m:nothing=3", says=["nothing", "one"])
    p.refuses(*SIM, "--times", "k40m:dgemm=3", says=["--times", "no graph"])


def test_graph_times_that_the_platform_has_itself_are_not_replaced(p):
    p.run("graph", "cholesky:n=1920,tile=960", "-o", "known.json")
    with open(p.path("known.json")) as f:
        graph = json.load(f)
    for task in graph["tasks"]:
        task["times"] = {"cpu": 50}
    with open(p.path("known.json"), "w") as f:
        json.dump(graph, f)
    out, err = p.warns("sim", "known.json", "--platform", "gpu1-cpu6", "-s", "eager", "--json", "--times",
                       "k40m:dpotrf=3")
    assert "--times of dpotrf on k40m is not used: platform gpu1-cpu6 has times of its own" in err, err
    equal(json.loads(out)["problem"]["assumed_times"], None)


def test_compare_speedup_is_for_the_graphs_with_times_on_each_machine_that_has_the_class(p):
    with open(p.path("mine.json"), "w") as f:
        json.dump({"heddle_graph": 1, "name": "mine", "types": [{"name": "one"}], "classes": ["cpu"], "data": [8],
                   "tasks": [{"type": "one", "data": ["RW", 0], "times": {"cpu": 50}}]}, f)
    machines = "-p", "gpu1-cpu6,haswell-k40m,intel-v100", "-s", "eager", "--json"
    assert "--speedup k40m=10" in p.warns("compare", "mine.json", *machines)[1]
    out, err = p.warns("compare", "mine.json", "cholesky:n=960,tile=480", *machines, "--speedup", "k40m=10,v100=5")
    problems = [x for x in json.loads(out)["problems"] if x["graph"] == "mine.json"]
    equal([round(1000 * x["path_bound_ms"], 6) for x in problems], [5, 5, 10])
    equal([x["untimed_classes"] for x in problems], [None] * 3)
    equal(err.count("assumed"), 2)
    p.refuses("compare", "mine.json", *machines, "--speedup", "k40n=3", says=["k40n", "k40m"])
    p.refuses("compare", "cholesky:n=960,tile=480", *machines, "--speedup", "k40m=3", says=["cholesky", "is no graph"])


def test_graph_recorded_from_sim_gives_the_same_results(p):
    os.mkdir(p.path("out"))
    first = p.csv(*SIM, "--sched", "all", "--record", "out/g.json")
    again = p.csv("sim", "out/g.json", "--platform", "haswell-k40m", "--sched", "all")
    equal(results(first), results(again))
    bounds = [p.json(*what, "--sched", "eager")["problem"]
              for what in (SIM, ("sim", "out/g.json", "--platform", "haswell-k40m"))]
    for key in "area_bound_ms", "path_bound_ms", "tasks", "bound_gflops":
        assert abs(bounds[0][key] / bounds[1][key] - 1) < 1e-9, (key, bounds)
    for a, b in zip(results(first), results(p.csv("sim", "out/g.json", "--platform", "haswell-k40m", "--sched", "all",
                                                   "--no-priorities"))):
        if a["policy"] == "dmdas":
            assert a["makespan_ms"] != b["makespan_ms"], a


def test_graph_recorded_from_a_run_has_measured_times(p):
    p.run(*RUN, "--record", "g.json", "--repeat", "2")
    found = p.json("graph", "g.json")
    equal((found["graph"]["graph"], found["graph"]["tasks"], found["graph"]["data"]), ("cholesky", 20, 10))
    equal({row["type"] for row in found["types"]}, {"dpotrf", "dtrsm", "dsyrk", "dgemm"})
    assert all(row["mean_us"] > 0 for row in found["types"])
    p.refuses(*RUN, "--record", "g.json", "--no-trace", says=["--record"])
    p.refuses(*RUN, "--record", "g.yaml", says=[".json"])


def test_graph_of_qr_has_the_shape_of_its_tree(p):
    for tree, depth, width in (("flat", 8, 1), ("greedy", 4, 8), ("domains,domain=4", 5, 2)):
        g = p.json("graph", f"geqrf:m=800,n=100,tile=100,tree={tree}")["graph"]
        equal((g["depth"], g["width"]), (depth, width))
    p.refuses("graph", "geqrf:tree=tall", says=["flat, greedy or domains"])


def test_graph_facts_of_a_small_graph(p):
    g = p.json("graph", os.path.join(GRAPHS, "sample.stg"))["graph"]
    equal((g["tasks"], g["edges"], g["explicit_edges"], g["depth"], g["width"]), (10, 14, 14, 5, 3))
    equal((g["mean_degree"], g["data"], g["work_gflop"], g["ccr"]), (1.4, 0, None, None))
    found = p.json("graph", os.path.join(GRAPHS, "sample.json"), "--platform", "haswell-k40m")
    assert abs(found["graph"]["handed_mib"] * 2**20 - 8000) < 1e-6, found
    assert found["graph"]["ccr"] > 0
    rows = {(row["type"], row["class"]): row for row in found["types"]}
    equal(rows["trsm", "k40m"]["tasks"], 2)
    equal((rows["trsm", "k40m"]["min_us"], rows["trsm", "k40m"]["max_us"]), (0.1, 2))


def test_graph_scratch_hands_nothing_over(p):
    with open(p.path("g.json"), "w") as f:
        json.dump({"heddle_graph": 1, "data": [2**20, 2**21], "tasks": [
            {"type": "a", "data": ["SCRATCH", 0, "W", 1]}, {"type": "a", "data": ["R", 0, "R", 1]}]}, f)
    equal(p.json("graph", "g.json")["graph"]["handed_mib"], 2)


def test_graph_is_converted_and_simulated_in_every_format(p):
    for name in "sample.json", "sample.dot", "sample.stg":
        p.run("graph", os.path.join(GRAPHS, name), "-o", "a.json")
        p.run("graph", "a.json", "-o", "a.dot")
        p.run("graph", "a.dot", "-o", "b.json")
        rows = [json.loads(p.warns("sim", what, "--platform", "haswell-k40m", "--sched", "dmda,lws", "--json")[0])
                for what in (
            os.path.join(GRAPHS, name), "a.json")] # one of them has no times for GPUs, and a warning
        equal(results(rows[0]["policies"]), results(rows[1]["policies"]))
        equal(p.json("graph", "a.json")["graph"]["edges"], p.json("graph", "b.json")["graph"]["edges"])
    critical = json.loads(p.warns("sim", os.path.join(GRAPHS, "sample.stg"), "--platform", "haswell-k40m", "--sched",
                                  "dmda", "--json")[0])
    equal((critical["problem"]["path_bound_ms"], critical["policies"][0]["makespan_ms"]), (0.062, 0.062))


def test_graph_works_with_all_that_sim_shows(p):
    what = ("sim", "random:n=300,jump=2,ccr=0.5", "--platform", "haswell-k40m")
    found = p.json(*what, "--sched", "dmda,heteroprio", "--explain", "--gantt", "g.svg", "--trace", "t.trace",
                   "--record", "r.json")
    equal(sum(row["tasks"] for row in found["workers"]), 600)
    for row in found["policies"]:
        assert row["makespan_ms"] >= found["problem"]["bound_ms"] * (1 - 1e-6) > 0, row
    with open(p.path("g.svg")) as f:
        assert "<svg" in f.read(2000)
    trace = p.json("trace", "t.trace")["trace"]
    equal((trace["tasks"], trace["area_bound_ms"]), (300, None)) # the trace does not know what other classes would take
    again = p.csv("sim", "r.json", "--platform", "haswell-k40m", "--sched", "dmda,heteroprio")
    equal([float(row["makespan_ms"]) for row in again], [row["makespan_ms"] for row in found["policies"]])


def test_graph_random_is_the_same_every_time(p):
    for name in "a.json", "b.json":
        p.run("graph", "--random", "n=200,fat=0.6,seed=4", "-o", name)
    with open(p.path("a.json")) as a, open(p.path("b.json")) as b:
        equal(a.read(), b.read())
    g = p.json("graph", "--random", "n=200,fat=0")["graph"]
    equal((g["depth"], g["width"], g["edges"]), (200, 1, 199))
    assert "regularity" in p.run("graph", "--help")[0]


def test_graph_without_times_says_how_to_give_them(p):
    with open(p.path("no.dot"), "w") as f:
        f.write("digraph { a -> b; }")
    for command in ("sim", "bound"):
        p.refuses(command, "no.dot", "--platform", "haswell-k40m", says=["cpu=", "flops=", "--platform", "task 0"],
                  status=1)


def test_graph_with_a_time_beyond_the_limit_is_refused(p):
    with open(p.path("given.dot"), "w") as f:
        f.write("digraph {\na [type=short, cpu=1];\nb [type=long, cpu=1e308];\n}\n")
    with open(p.path("computed.json"), "w") as f:
        json.dump({"heddle_graph": 1, "tasks": [{"type": "short", "flops": 1}, {"type": "long", "flops": 1e300}]}, f)
    with open(p.path("one.yaml"), "w") as f:
        f.write("version: 1\nname: one\nnodes: [{name: ram}]\nclasses: [{name: cpu, kind: cpu}]\nlinks: []\nbuses: []\n"
                "workers: [{name: cpu, class: cpu, node: ram}]\n"
                "kernels: [{codelet: short, class: cpu, gflops: 1}, {codelet: long, class: cpu, gflops: 1}]\n")
    for command in ("sim", "bound"):
        p.refuses(command, "given.dot", "--platform", "one.yaml",
                  says=["given.dot:3", "node b", "1e+308", "below 1e+15"], status=1)
        p.refuses(command, "computed.json", "--platform", "one.yaml", says=["task 1", "long", "1e+297", "below 1e+15"],
                  status=1)


def test_graph_wrong_input_is_answered(p):
    sample = os.path.join(GRAPHS, "sample.json")
    with open(p.path("bad.json"), "w") as f:
        f.write('{"heddle_graph": 1,\n"tasks": [{"tpye": "a"}]}')
    with open(p.path("gpu.dot"), "w") as f:
        f.write("digraph { a [type=lost, opencl=3] }")
    p.refuses("graph", says=["random:n="])
    p.refuses("graph", "g.xml", says=[".stg"])
    p.refuses("graph", "missing.json", says=["missing.json"], status=1)
    p.refuses("graph", "bad.json", says=["bad.json:2:", "type"], status=1)
    p.refuses("graph", sample, "-o", "g.stg", says=["--output", ".dot"])
    p.refuses("graph", sample, sample, says=["second"])
    p.refuses("graph", sample, "--platform", "haswel", says=["haswell-k40m"])
    p.refuses("graph", "--random", "n=10,fatt=1", says=["fatt", "regularity"])
    p.refuses("graph", "--random", "n=0", says=["from 1"])
    p.refuses("sim", "bad.json", "--platform", "haswell-k40m", says=["bad.json:2:"], status=1)
    p.refuses("sim", "gpu.dot", "--platform", "haswell-k40m", says=["lost", "haswell-k40m"], status=1)
    p.refuses("sim", "random:n=ten", "--platform", "haswell-k40m", says=["ten"])
    p.refuses("sim", sample, says=["haswell-k40m"])
    p.refuses("sim", sample, "--n", "4096", "--platform", "haswell-k40m", says=["--n", "cholesky"])
    p.refuses("sim", "cholesky", "--record", "g.txt", "--platform", "haswell-k40m", says=["--record"])
    p.refuses("run", sample, says=["heddle sim"])


def test_makespan_is_one_figure_in_tables_and_traces(p):
    first_waits_for_data = {"heddle_graph": 1, "types": [{"name": "a"}], "classes": ["cpu", "cuda"], "data": [1 << 24],
                            "tasks": [{"type": "a", "data": ["RW", 0], "times": {"cpu": 1e6, "cuda": 100}}]}
    with open(p.path("waits.json"), "w") as f:
        json.dump(first_waits_for_data, f)
    for graph in "waits.json", "random:n=60,ccr=1":
        row = p.csv("sim", graph, "--platform", "gpu1-cpu6", "--sched", "dmdas", "--trace", "t.trace")[0]
        trace = p.json("trace", "t.trace")["trace"]
        equal((float(row["makespan_ms"]), float(row["idle_percent"])), (trace["makespan_ms"], trace["idle_percent"]))
        assert trace["makespan_ms"] > 1, trace
    run = p.json(*RUN, "--trace", "r.trace")["run"]
    trace = p.json("trace", "r.trace")["trace"]
    equal((run["makespan_ms"], run["idle_percent"]), (trace["makespan_ms"], trace["idle_percent"]))


# --- calibrate, models ------------------------------------------------------------------------------------------------

def test_calibrate_writes_a_platform_that_can_be_simulated(p):
    """The file predicts what the command has predicted, which is of the order of what it has measured: runs may be
    slowed down far more than their kernels by what else the machine does, but not by 300."""
    out, _ = p.run("platform", "calibrate", "--seconds", "0", "--n", "768", "--tiles", "32,64")
    assert "this.yaml" in out and "up to 4 passes; 95 % confidence interval" in out, out
    check = re.search(r"check: potrf double, tile 64, n 768, under lws: predicted ([\d.]+) ms, measured ([\d.]+) .*: "
                      r"([\d.]+) % too (?:short|long)", out)
    within = re.search(r"^of 100 such runs, 95 should be within \+- ([\d.]+) % of their prediction, if the machine "
                       r"stays as it was$", out, re.MULTILINE)
    assert check and within and float(within[1]) >= float(check[3]), out
    predicted, measured = float(check[1]), float(check[2])
    assert measured / 300 < predicted < 30 * measured, out
    assert "this" in [row["name"] for row in p.csv("platforms")]
    kernels = {k["codelet"]: k["points"] for k in p.json("platforms", "this")["kernels"]}
    equal({c: n for c, n in kernels.items() if "random" not in c},
          {precision + kernel: 2 for precision in "sd" for kernel in ("potrf", "trsm", "syrk", "gemm")})
    row = p.csv("sim", "cholesky", "--n", "768", "--tile", "64", "--platform", "this", "--sched", "lws")[0]
    assert abs(float(row["makespan_ms"]) - predicted) < 0.01 + 0.001 * predicted, (row, out)
    p.run("sim", "cholesky", "--n", "384", "--tile", "32", "--precision", "s", "--platform", "this")


def test_calibrate_stops_when_the_passes_agree(p):
    """The time is never over. So each size has the least number of passes, or goes on until its interval is within the
    percentage, or until it has had the most passes. The last pass cannot have made the interval much smaller."""
    least, most, within = 4, 30, 100
    out, _ = p.run("platform", "calibrate", "--seconds", "3600", "--within", str(within), "--n", "384", "--tiles", "64")
    said = re.search(r"up to (\d+) passes; .* \+- ([\d.]+) % at most", out)
    assert said, out
    passes, interval = int(said[1]), float(said[2])
    assert least <= passes <= most, out
    if "are not within" in out:
        assert passes == most and interval >= within, out
    else:
        assert interval <= within and (passes == least or (passes < most and interval > within / 4)), out


def test_calibrate_with_emulated_accelerators_measures_their_links(p):
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64", "--set", "n_cpu=1", "--set",
          "n_emulated=1", "-o", "./e.yaml")
    found = p.json("platforms", "./e.yaml")
    equal(found["platform"]["name"], "e")
    assert len(found["links"]) == 2 and all(link["bandwidth_mbs"] > 0 for link in found["links"]), found["links"]
    equal({k["class"] for k in found["kernels"] if k["codelet"] == "dgemm"}, {"cpu", "emulated"})
    equal({row["class"] for row in p.csv("models", "show", "dgemm")}, {"cpu", "emulated"})


def test_calibrate_measures_links_and_streams_as_they_are_set(p):
    """Links far slower than memory, which a start would not measure. Kernels that mostly sleep gain from streams."""
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64", "--ncpu", "1", "--emulated", "2",
          "--emulated-bandwidth", "400", "--emulated-latency", "3000", "--emulated-slowdown", "20", "--streams", "3",
          "-o", "./e.yaml")
    found = p.json("platforms", "./e.yaml")
    equal(len(found["links"]), 4)
    for link in found["links"]:
        assert 0 < link["bandwidth_mbs"] < 4000 and link["latency_us"] >= 3000, link
    emulated = next(row for row in found["classes"] if row["name"] == "emulated")
    equal((emulated["streams"], emulated["sharing"].split()[0]), (3, "1"))
    equal(len(emulated["sharing"].split()), 3)
    assert "heddle platform calibrate" in found["platform"]["source"], found["platform"]
    assert re.search(r"on 20\d\d-\d\d-\d\d", found["platform"]["source"]), found["platform"]
    p.run("sim", "cholesky", "--n", "512", "--tile", "64", "--platform", "./e.yaml", "--sched", "dmdas")


def test_calibrate_measures_the_kernels_of_the_routines_that_are_asked_for(p):
    def codelets(routines):
        p.run("platform", "calibrate", "--seconds", "0", "--n", "64", "--tiles", "32", "--ncpu", "1", "--routines",
              routines, "-o", "./r.yaml")
        return {row["codelet"] for row in p.json("platforms", "./r.yaml")["kernels"]}
    found = codelets("getrf-nopiv,trtri")
    assert {"dgetrf_nopiv", "sgetrf_nopiv", "dtrtri"} <= found and "dpotrf" not in found, found
    found = codelets("all")
    assert {"dpotrf", "dgeqrt", "dttqrt", "dtsqrt", "dgetrf_panel", "slauum", "dsymm", "dtrmm"} <= found, found
    p.refuses("platform", "calibrate", "--routines", "potrf,getrs2", says=["getrs2", "getrs"])


def models_dir(p):
    return next(d for d, _, files in os.walk(p.path("data")) if "dgemm.yaml" in files)


def contents(directory):
    return {name: open(os.path.join(directory, name)).read() for name in os.listdir(directory)}


def test_calibrate_replaces_the_models_of_its_kernels_and_leaves_the_others(p):
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64")
    directory = models_dir(p)
    with open(os.path.join(directory, "mine.yaml"), "w") as f:
        f.write(contents(directory)["dgemm.yaml"].replace("dgemm", "mine"))
    sizes = [row["size_kib"] for row in p.csv("models", "show", "dgemm")]
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "32")
    found = [row["size_kib"] for row in p.csv("models", "show", "dgemm")]
    assert len(found) == 1 and found != sizes, (sizes, found)
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64", "--keep")
    equal(sorted(row["size_kib"] for row in p.csv("models", "show", "dgemm")), sorted(sizes + found))
    assert "mine.yaml" in contents(directory)


def test_calibrate_interrupted_leaves_the_old_models(p):
    p.run("platform", "calibrate", "--seconds", "0", "--n", "256", "--tiles", "64")
    directory = models_dir(p)
    before = contents(directory)
    for number in signal.SIGINT, signal.SIGKILL:
        # so exact that it goes on until it is interrupted
        command = subprocess.Popen([p.command, "platform", "calibrate", "--within", "0.01", "--n", "256",
                                    "--tiles", "32,64,128"], cwd=p.directory, env=p.env, stdout=subprocess.PIPE)
        assert b"tile   32" in command.stdout.readline()
        command.send_signal(number)
        command.communicate()
        equal(command.returncode, -number)
        equal(contents(directory), before)


def test_calibrate_wrong_tiles_are_refused(p):
    p.refuses("platform", "calibrate", "--tiles", "64,x", says=["--tiles", "x"])
    p.refuses("platform", "calibrate", "--seconds", "0", "--n", "100", "--tiles", "128", says=["128", "100"])
    p.refuses("platform", "calibrate", "-o", "/proc/none/x.yaml", says=["/proc/none"], status=1)


def test_models_are_listed_shown_plotted_and_purged(p):
    assert "No model" in p.run("models")[0]
    p.run("run", "cholesky", "--n", "512", "--tile", "64")
    p.run("run", "cholesky", "--n", "512", "--tile", "128")
    codelets = {row["codelet"] for row in p.csv("models", "list")}
    assert {"dpotrf", "dtrsm", "dsyrk", "dgemm"} <= codelets, codelets
    shown = p.json("models", "show", "dgemm")["models"]
    assert {row["codelet"] for row in shown} == {"dgemm"} and all(row["mean_us"] > 0 and row["samples"] > 0
                                                                  for row in shown)
    for name, magic in ("m.png", b"\x89PNG"), ("m.svg", b"<?xml"), ("m.pdf", b"%PDF"):
        p.run("models", "plot", "dgemm", "-o", name)
        p.starts_with(name, magic)
    p.run("models", "purge", "dgemm")
    assert "dgemm" not in {row["codelet"] for row in p.csv("models")}
    p.run("models", "purge", "--all")
    equal(p.json("models")["models"], [])


def test_models_damaged_file_does_not_hide_the_others(p):
    p.run("run", "cholesky", "--n", "256", "--tile", "64")
    directory = os.path.dirname(next(os.path.join(d, "dgemm.yaml") for d, _, files in os.walk(p.path("data"))
                                     if "dgemm.yaml" in files))
    with open(os.path.join(directory, "dgemm.yaml"), "w") as f:
        f.write("?")
    os.mkfifo(os.path.join(directory, "pipe.yaml"))
    os.symlink("/dev/zero", os.path.join(directory, "zero.yaml"))
    out, err = p.run("models", "list", "--csv", status=1)
    assert {"dpotrf", "dtrsm", "dsyrk"} <= {row["codelet"] for row in csv.DictReader(io.StringIO(out))}, out
    assert ".yaml" in err and "2 other" in err, err
    assert "dpotrf" in p.run("models", "show", "dpotrf", status=1)[0]
    p.refuses("models", "show", "dgemm", says=[".yaml"], status=1)
    p.run("models", "purge", "dpotrf")
    p.run("models", "purge", "dgemm")
    p.run("models", "purge", "--all")
    equal(sorted(os.listdir(directory)), ["pipe.yaml", "zero.yaml"])


def fitted_model(p):
    """A directory with the model of a codelet named ours, whose times are 0.25 * bytes^1.5 us."""
    os.mkdir(p.path("fitted"))
    with open(p.path("fitted/ours.yaml"), "w") as f:
        f.write("version: 1\ncodelet: ours\nlaw: power\nentries:\n")
        for size in range(1, 6):
            us = 0.25 * (100 * size) ** 1.5
            f.write(f"- {{class: cpu, footprint: {size}, bytes: {100 * size}, flops: 0, samples: 9, rejected: 0, "
                    f"mean: {us}, stddev: 0, min: {us}, max: {us}}}\n")
        f.write("complete: true\n")
    return p.path("fitted")


def test_models_fitted_ones_show_their_coefficients(p):
    p.run("run", "cholesky", "--n", "256", "--tile", "64")
    directory = fitted_model(p)
    out, _ = p.run("models", "show", "ours", "--dir", directory)
    assert "0.25 * bytes^1.5" in out and out.count("bytes^") == 1, out
    equal(p.json("models", "--dir", directory)["laws"],
          [{"codelet": "ours", "class": "cpu", "law": "0.25 * bytes^1.5"}])
    equal(p.json("models", "show", "dgemm")["laws"], [])


def test_models_wrong_words_are_answered(p):
    p.refuses("models", "lst", says=["list"])
    p.refuses("models", "show", says=["codelet"])
    p.refuses("models", "show", "dgemm", says=["dgemm"])
    p.run("run", "cholesky", "--n", "256", "--tile", "64")
    p.refuses("models", "show", "dgem", says=["dgemm"])
    p.refuses("models", "plot", "dgemm", says=["--output"])
    p.refuses("models", "plot", "dgemm", "-o", "m.gif", says=[".png"])
    p.refuses("models", "purge", says=["--all"])


# --- trace ------------------------------------------------------------------------------------------------------------

def test_trace_is_summarised(p):
    p.run(*SIM, "--sched", "dmda", "--trace", "t.trace")
    found = p.json("trace", "t.trace")
    facts = found["trace"]
    equal((facts["policy"], facts["clock"], facts["tasks"]), ("dmda", "virtual", 220))
    assert 0 < facts["path_ms"] <= facts["makespan_ms"] and 0 < facts["of_bound_percent"] <= 100.001, facts
    equal(len(found["workers"]), 24)
    assert "idle" in p.run("trace", "t.trace")[0]


HAND_MADE = """heddle-trace 1
policy lws
clock virtual
platform version: 1
platform name: pair
platform nodes: [{name: ram}, {name: memory}]
platform classes: [{name: cpu, kind: cpu}, {name: gpu, kind: cuda}]
platform workers: [{name: core, class: cpu, node: ram}, {name: card, class: gpu, node: memory}]
platform links: [{from: ram, to: memory, bandwidth_mbs: 1000}, {from: memory, to: ram, bandwidth_mbs: 1000}]
platform kernels:
platform - {codelet: either, class: cpu, table: [{bytes: 8, us: 1000}]}
platform - {codelet: either, class: gpu, table: [{bytes: 8, us: 500}]}
platform - {codelet: there, class: gpu, table: [{bytes: 8, us: 1000}]}
codelet 000000 either
codelet 000000 there
task 1 0 0 100 100 100 1100 0 0 8 4e6 1
task 2 1 1 1100 1100 1300 2300 0 0 8 6e6 2
task 3 0 0 2300 2300 2300 2600 0 -5 8 2e6 1
transfer 0 1 1100 1300 1048576 7 0
transfer 0 1 1400 1500 524288 8 1
transfer 0 1 1600 1650 524288 9 1
transfer 1 0 2400 2550 2097152 7 2
edge 1 2
edge 2 3
end 3 4 2
"""


def near(found, expected):
    """Every column of every row, numbers to within rounding."""
    equal(list(found), list(expected))
    for name, value in expected.items():
        if isinstance(value, (int, float)):
            assert abs(found[name] - value) <= 1e-9 * abs(value), f"{name} is {found[name]!r}, not {value!r}"
        else:
            equal(found[name], value)


def test_sim_adaptive_feeds_cores_with_small_tasks_and_gpus_with_large_ones(p):
    def rate(tile, *more):
        rows = p.csv("sim", "gemm", "--n", "17280", "--tile", tile, "--platform", "intel-v100", "--sched", "dmdas",
                     *more)
        return float(rows[0]["rate_gflops"])
    # no bounds are shown, or compared with: each run has a graph of its own
    adaptive = rate("2880/960/320", "--refine", "all", "--set", "expand=adaptive")
    assert adaptive > max(1.02 * rate("2880"), 1.02 * rate("960")), adaptive
    assert adaptive > 0.97 * rate("2880/960", "--refine", "diagonal"), adaptive


def test_sim_adaptive_is_as_good_as_the_best_size_of_tiles_where_accelerators_wait_for_each_other(p):
    def rate(routine, order, tile, *more):
        right = ("--nrhs", "1") if routine == "posv" else ()
        rows = p.csv("sim", routine, "--n", order, "--tile", tile, *right, "--platform", "intel-v100", "--sched",
                     "dmdas", "--seed", "1", *more)
        return float(rows[0]["rate_gflops"])
    for point in (("potrf", "5760"), ("potrf", "11520"), ("posv", "17280"), ("posv", "11520"), ("poinv", "11520")):
        fixed = max(rate(*point, "2880"), rate(*point, "960"), *(rate(*point, tile, "--refine", "diagonal")
                                                                for tile in ("2880/960", "2880/960/320")))
        adaptive = rate(*point, "2880/960/320", "--refine", "all", "--set", "expand=adaptive")
        assert adaptive >= 0.97 * fixed, f"{point}: {adaptive} instead of {fixed}"
    # where all is cut, priorities are about those of small tiles
    cut, small = rate("poinv", "11520", "2880/960"), rate("poinv", "11520", "960")
    assert cut >= 0.97 * small, f"{cut} instead of {small}"


def test_trace_draws_the_graph_with_its_levels(p):
    p.run("sim", "potrf", "--n", "8640", "--tile", "2880/960", "--refine", "diagonal", "--platform", "intel-v100",
          "--sched", "dmdas", "--trace", "t.trace", "--dag", "g.svg")
    p.starts_with("g.svg", b"<?xml")
    p.run("trace", "t.trace", "--dag", "-o", "all.dot")
    p.run("trace", "t.trace", "--dag", "--levels", "1", "--no-layouts", "-o", "outer.dot")
    with open(p.path("all.dot")) as f:
        every = f.read()
    equal((every.count("subgraph cluster"), "shape=diamond" in every), (7, True))
    # 10 tasks on tiles, of which 7 are expanded
    with open(p.path("outer.dot")) as f:
        outer = f.read()
    equal((outer.count("label="), outer.count("shape=box3d"), outer.count("subgraph")), (10, 7, 0))
    # 2 x 2 tiles; of 3 x 3, one of which has 10 tasks for potrf and 18 each for trsm and syrk; and of 3 x 3 again
    p.run("sim", "potrf", "--n", "5760", "--tile", "2880/960/320", "--refine", "all", "--platform", "intel-v100",
          "--sched", "dmdas", "--trace", "deep.trace")
    for levels, nodes, closed, boxes in (1, 4, 4, 0), (2, 56, 56, 4), (3, 1140, 0, 60), (4, 1140, 0, 60):
        p.run("trace", "deep.trace", "--dag", "--levels", str(levels), "--no-layouts", "-o", "some.dot")
        with open(p.path("some.dot")) as f:
            some = f.read()
        equal((some.count(" [label="), some.count("shape=box3d"), some.count("subgraph")), (nodes, closed, boxes))
    p.refuses("trace", "deep.trace", "--dag", "--levels", "0", "-o", "some.dot", says=["--levels", "1 to"])
    p.refuses("trace", "t.trace", "--dag", says=["--output"])
    p.refuses("trace", "t.trace", "--levels", "1", says=["--dag"])


def test_trace_tables_say_what_the_events_say(p):
    with open(p.path("hand.trace"), "w") as f:
        f.write(HAND_MADE)
    found = p.json("trace", "hand.trace")
    # from 100 us to 2600 us; the path bound is 500 + 1000 + 500 us; at the area bound both workers end after 4000 / 3
    # us
    near(found["trace"],
         {"policy": "lws", "platform": "pair", "clock": "virtual", "workers": 2, "tasks": 3, "failed": 1,
          "makespan_ms": 2.5,
          "rate_gflops": 4.8, "idle_percent": 54, "transfers": 4, "moved_mib": 4, "path_tasks": 3, "path_ms": 2.3,
          "path_percent": 92, "area_bound_ms": 4 / 3, "path_bound_ms": 2, "of_bound_percent": 80,
          "bounds_from": "kernel times of the platform"})
    expected = {
        "workers": [{"policy": "lws", "worker": "core", "class": "cpu", "tasks": 2, "driven_ms": 2.5, "busy_ms": 1.3,
                     "idle_percent": 48},
                    {"policy": "lws", "worker": "card", "class": "gpu", "tasks": 1, "driven_ms": 2.5, "busy_ms": 1,
                     "idle_percent": 60}],
        "codelets": [{"policy": "lws", "codelet": "either", "class": "cpu", "tasks": 2, "mean_us": 650,
                      "rate_gflops": 60 / 13,
                      "busy_ms": 1.3},
                     {"policy": "lws", "codelet": "there", "class": "gpu", "tasks": 1, "mean_us": 1000,
                      "rate_gflops": 6,
                      "busy_ms": 1}],
        "links": [{"policy": "lws", "from": "ram", "to": "memory", "transfers": 3, "moved_mib": 2, "busy_ms": 0.35,
                   "prefetched_percent": 200 / 3},
                  {"policy": "lws", "from": "memory", "to": "ram", "transfers": 1, "moved_mib": 2, "busy_ms": 0.15,
                   "prefetched_percent": 0}],
    }
    equal(list(found), ["trace", *expected])
    for table, rows in expected.items():
        equal(len(found[table]), len(rows))
        for row, wanted in zip(found[table], rows):
            near(row, wanted)


def test_trace_is_drawn_and_converted(p):
    p.run(*SIM, "--sched", "dmda", "--trace", "t.trace")
    for name, magic in ("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.pdf", b"%PDF"), ("t.paje", b"%EventDef"):
        p.run("trace", "t.trace", "-o", name, "--no-transfers")
        p.starts_with(name, magic)
    p.run("trace", "t.trace", "-o", "t.json")
    with open(p.path("t.json")) as f:
        events = json.load(f)
    events = events["traceEvents"] if isinstance(events, dict) else events
    assert sum(e.get("ph") == "X" for e in events) >= 220
    p.run("trace", "t.trace", "-o", "t.csv")
    with open(p.path("t.csv")) as f:
        assert len(f.readlines()) > 220


def test_trace_wrong_files_are_refused(p):
    p.refuses("trace", says=["--trace FILE"])
    p.refuses("trace", "missing.trace", says=["missing.trace"], status=1)
    with open(p.path("bad.trace"), "w") as f:
        f.write("this is no trace\n")
    p.refuses("trace", "bad.trace", says=["bad.trace"], status=1)
    p.refuses("trace", "bad.trace", "-o", "t.gif", says=[".png", ".json"])
    p.refuses("trace", "bad.trace", "-o", "t.png", "--width", "wide", says=["--width"])


# --- bound ------------------------------------------------------------------------------------------------------------

def test_bound_of_cholesky_iterative_beats_area_and_path(p):
    b = p.json("bound", "cholesky", "--n", "19200", "--tile", "960", "--precision", "s", "--platform",
               "haswell-k40m")["bounds"]
    assert b["tasks"] == 1540 and b["converged"] == "yes" and b["rounds"] > 1, b
    assert b["iterative_bound_ms"] > 1.05 * max(b["area_bound_ms"], b["path_bound_ms"]), b
    assert b["path_bound_ms"] < b["communication_bound_ms"] < b["iterative_bound_ms"] < b["window_bound_ms"], b
    assert b["bound_ms"] == b["window_bound_ms"] and b["optimum_ms"] is None and b["largest_bound"] == "window", b
    word = p.json("bound", "cholesky:n=19200,tile=960,precision=s", "--platform", "haswell-k40m", "--rounds",
                  "2")["bounds"]
    assert word["area_bound_ms"] == b["area_bound_ms"] and word["rounds"] == 2 and word["converged"] == "no", word
    assert b["area_bound_ms"] < word["iterative_bound_ms"] < b["iterative_bound_ms"], word
    none = p.json("bound", "cholesky", "--n", "1920", "--tile", "960", "--rounds", "0", "--platform",
                  "intel-v100")["bounds"]
    assert none["iterative_bound_ms"] is None and none["path_bound_ms"] <= none["optimum_ms"], none  # four tasks


def test_bound_of_a_small_graph_is_below_its_optimum(p):
    for seed in range(5):
        b = p.json("bound", f"random:n=9,seed={seed}", "--platform", "gpu1-cpu6")["bounds"]
        plain = max(b["path_bound_ms"], b["iterative_bound_ms"]) # the optimum does not count transfers
        assert 0 < b["area_bound_ms"] <= plain <= b["optimum_ms"] * (1 + 1e-9), b
        shortest = p.json("sim", f"random:n=9,seed={seed}", "-p", "gpu1-cpu6", "-s", "all", "--sort")["policies"][0]
        assert b["path_bound_ms"] <= b["communication_bound_ms"] <= b["bound_ms"], b
        assert b["bound_ms"] <= shortest["makespan_ms"] * (1 + 1e-9), b


def test_bound_keeps_large_tasks_from_small_memories(p):
    few, many = (p.json("bound", f"random:n=200,density=.2,ccr={ccr},seed=1", "-p", "haswell-k40m")["bounds"]
                 for ccr in ("0", "8"))
    assert few["too_large_tasks"] is None and 0 < many["too_large_tasks"] < 200, (few, many)
    assert many["area_bound_ms"] > few["area_bound_ms"], (few, many)


def test_bound_wrong_work_is_refused(p):
    p.refuses("bound", says=["cholesky", ".json"])
    p.refuses("bound", "cholesky", says=["--platform", "haswell-k40m"])
    p.refuses("bound", "choleski", says=["cholesky"])
    p.refuses("bound", "cholesky:order=12", says=["order", "tile"])
    p.refuses("bound", "cholesky:n=many", says=["n is \"many\"", "whole number"])
    p.refuses("bound", "cholesky:tile", says=["tile=VALUE"])
    p.refuses("bound", "cholesky:n=100,tile=200", says=["200", "100"])
    p.refuses("bound", "random:n=9", "--tile", "3", "--platform", "gpu1-cpu6", says=["--tile", "cholesky"])
    p.refuses("bound", "absent.json", "--platform", "gpu1-cpu6", says=["absent.json"], status=1)


# --- Routines ---------------------------------------------------------------------------------------------------------

ROUTINES = ("gemm", "syrk", "symm", "trsm", "trmm", "potrf", "cholesky", "potrs", "posv", "trtri", "lauum", "potri",
            "poinv", "geqrf", "ormqr", "gels", "getrf", "getrf_nopiv", "getrf-nopiv", "getrs", "gesv", "gesv-nopiv")


def test_every_routine_is_listed_and_run(p):
    text = p.run("run", "--help")[0].split("Routines, in double")[1].split("Applications of plug-ins")[0]
    listed = re.findall(r"^  ([a-z_]+) ", text, re.MULTILINE)
    equal(set(listed), {routine.replace("-", "_") for routine in ROUTINES})
    for i, routine in enumerate(ROUTINES):
        found = p.json("run", routine, "-n", "150", "-b", "48", "-r", "dszc"[i % 4], "--ncpu", "1")["run"]
        assert found["residual"] < 30, (routine, found)


def test_every_routine_is_simulated_on_every_platform_in_every_precision(p):
    machines = [name[:-5] for name in sorted(os.listdir(PLATFORMS)) if name.endswith(".yaml")]
    for precision in "dszc":
        works = [f"{routine}:n=1920,tile=480,precision={precision}" for routine in ROUTINES]
        rows = p.csv("compare", *works, "-p", ",".join(machines), "-s", "dmdas")
        equal([(row["graph"].split(":")[0], row["platform"], row["runs"]) for row in rows],
              [(routine, machine, "1") for routine in ROUTINES for machine in machines])
    for i, routine in enumerate(ROUTINES):
        work = (routine, "-n", "1920", "-b", "480", "-r", "dszc"[i % 4], "--platform", machines[i % len(machines)])
        tasks = p.json("sim", *work, "-s", "lws")["problem"]["tasks"]
        bounds = p.json("bound", *work)["bounds"]
        assert bounds["tasks"] == tasks and bounds["bound_ms"] > 0, (routine, bounds)
        p.run("graph", f"{routine}:n=1920,tile=480,precision={'dszc'[i % 4]}", "-o", "g.json")
        equal(p.json("graph", "g.json")["graph"]["tasks"], tasks)


def test_routines_refuse_what_they_cannot_do(p):
    wrong = ((("-n", "64", "-b", "65"), ["--tile", "65", "64"]), (("-n", "0"), ["--n", "0", "from 1"]),
             (("-n", "64", "-r", "half"), ["half", "complex-single"]))
    commands = ("run",), ("sim", "--platform", "gpu1-cpu6"), ("bound", "--platform", "gpu1-cpu6")
    for i, routine in enumerate(ROUTINES):
        command, (options, says) = commands[i % 3], wrong[i // 3 % 3]
        p.refuses(command[0], routine, *options, *command[1:], says=says)
    for command in commands:
        p.refuses(command[0], "gerf", *command[1:], says=["gerf", "geqrf"])


# --- The fast multipole method ----------------------------------------------------------------------------------------

def test_fmm_keeps_its_digits(p):
    for options in ((), ("--distribution", "plummer", "--pairs", "mutual"), ("--precision", "s", "--digits", "4"),
                    ("--periodic", "1", "--digits", "4")):
        found = p.json("run", "fmm", "--particles", "3e3", "--ncpu", "1", *options)["run"]
        assert 0 < found["residual"] < 1, (options, found)


def test_fmm_is_the_same_graph_everywhere(p):
    work = ("fmm", "--particles", "5000", "--task-us", "50")
    tasks = p.json("sim", *work, "--platform", "intel-v100")["problem"]["tasks"]
    bounds = p.json("bound", *work, "--platform", "intel-v100")["bounds"]
    assert bounds["tasks"] == tasks > 20 and bounds["bound_ms"] > 0, (tasks, bounds)
    p.run("graph", "fmm:particles=5000,task-us=50", "-o", "g.json")
    equal(p.json("graph", "g.json")["graph"]["tasks"], tasks)


def test_fmm_is_simulated_alike_from_a_recording(p):
    """Runs of several policies share one, a run of one policy submits its tasks itself."""
    for more in ((), ("--pairs", "mutual", "--p2p", "full", "--priorities", "none")):
        work = ("sim", "fmm", "--particles", "20000", "--digits", "3", "--task-us", "100", *more, "-p", "haswell-k40m")
        together = p.csv(*work, "--sched", "eager,dmdas,multiprio,heteroprio")
        equal(len(together), 4)
        for row in together:
            alone = p.csv(*work, "--sched", row["policy"])[0]
            for figure in ("makespan_ms", "moved_mib", "transfers", "idle_percent"):
                equal((row["policy"], figure, row[figure]), (row["policy"], figure, alone[figure]))


def test_fmm_models_of_sizes_are_for_policies_that_look_at_them(p):
    work = ("sim", "fmm", "--particles", "20000", "--digits", "3", "--task-us", "100", "--pairs", "mutual", "--p2p",
            "full", "-p", "haswell-k40m", "--sched", "eager,multiprio", "--models")
    known, sizes = ([float(row["makespan_ms"]) for row in sorted(p.csv(*work, models), key=lambda row: row["policy"])]
                    for models in ("work", "size"))
    equal(known[0], sizes[0])
    assert known[1] != sizes[1], (known, sizes)
    for option, value in ("p2p", "full"), ("m2l", "gpu"), ("models", "size"):
        p.refuses("run", "fmm", "--particles", "100", f"--{option}", value, says=["virtual time", "heddle sim"],
                  status=1)


def test_fmm_reads_particles(p):
    with open(p.path("two.txt"), "w", encoding="utf-8") as file:
        file.write("# two particles\n0 0 0\n1, 2, 2, 3\n")
    found = p.json("run", "fmm", "--distribution", "file", "--file", "two.txt", "--ncpu", "1")["run"]
    assert found["residual"] < 1e-8, found  # the particles are neighbours
    with open(p.path("bad.txt"), "w", encoding="utf-8") as file:
        file.write("0 0 0\n1 2\n")
    bad = ("run", "fmm", "--distribution", "file", "--file")
    p.refuses(*bad, "bad.txt", says=["bad.txt, line 2", "x y z"], status=1)
    p.refuses(*bad, "missing.txt", says=["missing.txt"], status=1)
    p.refuses("run", "fmm", "--file", "two.txt", says=["--file", "--distribution file"])
    p.refuses("run", "fmm", "--precision", "s", "--digits", "6", says=["--digits 6", "5"])


# --- Sparse -----------------------------------------------------------------------------------------------------------

def has_sparse(p):
    """Whether it was built with CHOLMOD; otherwise its message says what to install."""
    done = subprocess.run([p.command, "sparse", "info", "TF4"], env=p.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "libsuitesparse-dev" in done.stderr, done.stderr
    return done.returncode == 0


def test_sparse_info_describes_a_factorisation(p):
    if not has_sparse(p):
        return
    found = p.json("sparse", "info", "TF10", "-o", "tree.png")
    p.starts_with("tree.png", b"\x89PNG")
    whole = found["sparse"]
    equal([whole[name] for name in ("rows", "columns", "elements", "transposed")], [99, 107, 622, "yes"])
    assert whole["work_gflop"] >= whole["path_gflop"] > 0 and whole["fronts"] >= whole["height"] >= 2, whole
    assert whole["peak_mib"] * 2 ** 17 > whole["r_elements"] + whole["h_elements"], whole
    assert abs(whole["fill"] * 622 / (whole["r_elements"] + whole["h_elements"]) - 1) < 1e-6, whole
    work = [front["work_gflop"] for front in found["fronts"]]
    equal(work, sorted(work, reverse=True))
    equal(sum(front["own_rows"] for front in p.json("sparse", "info", "TF10", "--fronts", "1000")["fronts"]), 106)
    equal(p.json("sparse", "info", "TF10", "--subtree", "-1")["sparse"]["subtrees"], 0)


def test_sparse_info_reads_files(p):
    if not has_sparse(p):
        return
    with open(p.path("mine.mtx"), "w") as f:
        f.write("%%MatrixMarket matrix coordinate pattern general\n3 2 3\n1 1\n2 2\n3 1\n")
    whole = p.json("sparse", "info", "mine.mtx", "--ordering", "natural")["sparse"]
    equal([whole[name] for name in ("rows", "columns", "elements", "transposed", "fronts")], [3, 2, 3, "no", 2])
    with open(p.path("mine.mtx"), "a") as f:
        f.write("3 3\n")
    p.refuses("sparse", "info", "mine.mtx", says=["heddle: mine.mtx, line 6"], status=1)
    p.refuses("sparse", "info", "missing.mtx", says=["heddle: cannot read missing.mtx"], status=1)


def test_sparse_commands_take_the_same_files(p):
    """Whatever the name of a file is, `info` and `run` read it."""
    if not has_sparse(p):
        return
    with open(p.path("survey"), "w") as f:
        f.write("%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 2 2\n3 1 4\n")
    equal(p.json("sparse", "info", "survey")["sparse"]["rows"], 3)
    p.run("run", "sparse-qr", "--matrix", "survey", "--ncpu", "1")
    p.refuses("run", "sparse-qr", "--matrix", "nonsense", says=["nonsense", "grid3d:#"], status=1)
    p.refuses("run", "sparse-qr", "--matrix", "missing.mtx", says=["missing.mtx"], status=1)
    p.refuses("run", "sparse-qr", "--relax", "0.5", says=["--relax is 0.5"])
    for strips in ("0", "-8", "x", "8/", "/8", "8/16", "8/8", "16/8/4", "99999999999"):
        p.refuses("run", "sparse-qr", "--strips", strips, says=[f'--strips is "{strips}"'])
    p.refuses("run", "sparse-qr", "--domain", "-1", says=["domain", "-1"])


def test_sparse_fronts_have_domains_and_strips(p):
    """Domains make triangles, strips more tasks of what there is; the result stays right."""
    if not has_sparse(p):
        return
    def tasks(*options):
        ran = p.json("run", "sparse-qr", "--matrix", "random:400,40,300,1", "--subtree", "-1", "--tile", "40", "--ncpu",
                     "1", *options)
        assert ran["run"]["residual"] < 30, ran
        return ran["run"]["tasks"]
    flat = tasks("--domain", "10")
    assert tasks("--domain", "2") > flat
    assert tasks("--domain", "10", "--inner", "8", "--strips", "16/8") > flat


def test_sparse_residuals_do_not_depend_on_units(p):
    """With elements times a power of two roundings are about the same: neither are squares 0, nor do they overflow."""
    if not has_sparse(p):
        return
    for options in ((), ("--drop-q", "yes")):
        found = []
        for exponent in (0, -800, 800):
            with open(p.path("units.mtx"), "w") as f:
                f.write("%%MatrixMarket matrix coordinate real general\n30 10 300\n")
                f.writelines(f"{i + 1} {j + 1} {float(i * i * j + i + j * 7 % 5 + 1) * 2.0 ** exponent!r}\n"
                             for j in range(10) for i in range(30))
            ran = p.json("run", "sparse-qr", "--matrix", "units.mtx", "--ncpu", "1", *options)
            found.append(ran["run"]["residual"])
        assert 0 < max(found) < 30 and max(found) < 5 * min(found), found


def test_sparse_info_says_what_is_wrong(p):
    if not has_sparse(p):
        return
    p.refuses("sparse", says=["sparse info MATRIX"])
    p.refuses("sparse", "info", says=["which matrix"])
    p.refuses("sparse", "inof", "TF10", says=["inof", "info"])
    p.refuses("sparse", "info", "TF10", "TF11", says=["TF11"])
    p.refuses("sparse", "info", "TF99", says=["TF99", "3 to 18"])
    p.refuses("sparse", "info", "FT10", says=["mk#-b#", "grid3d:#"])
    p.refuses("sparse", "info", "TF10", "--ordering", "colmad", says=["colmad", "colamd"])
    p.refuses("sparse", "info", "TF10", "-o", "nowhere/tree.png", says=["nowhere"], status=1)
    p.run("sparse", "info", "TF10", "-o", "tree.jpg", status=1)


# --- tune ------------------------------------------------------------------------------------------------------------

TUNED = (("potrf", "--n", "9600", "--platform", "haswell-k40m"), ("potrf", "--n", "8000", "--platform", "gpu1-cpu6"),
         ("gemm", "--n", "7680", "--platform", "westmere-c2050"), ("potrf", "--n", "12000", "--platform", "intel-v100"),
         ("gemm", "--n", "9600", "--m", "3000", "--precision", "s", "--platform", "amd-a100"),
         ("getrf", "--n", "3840", "--platform", "haswell-k40m"), ("geqrf", "--n", "2880", "--platform", "haswell-k40m"))


def test_tune_is_near_the_exhaustive_search(p):
    for case in TUNED:
        common = ("tune",) + case + ("--scheds", "dmdas,heft,multiprio,lws")
        found, best = (p.json(*common, *more)["tuned"][0] for more in ((), ("--exhaustive",)))
        assert found["makespan_ms"] <= 1.03 * best["makespan_ms"], (case, found, best)


def test_tune_is_near_the_best_of_all_tiles(p):
    """All multiples of 32, not only those that the command has in its list; as far as products have been measured."""
    for routine, more, machine, tiles in (("potrf", "n=9600", "haswell-k40m", range(320, 1280, 32)),
                                          ("gemm", "n=9600,m=3000,precision=s", "amd-a100", range(480, 2880, 32))):
        where = ("--scheds", "dmdas,dmda,multiprio", "--platform", machine)
        found = p.json("tune", f"{routine}:{more}", *where)["tuned"][0]["makespan_ms"]
        works = [f"{routine}:{more},tile={tile},priorities={priorities}" for tile in tiles
                 for priorities in ("starpu", "path")]
        best = min(float(row["makespan_ms"]) for i in range(0, len(works), 40)
                   for row in p.csv("compare", *works[i:i + 40], *where))
        assert found <= 1.03 * best, (routine, found, best)


def test_tune_prints_a_command_that_does_what_it_says(p):
    shutil.copy(os.path.join(PLATFORMS, "haswell-k40m.yaml"), p.path("whose 'its', it's.yaml"))
    for machine in "haswell-k40m", "./whose 'its', it's.yaml":
        question = ("tune", "potrf", "--n", "4800", "--platform", machine, "--scheds", "dmdas,lws")
        out, _ = p.run(*question)
        command = shlex.split(out.strip().split("\n")[-1])
        assert command[:2] == ["heddle", "sim"] and machine in command, command
        row, best = p.csv(*command[1:])[0], p.json(*question)["tuned"][0]
        assert abs(float(row["makespan_ms"]) / best["makespan_ms"] - 1) < 1e-6, (row, best)


def test_tune_tries_no_tile_that_is_larger_than_the_matrix(p):
    for n in 1, 20, 33, 100:
        for row in p.json("tune", "potrf", "--n", str(n), "--platform", "haswell-k40m", "--scheds", "lws")["tuned"]:
            assert row["tile"] <= n, (n, row)
    p.refuses("tune", "potrf", "--n", "64", "--tile", "100", "--platform", "haswell-k40m",
              says=["potrf", "--tile is 100", "at most --n, 64"])


def test_tune_says_all_that_was_given(p):
    """In the word, as options, and as settings, one of which needs quotes."""
    where = ("--platform", "haswell-k40m", "--scheds", "dmdas")
    for given, said in (
            (("potrf:uplo=upper,n=4800",), " --uplo upper"), (("potrf", "--n", "4800", "--cut", "240"), " --cut 240"),
            (("potrf", "--n", "4800", "--cut", "240", "--refine", "1"), " --refine 1"),
            (("posv", "--n", "4800", "--nrhs", "7"), " --nrhs 7"),
            (("gemm", "--n", "4800", "--m", "960", "--k", "1920", "-r", "z"), " --m 960 --k 1920"),
            (("potrf", "--n", "4800", "--set", "expand=never"), " --set expand=never"),
            (("potrf", "--n", "4800", "--set", "sched_options=beta=2, prefetch=no"),
             " --set 'sched_options=beta=2, prefetch=no'"),
            (("geqrf:tree=flat", "--n", "2880", "--m", "9600", "--inner", "64"), " --inner 64"),
            (("potrf", "--n", "4800", "--priorities", "path"), " --priorities path"),
            (("potrf", "--n", "4800", "--priorities", "starpu"), " --priorities starpu")):
        out, _ = p.run("tune", *given, *where)
        command = out.strip().split("\n")[-1]
        assert said in command and "--tree" not in command, (given, command)
        row, best = p.csv(*shlex.split(command)[1:])[0], p.json("tune", *given, *where)["tuned"][0]
        assert abs(float(row["makespan_ms"]) / best["makespan_ms"] - 1) < 1e-6, (command, row, best)


def test_tune_finds_the_leaves_and_tasks_of_the_fmm(p):
    fmm = ("fmm", "--particles", "5000", "--digits", "3", "--pairs", "mutual", "--p2p", "full")
    where = ("--platform", "haswell-k40m", "--scheds", "dmdas,lws")
    out, _ = p.run("tune", *fmm, *where)
    command = shlex.split(out.strip().split("\n")[-1])
    assert "--priorities" not in command, command
    row, found = p.csv(*command[1:])[0], p.json("tune", *fmm, *where)["numbers"]
    assert abs(float(row["makespan_ms"]) / found[0]["makespan_ms"] - 1) < 1e-6, (row, found[0])
    equal(len({(row["leaves"], row["task_us"], row["policy"]) for row in found}), len(found))
    exhaustive = p.json("tune", *fmm, *where, "--exhaustive")["numbers"]
    assert found[0]["makespan_ms"] <= 1.05 * exhaustive[0]["makespan_ms"], (found[0], exhaustive[0])
    usual = p.csv("sim", *fmm, "--platform", "haswell-k40m", "--sched", "dmdas,lws")
    assert found[0]["makespan_ms"] <= min(float(row["makespan_ms"]) for row in usual), (found[0], usual)
    for row in p.json("tune", *fmm, "--task-us", "300", *where)["numbers"]:
        equal(row["task_us"], 300)
    automatic = p.json("tune", "fmm", "--particles", "5000", "--leaves", "0", *where)["numbers"]
    assert all(row["leaves"] is None for row in automatic), automatic
    p.refuses("tune", "--here", "fmm", says=["fmm has no tiles"])


def test_tune_keeps_what_is_given_and_refuses_graphs(p):
    for row in p.json("tune", "potrf", "--n", "4800", "--tile", "480", "--platform", "haswell-k40m")["tuned"]:
        equal(row["tile"], 480)
    p.refuses("tune", says=["potrf", "--help"])
    p.refuses("tune", "random:n=9", "--platform", "gpu1-cpu6", says=["graph"])
    p.refuses("tune", "potrf", "--platform", "haswel", says=["haswell-k40m"])
    p.refuses("tune", "potrf", says=["heddle platform calibrate", "--platform"])


def test_tune_finds_tiles_of_sparse_qr(p):
    if not has_sparse(p):
        return
    where = ("--platform", "intel-v100", "--scheds", "dmdas,lws")
    for given, said in ((("sparse-qr:matrix=TF13",), " --matrix TF13"),
                        (("sparse-qr", "--matrix", "TF13", "--tile", "128", "--relax", "2"), " --tile 128"),
                        (("sparse-qr:priorities=tree", "--matrix", "TF13", "-r", "s"), " --priorities tree")):
        out, _ = p.run("tune", *given, *where)
        command, tuned = shlex.split(out.strip().split("\n")[-1]), p.json("tune", *given, *where)["tuned"]
        assert said in " ".join(command), (given, command)
        assert len({row["tile"] for row in tuned}) > 1 or "--tile" in given, tuned
        row, usual = p.csv(*command[1:])[0], p.csv("sim", *given, "--platform", "intel-v100", "--sched", "lws")[0]
        assert abs(float(row["makespan_ms"]) / tuned[0]["makespan_ms"] - 1) < 1e-6, (command, row, tuned)
        assert tuned[0]["makespan_ms"] <= float(usual["makespan_ms"]), (given, usual, tuned)
    p.refuses("tune", "--here", "sparse-qr", says=["dense routines alone"])
    p.refuses("tune", "sparse-qr", "--relax", ".5", "--platform", "intel-v100", says=["--relax is 0.5"])


def test_the_tile_of_this_machine_is_found_and_used(p):
    out, _ = p.run("run", "potrf", "--n", "300", "--ncpu", "1")
    assert "Tile 256, the built-in default; `heddle tune --here potrf --n 300 --precision d`" in out, out
    assert "Tile" not in p.run("run", "potrf", "--n", "300", "--ncpu", "1", "--tile", "100")[0]
    found = p.json("tune", "--here", "potrf", "getrf:n=200", "--n", "300", "--set", "n_cpu=1")["tiles"]
    equal([(row["graph"], row["n"], row["precision"]) for row in found], [("potrf", 300, "d"), ("getrf", 200, "d")])
    out, _ = p.run("run", "potrf", "--n", "300", "--ncpu", "1")
    assert f"Tile {found[0]['tile']}, found by heddle tune on 20" in out, out
    equal(p.csv("run", "potrf", "--n", "400", "--ncpu", "1")[0]["tile"], str(found[0]["tile"]))
    equal(p.csv("run", "potrf", "--n", "700", "--ncpu", "1")[0]["tile"], "256")  # of another size
    equal(p.csv("run", "potrf", "--n", "300", "--ncpu", "1", "-r", "s")[0]["tile"], "256")
    equal(p.json("sim", "potrf", "--n", "300", "--platform", "gpu1-cpu6")["problem"]["tile"], 256)
    p.refuses("tune", "--here", "potrf", "--tile", "64", says=["do not give one"])
    p.refuses("tune", "--here", "potrf", "random:n=5", says=["is a graph"])  # which is freed, as LeakSanitizer sees
    p.refuses("tune", "--here", says=["potrf", "--help"])
    p.refuses("tune", "--here", "potrf", "--platform", "gpu1-cpu6", says=["--here", "--platform"])
    p.refuses("tune", "--here", "potrf", HEDDLE_MODEL_DIR="none", says=["model_dir"])
    p.refuses("tune", "potrf", "getrf", says=["unexpected", "getrf"])


def test_the_best_is_marked_and_the_shortest_comes_first(p):
    for command, table, more in (("sim", "policies", ("cholesky",)), ("compare", "results", ("cholesky", "gemm"))):
        arguments = (command, *(f"{what}:n=4800,tile=960" for what in more), "-p", "haswell-k40m",
                     "--scheds" if command == "compare" else "--sched", "eager,lws,dmdas,multiprio")
        plain, rows = p.json(*arguments)[table], p.json(*arguments, "--sort")[table]
        key = lambda row: (row.get("graph"), row["makespan_ms"])
        equal([row["policy"] for row in rows], [row["policy"] for row in sorted(plain, key=key)])
        for group in more:
            of_graph = [row for row in rows if row.get("graph", "").startswith(group) or len(more) == 1]
            least = of_graph[0]["makespan_ms"]
            for row in of_graph:
                equal(row["is_best"], "yes" if row["makespan_ms"] == least else None)


def test_policies_of_a_list_have_options_of_their_own(p):
    work, where = "cholesky:n=9600,tile=960", ("-p", "haswell-k40m")
    variants = ("dmda:contention=none", "dmda:beta=0,hidden=no", "dmda")
    alone = [p.json("sim", work, *where, "--sched", name.split(":")[0], "--sched-options", (name + ":").split(":")[1])
             ["policies"][0]["makespan_ms"] for name in variants]
    assert len(set(alone)) == 3, alone # else it tests nothing
    rows = p.json("sim", work, *where, "--sched", ",".join(variants))["policies"]
    equal([(row["policy"], row["makespan_ms"]) for row in rows], list(zip(variants, alone)))
    rows = p.json("compare", work, *where, "--scheds", ",".join(variants))["results"]
    equal([(row["policy"], row["makespan_ms"]) for row in rows], list(zip(variants, alone)))
    p.refuses("sim", work, *where, "--sched", "dmdaa:beta=0", says=["dmda"])
    p.refuses("sim", work, *where, "--sched", "dmda:bet=0", says=["bet"])
    p.refuses("tune", "potrf", *where, "--scheds", "dmda:beta=0", says=["--scheds"])


# --- compare ----------------------------------------------------------------------------------------------------------

COMPARED = "cholesky:n=5760,tile=960,precision=s,random:n=200,fat=0.5"


def test_compare_all_policies_stay_above_the_bounds(p):
    r = p.json("compare", "--graphs", COMPARED, "--platforms", "haswell-k40m,gpu1-cpu6", "-o", "map.png")
    equal(len(r["problems"]), 4)
    equal([x["tasks"] for x in r["problems"]], [56, 56, 200, 200])
    policies = [x["policy"] for x in r["policies"]]
    assert len(policies) >= 15, policies
    equal(len(r["results"]), 4 * len(policies))
    assert all(x["runs"] == 1 and x["over_bound"] >= 1 for x in r["results"]), r["results"]
    assert sum(x["best"] for x in r["policies"]) >= 4, r["policies"]
    p.starts_with("map.png", b"\x89PNG")


def test_compare_agrees_with_sim_and_does_not_depend_on_jobs(p):
    what = ["compare", COMPARED.split(",random")[0], "--platforms", "haswell-k40m", "--scheds", "dmdas,random",
            "--noise", "0.1",
            "--seeds", "3"]
    one, four = p.csv(*what, "--jobs", "1"), p.csv(*what, "--jobs", "4")
    for a, b in zip(one, four):
        del a["policy_us_per_task"], b["policy_us_per_task"]
        equal(a, b)
    equal([row["runs"] for row in one], ["3", "3"])
    sims = [p.json("sim", "cholesky", "--n", "5760", "--tile", "960", "--precision", "s", "--platform", "haswell-k40m",
                   "--sched",
                   "dmdas", "--noise", "0.1", "--seed", str(seed))["policies"][0]["makespan_ms"] for seed in range(3)]
    assert abs(sum(sims) / 3 - float(one[0]["makespan_ms"])) < 1e-6, (sims, one[0])
    assert abs(statistics.stdev(sims) - float(one[0]["deviation_ms"])) < 1e-6, (sims, one[0])


def test_compare_times_the_policies_only_when_nothing_runs_beside_them(p):
    what = ["compare", "random:n=200", "--platforms", "gpu1-cpu6", "--scheds", "eager,dmda"]
    for jobs in 1, 2:
        found = p.json(*what, "--jobs", str(jobs))
        for row in found["results"] + found["policies"]:
            assert row["policy_us_per_task"] > 0 if jobs == 1 else row["policy_us_per_task"] is None, (jobs, row)
        equal("--jobs 1" in p.run(*what, "--jobs", str(jobs))[0], jobs > 1)


def test_compare_takes_graph_files(p):
    p.run("graph", "random:n=50", "-o", "g.json")
    r = p.csv("compare", "--graphs", "g.json,random:n=50", "--platforms", "gpu1-cpu6", "--scheds", "dmda")
    equal([row["graph"] for row in r], ["g.json", "random:n=50"])
    equal(r[0]["makespan_ms"], r[1]["makespan_ms"])


def test_options_of_a_routine_beside_its_word_are_answered(p):
    compare = "compare", "potrf", "--platforms", "haswell-k40m"
    for given, said in ((("-n", "512"), "-n:n=512"), (("-b32",), "-b32:tile=32"), (("--n", "512"), "--n:n=512"),
                        (("--tile=32",), "--tile=32:tile=32"), (("-n",), "-n:n=VALUE")):
        option, value = said.split(":")
        for command in compare, ("graph", "potrf"):
            p.refuses(*command, *given, says=[f"heddle {command[0]} has no option {option}: ", f"as in potrf:{value}"])
    p.refuses("graph", "fmm:digits=3", "--particles", "20", says=["as in fmm:particles=20"])
    p.refuses("compare", "--platforms", "haswell-k40m", "-n", "512", says=["as in potrf:n=512"])
    p.refuses("graph", "potrf", "-X", "4", says=["invalid option -- 'X'"])
    p.refuses("graph", "potrf", "--titel", "4", says=["heddle graph has no option --titel; "])
    p.refuses(*compare, "--scheds", "-n", says=["policy", '"-n"'])
    p.refuses(*compare, "--noi", "many", says=["--noise", "many"])
    p.refuses(*compare, "-s", says=["option requires an argument -- 's'"])


def test_compare_wrong_names_are_answered(p):
    p.refuses("compare", says=["--graphs", "cholesky"])
    p.refuses("compare", "cholesky", says=["--platform", "haswell-k40m"])
    p.refuses("compare", "cholesky", "--platforms", "haswell", says=["haswell-k40m"])
    p.refuses("compare", "cholesky", "--platforms", "gpu1-cpu6", "--scheds", "dmdass", says=["dmdas"])
    p.refuses("compare", "cholesky", "--platforms", "gpu1-cpu6", "-o", "map.gif", says=["--output", ".png"])
    p.refuses("compare", "cholesky", "--platforms", "gpu1-cpu6", "--seeds", "0", says=["--seeds"])

# --- suite ------------------------------------------------------------------------------------------------------------

CELLS = """# two suites
reference lws,dmdas,heft # three of them
machine few haswell-k40m accelerators=1 links=0.1
machine cores haswell-k40m accelerators=0
suite one
dense few potrf:n=4800,tile=960
dense haswell-k40m potrf:n=4800,tile=960
suite two
random haswell-k40m random:n=60,seed=3
graph cores g.json
dense cores potrf:n=5760,tile=2880/960 expand=never
"""


def close(a, b):
    assert abs(a - b) <= 1e-9 * abs(b), f"{a!r} is not near {b!r}"


def listed_cells(p):
    os.mkdir(p.path("cells"))
    with open(p.path("cells/list.txt"), "w") as f:
        f.write(CELLS)
    p.run("graph", "--random", "n=40,seed=5", "-o", "cells/g.json")
    return "suite", "cells/list.txt"


def test_suite_divides_by_the_best_of_its_reference_in_each_cell(p):
    suite = listed_cells(p)
    r = p.json(*suite, "-s", "dmda,lws", "--bounds", "-o", "map.svg")
    p.starts_with("map.svg", b"<?xml")
    p.refuses(*suite, "-o", "map.txt", says=["map.txt", ".svg"])
    equal(len(r["cells"]), 10)
    for i, (machine, work) in enumerate((("few", "potrf:n=4800,tile=960"), ("haswell-k40m", "potrf:n=4800,tile=960"))):
        rows = p.csv(*suite, "--explain", "--only", "one")[3 * i:3 * i + 3]
        best = min(rows, key=lambda row: float(row["makespan_ms"]))
        for row in r["cells"][2 * i:2 * i + 2]:
            equal((row["suite"], row["platform"], row["graph"]), ("one", machine, work))
            equal(row["best_policy"], best["policy"])
            close(row["over_best"], row["makespan_ms"] / float(best["makespan_ms"]))
            close(row["over_bound"], row["makespan_ms"] / row["bound_ms"])
    same = p.json("sim", "potrf:n=4800,tile=960", "-p", "haswell-k40m", "-s", "dmda")["policies"][0]["makespan_ms"]
    equal(r["cells"][2]["makespan_ms"], same)
    assert r["cells"][0]["makespan_ms"] > 1.5 * same # one GPU on a slow link
    alone = [row for row in r["policies"] if row["policy"] == "dmda"]
    equal([(row["suite"], row["group"], row["cells"]) for row in alone],
          [("one", "dense", 2), ("one", "all", 2), ("two", "random", 1), ("two", "graph", 1), ("two", "dense", 1),
           ("two", "all", 3)])
    ratios = [row["over_best"] for row in r["cells"] if row["suite"] == "two" and row["policy"] == "dmda"]
    close(alone[-1]["mean_over_best"], statistics.geometric_mean(ratios))
    close(alone[-1]["worst_over_best"], max(ratios))


def test_suite_keeps_the_best_makespans(p):
    suite = listed_cells(p)
    first = p.json(*suite, "-s", "dmda", "--best", "best.txt")
    with open(p.path("best.txt")) as f:
        lines = f.read().splitlines()
    equal(len(lines), 6)
    equal(p.json(*suite, "-s", "dmda", "--best", "best.txt"), first)
    with open(p.path("best.txt"), "w") as f: # what the file says is believed
        f.write("\n".join([lines[0], "1 eager" + lines[1][lines[1].index(" few"):], *lines[2:]]) + "\n")
    cell = p.json(*suite, "-s", "dmda", "--best", "best.txt")["cells"][0]
    equal((cell["best_policy"], cell["over_best"]), ("eager", cell["makespan_ms"]))
    noisy = p.json(*suite, "-s", "dmda", "--best", "best.txt", "--noise", ".1") # but not about other runs
    assert noisy["cells"][0]["best_policy"] != "eager"


def test_suite_names_the_line_that_is_wrong(p):
    for text, says in (("reference lws\nx", "line 2"), ("machine a", "line 1"), ("a gpu1-cpu6\n", "line 1"),
                       ("machine a gpu1-cpu6 links=0", "links=0"), ("machine a gpu1-cpu6 gpus=1", "gpus=1"),
                       ("suite", "line 1"), ("reference lws", "no cells"), ("a gpu1-cpu6 potrf:n=9", "reference"),
                       ("reference lws\na gpu1-cpu6 potrf:n=9 expand", "NAME=VALUE"),
                       ("reference lws\na gpu1-cpu6 potrf:n=9 expand=often", "often"),
                       ("reference nobody\na gpu1-cpu6 potrf:n=9", "nobody"), ("a nowhere potrf:n=9", "nowhere")):
        with open(p.path("list"), "w") as f:
            f.write(text)
        p.refuses("suite", "list", says=[says])
    p.refuses("suite", says=["cells.txt"])
    p.refuses("suite", "absent", says=["absent"], status=1)


# --- lab --------------------------------------------------------------------------------------------------------------

LAB = ("lab", "--quick", "--sets", "3,24-25", "--tasks", "120")


def test_lab_writes_the_papers_tables(p):
    out, _ = p.run(*LAB, "--seeds", "2", "-o", "lab")
    assert "URTxD_L5" in out and "tasks/s" in out, out
    with open(p.path("lab/slowdown.csv")) as f:
        slowdown = list(csv.DictReader(f))
    equal(list(slowdown[0]), ["heuristic", "3", "24", "25", "mean"])
    equal(len(slowdown), 29)
    equal((slowdown[0]["heuristic"], slowdown[23]["heuristic"], slowdown[28]["heuristic"]), ("NTC", "URTxRelD", "best"))
    for row in slowdown:
        mean = sum(float(row[s]) for s in ("3", "24", "25")) / 3
        assert abs(float(row["mean"]) - mean) < 1e-9, row
        assert all(float(slowdown[28][s]) <= float(row[s]) + 1e-12 for s in ("3", "24", "25", "mean")), row
    with open(p.path("lab/dataset.csv")) as f:
        dataset = list(csv.DictReader(f))
    equal([(r["seed"], r["dataset"], r["n_cpu"], r["n_gpu"]) for r in dataset],
          [(s, *row) for s in "12" for row in [("3", "2", "7"), ("24", "1", "2"), ("25", "9", "11")]])
    equal(dataset[1]["paper_mean_predecessors"], "1.934")
    assert all(float(r["control_of_perfect"]) > 0.9 for r in dataset)
    with open(p.path("lab/summary.csv")) as f:
        summary = {r["heuristic"]: r for r in csv.DictReader(f)}
    equal((summary["URTxD_L5"]["paper_mean"], summary["URTxD_L5"]["paper_rank"], summary["URT"]["paper_rank"]),
          ("1.073", "1", "28"))
    assert float(summary["URT"]["least"]) < float(summary["URT"]["most"])
    p.starts_with("lab/summary.png", b"\x89PNG")


def test_lab_twice_and_with_other_threads_gives_the_same(p):
    one = p.csv(*LAB, "--threads", "1")
    equal(one, p.csv(*LAB, "--threads", "3"))
    assert one != p.csv(*LAB, "--seed", "2")
    assert one != p.csv(*LAB, "--local")


def test_lab_json_has_all_tables(p):
    lab = p.json(*LAB, "--rounds", "2")
    equal(list(lab), ["experiment", "summary", "dataset", "slowdown"])
    equal((lab["experiment"]["tasks"], lab["experiment"]["rounds"], len(lab["summary"]), len(lab["dataset"])),
          (120, 2, 29, 3))


def test_lab_wrong_options_are_answered(p):
    for sets in ["32", "3-1", "1,,2", "x", "-1", ""]:
        p.refuses("lab", f"--sets={sets}", says=["--sets", "0 to 31"])
    p.refuses("lab", "--seeds", "0", says=["--seeds", "1 to 1000"])
    p.refuses("lab", "--quick", "-o", "/dev/null/x", status=1, says=["/dev/null"])


# --- repro ------------------------------------------------------------------------------------------------------------

def test_repro_lists_its_experiments(p):
    equal([row["id"] for row in p.csv("repro", "--list")],
          ["mp-gain", "mp-nod", "ah-tables", "ah-warm", "mp-evict", "mp-dense", "mp-fmm", "da-alpha",
           "da-chol", "da-lu", "da-qr",
           "cl-table", "cl-bounds", "cl-scale", "ht-submit", "ht-gemm", "ht-chol",
           *(("mp-sparse", "ah-scheds", "ah-inter") if has_sparse(p) else ())])
    equal(p.run("repro"), p.run("repro", "--list"))
    equal(p.run("repro", "--json"), p.run("repro", "--list", "--json"))
    assert all(row["paper"] and row["what"] and row["result"] for row in p.json("repro", "--list")["experiments"])


def test_repro_sets_our_figures_beside_the_papers(p):
    found = p.json("repro", "mp-gain", "mp-nod", "-o", "out")
    equal([(row["experiment"], row["verdict"]) for row in found["verdicts"]], [("mp-gain", "pass"), ("mp-nod", "pass")])
    ours = [round(row["ours"], 3) for row in found["rows"] if row["experiment"] == "mp-gain"]
    equal(ours, [1, 0.632, 0.237, 0, 0.368, 0.763])
    for row in found["rows"]:
        assert row["accepted_from"] <= row["ours"] <= row["accepted_to"], row
        assert row["verdict"] == "pass" and row["where"], row
    equal([row["file"] for row in found["files"]], ["out/mp-gain.png", "out/mp-gain.csv", "out/mp-nod.png",
                                                    "out/mp-nod.csv"])
    p.starts_with("out/mp-gain.png", b"\x89PNG")
    with open(p.path("out/mp-nod.csv")) as f:
        rows = list(csv.DictReader(f))
    equal([(float(row["paper"]), float(row["ours"])) for row in rows], [(2.5, 2.5), (1, 1), (1, 1)])
    assert "virtual time" in rows[0]["where"]


def test_repro_prints_a_report_per_experiment(p):
    out, _ = p.run("repro", "mp-gain")
    for word in ["table II", "paper", "accepted", "0.63 to 0.632", "mp-gain: pass", "results/mp-gain.png"]:
        assert word in out, f"no {word!r} in\n{out}"
    assert "verdict" in p.run("repro", "mp-gain", "mp-nod")[0].split("mp-nod: pass")[1]


def test_repro_wrong_words_are_answered(p):
    p.refuses("repro", "mp-gian", says=["mp-gain"])
    p.refuses("repro", "qqqqqqqq", says=["all", "mp-gain", "ah-warm"])
    p.refuses("repro", "mp-gain", "--seed", "-1", says=["--seed"])
    p.refuses("repro", "mp-gain", "-o", "/proc/none", says=["/proc/none"], status=1)


# --- demo -------------------------------------------------------------------------------------------------------------

def test_demo_runs_all_four_steps(p):
    out, _ = p.run("demo", "--n", "512", "--tile", "128", "-o", "pictures")
    for word in ["1. ", "2. ", "3. ", "4. ", "Residual", "haswell-k40m", "dmdas", "area bound"]:
        assert word in out, f"no {word!r} in\n{out}"
    names = os.listdir(p.path("pictures"))
    equal(sorted(name.split(".")[-1] for name in names), ["png", "svg"])


def test_demo_wrong_platform_is_refused(p):
    p.refuses("demo", "--platform", "haswell", says=["haswell-k40m"])


def run_tests(functions, command, pattern):
    """Runs the tests among the functions, those whose names have `pattern`, a regular expression; ends the program."""
    command = os.path.abspath(command)
    passed = failed = 0
    for name, test in list(functions.items()):
        if not name.startswith("test_") or not re.search(pattern, name):
            continue
        with tempfile.TemporaryDirectory() as directory:
            try:
                test(Place(command, directory))
                passed += 1
            except Exception:
                failed += 1
                print(f"{name} FAILED\n{traceback.format_exc(limit=-2)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: run.py PATH_TO_HEDDLE [PATTERN]")
    run_tests(globals(), sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "")


if __name__ == "__main__":
    main()
