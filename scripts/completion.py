#!/usr/bin/env python3
"""Writes what bash and zsh need to complete the heddle command, tools/completion/heddle.bash and _heddle, from the
command's own help, as man.py writes the manual page.

    scripts/completion.py build/heddle                # rewrites both
    scripts/completion.py build/heddle --check        # only compares
"""
import os
import re
import sys

from command_help import BELOW, help_of, run, subcommands

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "completion")
MADE = "Made by scripts/completion.py from the help of the command: change that, and run it again."

# What is typed for a word of the help in capitals: names that the command lists, or files. For other words, such as N,
# nothing is proposed.
FILES = ("FILE", "PICTURE", "DIR", "OUT", "LIBRARY", "GRAPH", "G1,G2,...")
NAMES = {"POLICY": "policies", "S1,S2,...": "policies", "PLATFORM": "platforms", "P1,P2,...": "platforms",
         "APPLICATION": "applications", "ROUTINE": "applications", "GRAPH": "applications",
         "G1,G2,...": "applications", "ID": "experiments", "CODELET": "codelets"}

# How the command lists them: the shell's `$1` is the command, and the names are the first of each line.
LISTS = r"""	case $2 in
	policies) "$1" policies --csv | sed '1d; s/,.*//' ;;
	platforms) "$1" platforms --csv | sed '1d; s/,.*//' ;;
	applications) "$1" run --help | sed -n 's/^  \([a-z]\w*\)  .*/\1/p' ;;
	experiments) "$1" repro --list --csv | sed '1d; s/,.*//' ;;
	codelets) "$1" models list --csv | sed '1d; s/,.*//' | sort -u ;;
	settings) "$1" config --csv | sed -n '1d; s/^\([a-z_]*\),.*/\1=/p' ;;
	esac 2>/dev/null
"""

BASH = r"""# Completion of the heddle command, for bash.
# @MADE@

# The names of a kind, which depend on this machine and on plug-ins.
function _heddle_names
{
@LISTS@}

# Sets `options`, and `words`, what else may come: words, names of a kind (@policies), files (@files).
function _heddle_what # COMMAND OPTION
{
	case $1 in
@CASES@	esac
}

function _heddle
{
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= options= words= word i
	# bash takes the = of --option=value for a word
	[[ $current == = ]] && current=
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == --plugin ]]; then
			((++i))
			[[ ${COMP_WORDS[i]} == = ]] && ((++i))
		elif [[ $word != -* && -z $command ]]; then
			[[ $word == platform ]] && word=platforms
			command=$word
		elif [[ $command == platforms && $word == @(show|calibrate) ]]; then
			command+=" $word"
		fi
	done
	_heddle_what "$command" "$before"
	options+=${options:+ --plugin=}
	[[ $before == --plugin ]] && options= words=@files
	COMPREPLY=()
	local list= # what stands before the last comma of a list
	if [[ $current == -* ]]; then
		words=$options
	elif [[ $current == *,* ]]; then
		list=${current%,*},
	fi
	for word in $words; do
		case $word in
		@files)
			compopt -o filenames 2>/dev/null
			word=$(compgen -f -- "$current") ;;
		@*) word=$(compgen -P "$list" -W "$(_heddle_names "$1" "${word#@}")" -- "${current##*,}") ;;
		*) word=$(compgen -P "$list" -W "$word" -- "${current##*,}") ;;
		esac
		[[ $word ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY <<<"$word"
	done
	[[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _heddle heddle
"""

ZSH = r"""#compdef heddle
# Completion of the heddle command, for zsh.
# @MADE@

# The names of a kind, which depend on this machine and on plug-ins.
function _heddle_names
{
@LISTS@}

# Proposes words, names of a kind (@policies), files (@files).
function _heddle_words
{
	local word
	local -a names
	for word; do
		case $word in
		@files) _files ;;
		@*) names=(${(f)"$(_heddle_names heddle ${word#@})"}); compadd -S '' -q -a names ;;
		*) compadd -- $word ;;
		esac
	done
}

function _heddle
{
	local curcontext=$curcontext context state state_descr line command
	local -A opt_args
	_arguments -C '*--plugin=[Add what a plug-in has]:LIBRARY:_files' '1: :->command' '*:: :->rest'
	if [[ $state == command ]]; then
		local -a commands=(
@COMMANDS@		)
		_describe command commands
		return
	fi
	command=${words[1]/#%platform/platforms}
	if [[ $command == platforms && $words[2] == (show|calibrate) ]]; then
		shift words
		((--CURRENT))
		command+=" $words[1]"
	fi
	case $command in
@CASES@	esac
}

_heddle "$@"
"""


