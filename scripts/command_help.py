"""The help of the heddle command taken apart: what the manual page (man.py) and the completion of shells
(completion.py) are made of."""
import os
import re
import subprocess
import sys

# The spellings of an option, each one word, and what argp says of it in the same line, if there is room.
OPTION = re.compile(r"^ {2,6}((?:-\S+, )*-\S+)(?: +(\S.*))?$")
GROUP = re.compile(r"^ (\S.*):$")
# Commands that have commands of their own: these have a help each, too.
BELOW = {"platforms": ("platforms show", "platform calibrate")}


def run(heddle, *arguments):
    """What a subcommand prints, whatever the user's settings are."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HEDDLE_", "ARGP_"))}
    environment.update(LC_ALL="C", XDG_CONFIG_HOME="/nonexistent")
    done = subprocess.run([heddle, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def subcommands(heddle):
    """(name, summary) of each, in the order of `heddle help`."""
    return re.findall(r"^  (\w+) +(\S.*)$", run(heddle, "help"), re.MULTILINE)


class Help:
    """The help of a subcommand taken apart."""

    def __init__(self, text):
        self.usages, self.before, self.options, self.after = [], [], [], []
        for line in text.splitlines():
            self.take(line)

    def take(self, line):
        usage = re.match(r"^(?:Usage|  or): *(.*)$", line)
        option, group = OPTION.match(line), GROUP.match(line)
        if usage:
            self.usages.append(usage.group(1))
        elif line.startswith(" " * 12) and not self.before: # what there was no room for in the line above
            self.usages[-1] += " " + line.strip()
        elif option:
            self.options.append((option.group(1), [option.group(2) or ""]))
        elif group:
            self.options.append((None, [group.group(1)]))
        elif line.startswith("      ") and self.options:
            self.options[-1][1].append(line.strip())
        elif line.strip() or (self.after if self.options else self.before):
            (self.after if self.options else self.before).append(line)


def help_of(heddle, name):
    """The help of a subcommand. Ends the program unless its options, and what they take, are those that `--usage`
    lists, which argp makes of the same tables in another form."""
    parts = Help(run(heddle, *name.split(), "--help"))
    read = {word for option, _ in parts.options if option for word in option.split(", ") if word.startswith("--")}
    listed = set(re.findall(r"\[(--[^\]]+)\]", " ".join(run(heddle, *name.split(), "--usage").split())))
    if read != listed:
        sys.exit(f"heddle {name}: --help and --usage differ in {sorted(read ^ listed)}: scripts/command_help.py does "
                 "not understand one of them")
    return parts
