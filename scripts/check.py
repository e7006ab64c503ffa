#!/usr/bin/env python3
"""Everything that must hold: all tests on an optimised build; the quick ones under ASan+UBSan and under TSan; fuzzing.

The last line printed is "N passed, N failed"; the exit status is 0 when nothing failed. A build that fails counts as
one failed test. Many tests wait, so that the next build is under way while one is tested. Called by `make check`, which
installs what is needed first.
"""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

# -g1: names and lines for the reports, which is quicker to compile and link than what a debugger wants
SANITIZED = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DHEDDLE_DEVELOPER=ON",
             "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG"]
# With these, a check of UBSan that fails only stops the program, and AddressSanitizer names the line (handle_sigill in
# cmake/HeddleTest.cmake). Without them it says what was wrong, too, but everything takes a third longer to compile.
TRAPS = ["-DCMAKE_C_FLAGS=-fsanitize-trap=undefined", "-DCMAKE_CXX_FLAGS=-fsanitize-trap=undefined"]
BUILDS = [
    # name, folder below the build folder, CMake options, CTest selection
    ("gcc, optimised", "", ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DHEDDLE_DEVELOPER=ON"], []),
    ("clang, AddressSanitizer and UBSan, fuzzers", "asan",
     SANITIZED + TRAPS + ["-DHEDDLE_SANITIZE=address,undefined", "-DHEDDLE_FUZZ=ON"], ["-L", "quick|fuzz"]),
    ("clang, ThreadSanitizer", "tsan", SANITIZED + ["-DHEDDLE_SANITIZE=thread"], ["-L", "quick"]),
]
LAST_LINES = 30  # of what a failed test has said: shown again in the end, where a long log is read first


class Totals:
    def __init__(self):
        self.passed = self.failed = 0
        self.failures, self.skips = [], []

    def add_failure(self, name, said=""):
        self.failed += 1
        self.failures.append([f"failed: {name}"] + ["    " + line for line in said.splitlines()[-LAST_LINES:]])


def say(text):
    print(text, flush=True)


def quiet(command):
    """Runs a command; its output is shown only when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        say(done.stdout)
        say(f"== failed with status {done.returncode}: {' '.join(command)}")
    return done.returncode == 0


def thread_sanitizer_prefix():
    """What to put before a program built with TSan so that it runs here; None when nothing helps.

    Kernels that randomise more bits of the address space than its shadow map was laid out for make it stop with
    "unexpected memory mapping"; without randomisation it works, where that may be switched off.
    """
    with tempfile.TemporaryDirectory() as scratch:
        source, program = os.path.join(scratch, "empty.c"), os.path.join(scratch, "empty")
        with open(source, "w", encoding="ascii") as f:
            f.write("int main(void) { return 0; }\n")
        if not quiet(["clang", "-fsanitize=thread", source, "-o", program]):
            return None
        for prefix in ([], ["setarch", os.uname().machine, "-R"]):
            if prefix and not shutil.which(prefix[0]):
                continue
            tries = [subprocess.run(prefix + [program], capture_output=True, check=False) for _ in range(20)]
            if all(t.returncode == 0 for t in tries): # randomised: it may work by luck
                return prefix
    return None


def read_results(path, name, totals):
    """Adds what CTest wrote; returns whether there was anything to add."""
    try:
        cases = xml.parse(path).getroot().findall("testcase")
    except (OSError, xml.ParseError):
        return False
    for case in cases:
        status = case.get("status")
        if status == "run":
            totals.passed += 1
        elif status in ("notrun", "disabled"):
            totals.skips.append(f"{case.get('name')} ({name})")
        else:
            totals.add_failure(f"{case.get('name')} ({name})", case.findtext("system-out") or "")
    return bool(cases)


def make(entry, build, jobs):
    """Builds one entry of BUILDS; returns whether that succeeded."""
    name, folder, options, _ = entry
    where = os.path.join(build, folder)
    say(f"== {name}: building in {where}")
    # what the first build's tests have compiled for OpenCL devices need not be compiled again
    cache = "-DHEDDLE_TEST_CACHE=" + os.path.abspath(os.path.join(build, "test-homes", "cache"))
    return (quiet(["cmake", "-S", ".", "-B", where, "-G", "Ninja", cache] + options)
            and quiet(["nice", "cmake", "--build", where, "-j", str(jobs)]))


def test(entry, build, jobs, prefix, totals):
    """Runs the tests of a build; `prefix` stands before ctest."""
    name, folder, _, selection = entry
    where = os.path.join(build, folder)
    say(f"== {name}: testing")
    results = os.path.abspath(os.path.join(where, "results.xml"))
    if os.path.exists(results):
        os.remove(results)
    # many tests wait for threads, devices or processes of theirs, and leave cores to others meanwhile
    subprocess.run(prefix + ["ctest", "--test-dir", where, "-j", str(jobs + jobs // 2), "--output-on-failure",
                             "--output-junit", results] + selection, check=False)
    if not read_results(results, name, totals):
        totals.add_failure(f"no test ran ({name})")


def check(wanted, build, jobs, totals):
    """Builds and tests the entries in their order."""
    prefix = []
    if any(folder == "tsan" for _, folder, _, _ in wanted):
        prefix = thread_sanitizer_prefix()
    if prefix is None:
        say("== ThreadSanitizer cannot run here (address space randomisation cannot be reduced): left out. "
            "`sysctl vm.mmap_rnd_bits=28` as root lets it.")
        totals.skips += [f"all tests ({name})" for name, folder, _, _ in wanted if folder == "tsan"]
        wanted = [entry for entry in wanted if entry[1] != "tsan"]
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as builder: # it makes one after another
        for entry, made in [(entry, builder.submit(make, entry, build, jobs)) for entry in wanted]:
            if made.result():
                test(entry, build, jobs, prefix if entry[1] == "tsan" else [], totals)
            else:
                totals.add_failure(f"build ({entry[0]})")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--build", default="build", help="build folder (default: build)")
    arguments.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at once")
    arguments.add_argument("--only", choices=["gcc", "asan", "tsan"], help="one of the three builds")
    given = arguments.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    start, totals = time.monotonic(), Totals()
    check([entry for entry in BUILDS if given.only in (None, entry[1] or "gcc")], given.build, given.jobs, totals)
    for name in totals.skips:
        say(f"not run: {name}")
    for lines in totals.failures:
        say("\n".join(lines))
    say(f"== {time.monotonic() - start:.0f} s")
    say(f"{totals.passed} passed, {totals.failed} failed")
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
