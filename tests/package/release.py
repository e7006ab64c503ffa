#!/usr/bin/env python3
"""How `make install` compiles the library: with debug information, which the commands for gdb read that are installed
beside it, without a word of the folder of the source, and optimised: tests/package/release.py
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def commands_of(build):
    """The command that compiles each file of libheddle.so and libheddle-report.so, by its path."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        return {os.path.relpath(e["file"], ROOT): shlex.split(e["command"]) for e in json.load(f)
                if re.search("heddle(_report)?_objects.dir", e["command"])}


def configured_for_installation(scratch):
    """Configures as `make install` would; returns the folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    said = subprocess.run(["make", "-n", "-C", ROOT, "install", f"BUILD={scratch}", f"PREFIX={scratch}/prefix"],
                          capture_output=True, text=True, check=True, env=environment).stdout
    line = next(line for line in said.replace("\\\n", " ").splitlines() if "-S ." in line)
    words = shlex.split(line)
    done = subprocess.run(words[words.index("cmake"):], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return words[words.index("-B") + 1]


def main():
    if not shutil.which("make"):
        print("there is no make, which says how it would install")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        installed = commands_of(configured_for_installation(scratch))
    if not installed:
        sys.exit("make install compiles no file of the library")
    for path, command in installed.items():
        last = [word for word in command if word.startswith("-O")][-1:]
        if last != ["-O3"]:
            sys.exit(f"{path}: make install optimises it by {last}, and not by -O3: {shlex.join(command)}")
        if "-g" not in command:
            sys.exit(f"{path}: make install compiles it without debug information: {shlex.join(command)}")
        if not any(word.startswith(f"-ffile-prefix-map={ROOT}=") for word in command):
            sys.exit(f"{path}: make install lets it know the folder of the source: {shlex.join(command)}")


main()
