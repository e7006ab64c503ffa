#!/usr/bin/env python3
"""Writes the manual page of the heddle command, docs/heddle.1, from the command's own help.

    scripts/man.py build/heddle                # rewrites docs/heddle.1
    scripts/man.py build/heddle --check        # only compares; also lets groff look for mistakes, where it is installed
"""
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap

from command_help import BELOW, Help, help_of, run, subcommands

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "docs", "heddle.1")
DATE = "2026-11-28" # of the last change that readers should notice
EVERYWHERE = ("-?, --help", "--usage")
MANDATORY = "Mandatory or optional arguments to long options"


def escape(text):
    """Text for troff, in short lines that do not begin with a control character; hyphens can be copied."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    text = textwrap.fill(text, width=76, break_long_words=False, break_on_hyphens=False)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def option_lines(option):
    """-b, --tile=B with what is typed in bold and what it stands for in italics."""
    parts = []
    for spelling in option.split(", "):
        flag, equals, value = spelling.partition("=")
        parts.append(r"\fB" + escape(flag) + r"\fR" + (r"=\fI" + escape(value) + r"\fR" if equals else ""))
    return ", ".join(parts)


def paragraphs(lines):
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        if paragraph and not paragraph.startswith(MANDATORY):
            yield ".PP\n" + escape(paragraph) + "\n"


def options(parts, without):
    text = ""
    for option, words in parts.options:
        words = " ".join(w for w in words if w)
        if option is None:
            text += f".PP\n{escape(words)}:\n"
        elif option not in without:
            text += f".TP\n{option_lines(option)}\n{escape(words)}\n"
    return text


def section(heddle, name, summary):
    if name in ("help", "version"):
        return f".SS heddle {name}\n{escape(summary[0].upper() + summary[1:])}.\n"
    parts = help_of(heddle, name)
    text = f".SS heddle {name}\n"
    text += "\n.br\n".join(r"\fB" + escape(usage) + r"\fR" for usage in parts.usages) + "\n"
    text += "".join(paragraphs(parts.before))
    text += options(parts, EVERYWHERE)
    return text + "".join(paragraphs(parts.after))


def settings(heddle):
    text = ""
    for row in csv.DictReader(io.StringIO(run(heddle, "config", "--csv").split("\n\n")[0])):
        default = f" (default {row['default']})" if row["default"] else ""
        text += f".TP\n.B {row['variable']}\n{escape(row['help'] + '. Value: ' + row['range'] + default)}\n"
    return text


def page(heddle):
    version = run(heddle, "version").split()[1]
    commands = subcommands(heddle)
    text = ('.\\" Made by scripts/man.py from the help of the command: change that, and run it again.\n'
            f'.TH HEDDLE 1 "{DATE}" "Heddle {version}" "User Commands"\n'
            ".SH NAME\nheddle \\- one task graph on every processor of a machine\n"
            ".SH SYNOPSIS\n\\fBheddle\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
            ".SH DESCRIPTION\n")
    for name, summary in commands:
        text += f".TP\n.B {name}\n{escape(summary)}\n"
    text += (".SH OPTIONS\nThese are options of every command.\n"
             f"{options(Help(run(heddle, 'help')), ())}"
             ".PP\nEvery command also has \\fB\\-\\-usage\\fR.\n"
             "Arguments that long options require are required by short ones too.\n.SH COMMANDS\n")
    for name, summary in commands:
        text += section(heddle, name, summary)
        text += "".join(section(heddle, below, summary) for below in BELOW.get(name, ()))
    text += (".SH EXIT STATUS\n0: success. 1: something failed.\n"
             "2: wrong usage; the message says what would have been right.\n"
             ".SH ENVIRONMENT\n")
    text += settings(heddle)
    text += (".TP\n.B HEDDLE_CONFIG\nThe configuration file,\n"
             "instead of \\fIheddle/config\\fR in the user's XDG configuration directory.\n"
              ".TP\n.B HEDDLE_PLATFORM_PATH\nDirectories of platform files, separated by colons.\n"
             ".SH SEE ALSO\nThe documents that are installed with it, \\fIdocs/heddle.md\\fR first.\n")
    return text


def groff_complaints(text):
    if not shutil.which("groff"):
        return ""
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=text, capture_output=True, text=True,
                          check=False)
    return done.stderr


def main():
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and sys.argv[2] != "--check"):
        sys.exit(__doc__)
    text = page(sys.argv[1])
    complaints = groff_complaints(text)
    if complaints:
        sys.exit(f"groff says of the page:\n{complaints}")
    if len(sys.argv) == 2:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(text)
    elif not os.path.exists(PAGE) or open(PAGE, encoding="utf-8").read() != text:
        sys.exit("docs/heddle.1 is not what the help of the command says: run scripts/man.py build/heddle")


main()
