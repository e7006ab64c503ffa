#!/usr/bin/env python3
"""conformance.py [--build DIR] [WORD...]: compiles and runs StarPU's own test programs against <starpu.h> of Heddle.

Gets Debian's source package of StarPU with apt-get into DIR/starpu-tests, unless it is there, and takes only the
programs out of it: main and datawizard of its tests, basic_examples of its examples. Prints a line for each program
that does not pass, and a table. With words: only programs with one of them in their names, with what they print.
Exits with 1 if a program fails that conformance.txt lists as passing.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 60  # that a program may run
COMPLAINS = {"main/insert_task_pack"}  # whose errors are meant, so that Heddle's sentence is right
PASS, FAIL, SKIP, COMPILE = "pass", "fail", "skip", "does not compile"

# The private headers that test programs include, as far as they only use the public interface.
PRIVATE = {
    "common/config.h": "#include <starpu.h>\n#define HAVE_GETRLIMIT 1\n#define STARPU_QUICK_CHECK 1\n",
    "common/utils.h": "#include <starpu.h>\n#define STARPU_VALGRIND_YIELD() ((void)0)\n"
                      "#define __starpu_func__ __func__\n",
    # what these do where StarPU is not built with SimGrid: nothing
    "core/simgrid.h": "".join(f"#define _starpu_simgrid_data_{what}(size) ((void)(size))\n"
                              for what in ("new", "increase", "alloc", "free")),
    "common/thread.h": "#include <starpu.h>\n",
}


# What compilers and programs say, and what it means.
MEANINGS = (("struct starpu_data_state", "reads private fields of StarPU's handles"),
            (r"core/workers\.h|memory_manager\.h|storage size of .sb.", "calls private functions of StarPU"),
            (r"starpu_mic\.h|format_ops", "multiformat data are not there"),
            ("^$|^copy 0$", "the program says itself that this machine has not what it tests, such as a device"))


def meaning(why):
    return next((text for pattern, text in MEANINGS if re.search(pattern, why)), why)


def say(text):
    print(text, flush=True)


def fetch(folder):
    """Puts the programs into `folder` and returns where they are."""
    found = glob.glob(folder + "/starpu-*/tests/Makefile.am")
    if found:
        return os.path.dirname(os.path.dirname(found[0]))
    os.makedirs(folder + "/lists/partial", exist_ok=True)
    os.makedirs(folder + "/cache/archives/partial", exist_ok=True)
    write_sources(folder + "/deb-src.sources", folder + "/deb-src.list")
    sources = [name for name in ("deb-src.sources", "deb-src.list") if os.path.exists(f"{folder}/{name}")]
    options = [f"Dir::Etc::sourcelist={folder}/{sources[0]}", "Dir::Etc::sourceparts=-",
               f"Dir::State::Lists={folder}/lists", f"Dir::Cache={folder}/cache"]
    apt = ["apt-get", "-q"] + [word for option in options for word in ("-o", option)]
    say("== getting the source package of StarPU from this machine's Debian archive")
    for command in (apt + ["update"], apt + ["source", "--download-only", "starpu"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit("conformance.py: %s failed:\n%s" % (" ".join(command), done.stderr))
    archive = glob.glob(folder + "/starpu_*.orig.tar.*")[0]
    subprocess.run(["tar", "-xf", archive, "--wildcards", "*/tests/*", "*/examples/*"], cwd=folder, check=True)
    return os.path.dirname(os.path.dirname(glob.glob(folder + "/starpu-*/tests/Makefile.am")[0]))


def write_sources(deb822, one_line):
    """Writes the machine's own sources once more, with source packages."""
    stanzas, lines = [], []
    for path in glob.glob("/etc/apt/sources.list.d/debian*.sources"):
        stanzas.append(re.sub(r"(?m)^Types:.*$", "Types: deb-src", open(path).read()))
    for path in ["/etc/apt/sources.list"] + glob.glob("/etc/apt/sources.list.d/debian*.list"):
        if os.path.exists(path):
            lines += re.findall(r"(?m)^deb(\s.*)$", open(path).read())
    if stanzas:
        with open(deb822, "w") as out:
            out.write("\n".join(stanzas))
    elif lines:
        with open(one_line, "w") as out:
            out.writelines(f"deb-src{line}\n" for line in lines)
    else:
        sys.exit("conformance.py: no Debian source is listed in /etc/apt; the tests are those of Debian's package")


