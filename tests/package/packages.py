#!/usr/bin/env python3
"""What scripts/install-packages.sh does where packages are missing, with stand-ins for Debian's programs:
tests/package/packages.py

Those without which Heddle can be built and tested are asked for, and said to be left out if they cannot be had.
"""
import os
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "install-packages.sh")
PROGRAMS = { # FAILS and MISSING: words between blanks
    "dpkg-query": 'for last; do :; done\ncase " $MISSING " in *" $last "*) exit 1 ;; esac\necho installed\n',
    "apt-get": 'echo "$*" >>"$CALLS"\nfor word; do case " $FAILS " in *" $word "*) exit 1 ;; esac; done\n',
    "id": "echo 0\n",
}
OPTIONAL = ("libclblast-dev", "python3-pytest", "gdb", "gfortran", "chromium-headless-shell")


class Packages(unittest.TestCase):
    def install(self, what, missing, fails=()):
        """Runs the script; returns its status, what it says, and the calls of apt-get."""
        with tempfile.TemporaryDirectory() as scratch:
            for name, text in PROGRAMS.items():
                path = os.path.join(scratch, name)
                with open(path, "w", encoding="ascii") as f:
                    f.write("#!/bin/sh\n" + text)
                os.chmod(path, 0o755)
            calls = os.path.join(scratch, "calls")
            with open(calls, "w", encoding="ascii"):
                pass
            done = subprocess.run([SCRIPT, what], capture_output=True, text=True, check=False, env={
                **os.environ, "PATH": scratch + ":" + os.environ["PATH"], "CALLS": calls,
                "MISSING": " ".join(missing), "FAILS": " ".join(fails)})
            with open(calls, encoding="ascii") as f:
                return done.returncode, done.stdout + done.stderr, f.read()

    def test_nothing_is_called_when_all_is_there(self):
        self.assertEqual(self.install("check", []), (0, "", ""))

    def test_check_installs_what_it_can_do_without(self):
        status, said, calls = self.install("check", OPTIONAL)
        self.assertEqual(status, 0)
        for package in OPTIONAL:
            self.assertIn(package, said)
            self.assertRegex(calls, rf"(?m)^-q install .* {package}\b")

    def test_check_goes_on_without_what_cannot_be_had(self):
        status, said, _ = self.install("check", OPTIONAL, ["install"])
        self.assertEqual(status, 0)
        for package, what in zip(OPTIONAL, ("OpenCL", "Python", "gdb", "Fortran", "live page")):
            self.assertRegex(said, rf"(?m)^== {package} could not be installed, so .*{what}")

    def test_one_that_cannot_be_had_does_not_take_others_along(self):
        status, said, calls = self.install("check", ["python3-numpy", "python3-pytest"], ["python3-pytest"])
        self.assertEqual(status, 0)
        self.assertRegex(calls, r"(?m)^-q install .* python3-numpy$")
        self.assertNotIn("python3-numpy could not", said)

    def test_benches_go_on_without_a_peer(self):
        status, said, _ = self.install("bench", ["libflame-dev"], ["libflame-dev"])
        self.assertEqual(status, 0)
        self.assertIn("libflame-dev could not be installed, so its routines are not compared with", said)

    def test_what_is_needed_must_be_had(self):
        status, said, _ = self.install("build", ["cmake"], ["install"])
        self.assertEqual(status, 1)
        self.assertIn("cannot be built here. Missing: cmake", said)

    def test_build_asks_for_no_browser(self):
        self.assertEqual(self.install("build", ["gdb", "chromium-headless-shell"]), (0, "", ""))


unittest.main()