def proposals(text, command, option=""):
    """What is proposed where the help has `text`: words of it that are typed as they are, and @KIND."""
    found = []
    for part in text.strip("[]").split("|"):
        part = re.sub(r"\[?:NAME=VALUE,\.\.\.\]?|\[,\.\.\.\]|(?<=ID)\.\.\.|(?<=GRAPH)\.\.\.", "", part).strip("[]")
        if part == "NAME":
            part = "POLICY" if command == "policies" else "PLATFORM"
        if option == "--set":
            found.append("@settings")
        elif part in NAMES or part in FILES:
            found += [f"@{NAMES.get(part)}"] * (part in NAMES) + ["@files"] * (part in FILES)
        elif re.fullmatch(r"[a-z][a-z_-]*", part):
            found.append(part)
    return list(dict.fromkeys(found))


class Command:
    """What may follow the name of a command: `words`, what is proposed, and `options`, of each its spellings, what its
    value is called ("": none), what is proposed for that, and its text."""

    def __init__(self, heddle, name):
        self.name = name.replace("platform ", "platforms ")
        self.words, self.options = [], []
        parts = help_of(heddle, name)
        for usage in parts.usages:
            for text in usage.removeprefix(f"heddle {name}").replace("[OPTION...]", "").split():
                if not text.startswith("-") and text != "PICTURE":
                    self.words += proposals(text, name)
        self.words = list(dict.fromkeys(self.words))
        for option, text in parts.options:
            if option:
                self.add(option, " ".join(text))

    def add(self, option, text):
        value = option.partition("=")[2]
        spellings = [word.partition("=")[0] for word in option.split(", ")]
        self.options.append((spellings, value, proposals(value, self.name, spellings[-1]), text.strip()))


def bash_case(command):
    names, by_proposals = [], {}
    for spellings, value, what, _ in command.options:
        names += [s + "=" * bool(value and s.startswith("--")) for s in spellings if s != "-?"]
        if value:
            by_proposals.setdefault(" ".join(what), []).extend(spellings)
    text = f"\t'{command.name}')\n\t\toptions='{' '.join(names)}'\n\t\twords='{' '.join(command.words)}'\n"
    text += "\t\tcase $2 in\n"
    for what, spellings in by_proposals.items():
        text += f"\t\t{' | '.join(spellings)}) options= words='{what}' ;;\n"
    return text + "\t\tesac ;;\n"


def zsh_text(text):
    """The beginning of an option's text, between brackets."""
    text = re.split(r"[;:(,]|\.$", text)[0].strip()
    return text.replace("[", "\\[").replace("]", "\\]").replace("'", "'\\''")


def zsh_case(command):
    text = f"\t'{command.name}')\n\t\t_arguments -s"
    for spellings, value, what, words in command.options:
        names = [s + ("=" if s.startswith("--") else "+") * bool(value) for s in spellings]
        after = f"[{zsh_text(words)}]" + (f":{value.replace(':', chr(92) + ':')}: _heddle_words {' '.join(what)}"
                                          if value else "")
        if len(names) == 1:
            text += f" \\\n\t\t\t'{names[0]}{after}'"
        else:
            text += f" \\\n\t\t\t'({' '.join(spellings)})'{{{','.join(names)}}}'{after}'".replace("-?", "-\\?")
    if command.words:
        text += f" \\\n\t\t\t'*: : _heddle_words {' '.join(command.words)}'"
    return text + " ;;\n"


def files(heddle):
    """What each file must be, by its name."""
    listed = subcommands(heddle)
    commands = [Command(heddle, name) for command, _ in listed if command not in ("help", "version")
                for name in (command, *BELOW.get(command, ()))]
    names = " ".join(name for name, _ in listed)
    cases = "".join(map(bash_case, commands))
    cases += f"\thelp) words='{names}' ;;\n\t'') options='--help --version' words='{names}' ;;\n"
    described = "".join(f"\t\t\t'{name}:{zsh_text(summary)}'\n" for name, summary in listed)
    bash = BASH.replace("@CASES@", cases)
    zsh = ZSH.replace("@COMMANDS@", described).replace("@CASES@", "".join(map(zsh_case, commands)) +
                                                       f"\thelp) _heddle_words {names} ;;\n")
    return {name: text.replace("@MADE@", MADE).replace("@LISTS@", LISTS)
            for name, text in (("heddle.bash", bash), ("_heddle", zsh))}


def main():
    if len(sys.argv) < 2 or (len(sys.argv) > 2 and sys.argv[2] != "--check"):
        sys.exit(__doc__)
    for name, text in files(sys.argv[1]).items():
        path = os.path.join(FOLDER, name)
        if len(sys.argv) == 2:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        elif not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            sys.exit(f"tools/completion/{name} is not what the help of the command says: run "
                     "scripts/completion.py build/heddle")


main()
