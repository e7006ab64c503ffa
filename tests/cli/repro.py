#!/usr/bin/env python3
"""`heddle repro all --quick`, whole: tests/cli/repro.py PATH_TO_HEDDLE

What an experiment concludes is not tested, with three exceptions whose outcome nothing random can change; that its
report and its files are complete, and that the exit status is what the rows say, is.
"""
import json
import os
import subprocess
import sys
import tempfile

from run import Place, equal

MUST_PASS = ("mp-gain", "mp-nod", "mp-evict")
# Of these there is no figure of ours if the event was not seen, as may be with the small sizes of --quick.
MAY_LACK_OURS = ("is ahead of flat tiles from order", "bound of cores above that of clusters from")


def verdict_of(row):
    low, high = row["accepted_from"], row["accepted_to"]
    if low is None and high is None:
        return ""
    inside = row["ours"] is not None and (low is None or row["ours"] >= low) and (high is None or row["ours"] <= high)
    return "pass" if inside else "falls short"


def experiments(p):
    return {row["id"] for row in p.json("repro", "--list")["experiments"] if row["built"] == "yes"}


def check(p):
    done = subprocess.run([p.command, "repro", "all", "--quick", "--json"], cwd=p.directory, env=p.env,
                          capture_output=True)
    found = json.loads(done.stdout)
    verdicts = {row["experiment"]: row["verdict"] for row in found["verdicts"]}
    equal(set(verdicts), experiments(p))
    for row in found["rows"]:
        equal(row["verdict"], verdict_of(row))
        assert row["ours"] is not None or row["quantity"].endswith(MAY_LACK_OURS), row
        assert row["where"], row
    for name, verdict in verdicts.items():
        words = {row["verdict"] for row in found["rows"] if row["experiment"] == name}
        equal(verdict, "falls short" if "falls short" in words else "pass")
        assert verdict == "pass" or name not in MUST_PASS, f"{name} {verdict}"
        p.starts_with(f"results/{name}.png", b"\x89PNG")
    equal(done.returncode, int("falls short" in verdicts.values()))
    for row in found["files"]:
        assert os.path.getsize(p.path(row["file"])) > 0, row
    assert not os.path.exists(p.path("results/ah-warm-averages.yaml"))
    print(", ".join(f"{name}: {verdict}" for name, verdict in verdicts.items()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: repro.py PATH_TO_HEDDLE")
    with tempfile.TemporaryDirectory() as scratch:
        check(Place(os.path.abspath(sys.argv[1]), scratch))
