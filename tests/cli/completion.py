#!/usr/bin/env python3
"""What bash and zsh propose after the beginning of a line: tests/cli/completion.py PATH_TO_HEDDLE

The files of tools/completion are sourced as the shells do it. zsh is left out where there is none.
"""
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HEDDLE = os.path.abspath(sys.argv.pop(1))
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "completion")
BASH = r"""
source "$1"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_heddle "$2" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""
# A key completes, shows the line and ends the shell. One with several ends is left as it is.
ZSH = r"""
fpath=("$FOLDER" $fpath)
autoload -Uz compinit
compinit -u -D
function complete_and_show { zle complete-word; print -r -- "LINE<$BUFFER>"; exit }
zle -N complete_and_show
bindkey '^I' complete_and_show
"""


def said(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, check=True).stdout


def bash(*words):
    """What is proposed for the last word; bash takes an = for a word of its own."""
    done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", os.path.join(FOLDER, "heddle.bash"), HEDDLE, *words],
                          capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.split()


def zsh(line):
    """The line after the key."""
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, ".zshrc"), "w", encoding="utf-8") as f:
            f.write(ZSH)
        child, terminal = pty.fork()
        if not child:
            path = os.path.dirname(HEDDLE) + ":" + os.environ["PATH"]
            os.execvpe("zsh", ["zsh", "-d", "-i"], {**os.environ, "ZDOTDIR": home, "FOLDER": FOLDER, "PATH": path,
                                                    "TERM": "dumb"})
        os.write(terminal, (line + "\t").encode())
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError: # its end
            pass
        os.waitpid(child, 0)
        os.close(terminal)
        return re.findall(r"LINE<(.*)>", text.decode())[-1]


class Bash(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(bash("pl"), ["platforms"])
        self.assertEqual(bash("platform", "cal"), ["calibrate"])
        self.assertEqual(bash("models", "pur"), ["purge"])

    def test_every_option_of_every_command(self):
        commands = re.findall(r"^  (\w+) ", said("help"), re.MULTILINE)
        for command in set(commands) - {"help", "version"}:
            listed = re.findall(r"\[(--[^]=]+=?)", " ".join(said(command, "--usage").split()))
            self.assertEqual(set(bash(command, "--")), {*listed, "--plugin="}, command)

    def test_values(self):
        self.assertEqual(bash("run", "--uplo", "=", "l"), ["lower"])
        self.assertEqual(bash("run", "--uplo", "="), ["lower", "upper"])
        self.assertEqual(bash("run", "-r", ""), list("dszc"))
        self.assertEqual(bash("sim", "--n", "=", ""), [])
        self.assertEqual(bash("run", "--set", "=", "watch"), ["watchdog="])

    def test_names(self):
        self.assertEqual(bash("platforms", "show", "hasw"), ["haswell-k40m"])
        self.assertEqual(bash("sim", "--sched", "=", "eager,dmdas"), ["eager,dmdas"])
        self.assertEqual(bash("run", "chol"), ["cholesky"])
        self.assertEqual(bash("repro", "mp-ga"), ["mp-gain"])

    def test_files_with_spaces(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "a trace")
            with open(name, "w", encoding="utf-8"):
                pass
            self.assertEqual(" ".join(bash("trace", os.path.join(folder, "a "))), name)


@unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
class Zsh(unittest.TestCase):
    def test_lines(self):
        for line, wanted in (("heddle platf", "heddle platforms "), ("heddle sim --til", "heddle sim --tile="),
                             ("heddle run --uplo=l", "heddle run --uplo=lower"),
                             ("heddle sim --platform=hasw", "heddle sim --platform=haswell-k40m"),
                             ("heddle platform sho", "heddle platform show"),
                             ("heddle platforms show hasw", "heddle platforms show haswell-k40m"),
                             ("heddle models pur", "heddle models purge"), ("heddle run chol", "heddle run cholesky")):
            self.assertEqual(zsh(line).strip(), wanted.strip())


unittest.main()