def programs(root):
    """Name, and source files, of each program."""
    out = []
    for makefile, pattern in (("tests", r"(?:main|datawizard)/[\w/]+"), ("examples", r"basic_examples/\w+")):
        text = open(f"{root}/{makefile}/Makefile.am").read()
        # The names of programs stand alone in the lines of lists.
        for name in dict.fromkeys(re.findall(rf"(?m)^\s+({pattern})\s*\\?$", text)):
            lists = re.findall(rf"(?m)^{re.sub('[/.]', '_', name)}_SOURCES\s*\+?=((?:.*\\\n)*.*)$", text)
            words = [w for chosen in lists for w in chosen.replace("\\", " ").split()] or [name + ".c"]
            files = [w for w in words if re.search(r"\.(c|cpp|F)$", w) and "opencl" not in w.split("/")[-1]]
            prefix = "" if makefile == "tests" else "examples/"
            out.append((prefix + name, [f"{root}/{makefile}/{f}" for f in files]))
    return out


class Runner:
    def __init__(self, build, root, loud):
        self.build, self.root, self.loud = build, root, loud
        self.folder = f"{build}/starpu-tests"
        self.home = f"{self.folder}/home"
        os.makedirs(self.home, exist_ok=True)
        for name, text in PRIVATE.items():
            path = f"{self.folder}/private/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(text)

    def compile(self, name, files):
        target = f"{self.folder}/programs/{name.replace('/', '_')}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        plus = any(f.endswith(".cpp") for f in files)
        command = [os.environ.get("CXX", "g++")] if plus else [os.environ.get("CC", "gcc"), "-std=gnu11"]
        command += ["-O1", "-g", "-w", "-DSTARPU_QUICK_CHECK", "-Werror=implicit-function-declaration"]
        command += os.environ.get("CFLAGS", "").split()
        command += [f"-I{HERE}/include", f"-I{HERE}/../include", f"-I{self.folder}/private", f"-I{self.root}/tests",
                    f"-I{self.root}/examples", *files, "-o", target, f"-L{self.build}", "-lheddle-starpu", "-lheddle",
                    f"-Wl,-rpath,{self.build}", "-lm", "-lpthread"]
        command += ["-lgfortran"] if any(f.endswith(".F") for f in files) else []
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.returncode:
            return target, ""
        errors = re.findall(r"undefined reference to .*", done.stderr) or re.findall(r"error: (.*)", done.stderr)
        return None, (errors or done.stderr.splitlines()[-1:])[0]

    def run(self, program):
        name, files = program
        target, why = self.compile(name, files)
        if not target:
            return name, COMPILE, why
        environment = {k: v for k, v in os.environ.items() if not k.startswith("STARPU_")}
        environment.update(HOME=self.home, XDG_DATA_HOME=self.home, USER="tester")
        try:
            done = subprocess.run([target], cwd=self.folder, env=environment, timeout=SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            return name, FAIL, f"runs for more than {SECONDS} s; {last_line(late.stdout or b'')}"
        if self.loud:
            say(done.stdout.decode(errors="replace"))
        said = last_line(done.stdout)
        if done.returncode == 0:
            errors = re.findall(rb"(?m)^heddle: (?!without effect).*", done.stdout)
            return (name, FAIL, last_line(errors[0])) if errors and name not in COMPLAINS else (name, PASS, "")
        return (name, SKIP, said) if done.returncode == 77 else (name, FAIL, f"exit {done.returncode}: {said}")


def last_line(text):
    lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
    complaints = [line for line in lines if line.startswith("heddle: ") and "without effect" not in line]
    return (complaints[:1] or lines[-1:] or [""])[0][:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--update", action="store_true", help="write conformance.txt")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    root = fetch(f"{build}/starpu-tests")
    chosen = [p for p in programs(root) if not arguments.words or any(w in p[0] for w in arguments.words)]
    runner = Runner(build, root, bool(arguments.words))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(runner.run, chosen))
    results = [(name, status, why if status == PASS else meaning(why)) for name, status, why in results]
    for name, status, why in results:
        if status != PASS:
            say(f"{status:16} {name}: {why}")
    counts = {status: sum(r[1] == status for r in results) for status in (PASS, SKIP, FAIL, COMPILE)}
    say(f"== of {len(results)} programs: " + ", ".join(f"{n} {status}" for status, n in counts.items()))
    expected = f"{HERE}/conformance.txt"
    if arguments.update:
        with open(expected, "w") as out:
            out.writelines(f"{status}\t{name}\t{why}\n" for name, status, why in results)
    if os.path.exists(expected):
        passing = {line.split("\t")[1] for line in open(expected) if line.startswith(PASS + "\t")}
        lost = [name for name, status, _ in results if status in (FAIL, COMPILE) and name in passing]
        if lost:
            sys.exit("conformance.py: these passed before: " + " ".join(lost))


if __name__ == "__main__":
    main()
