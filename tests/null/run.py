#!/usr/bin/env python3
"""run.py LIBRARY_FOLDER COMPILER [MPI_HEADERS...]: every function of the public headers survives NULL for all its
pointers.

A program is written with calls of each function that the headers declare, with NULL for each pointer and 0 for each
number, and then with a text for each `const char *`; it is run once for each call: none may crash. Functions that
return an int return an error, unless NOTHING_TO_DO says that NULL is nothing.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts", "checks"))
from common import code_only, files, read  # noqa: E402
from symbols import outside_braces  # noqa: E402

FOLDERS = ["include", "apps/dense/include", "apps/fmm/include", "research/daggen/include"]
LIBRARIES = ["-lheddle", "-lheddle-dense", "-lheddle-fmm", "-lheddle-daggen"]
FUNCTION = re.compile(r"^(?P<type>.*?[\s*])(?P<name>heddle_\w+) ?\((?P<parameters>.*)\)(?: __attribute__.*)?$")

# int functions that return 0 or more
NOTHING_TO_DO = {
    "heddle_dense_experiment_close", "heddle_dense_matrix_destroy", "heddle_dense_pivots_destroy",
    # NULL is nothing, and has ended
    "heddle_dense_qr_destroy", "heddle_fmm_plan_destroy", "heddle_mpi_stop", "heddle_sparse_qr_destroy",
    "heddle_stop",
    # questions: no
    "heddle_data_prefetch_cancel", "heddle_data_valid_on", "heddle_dense_tuned_find", "heddle_runtime_is_virtual",
    "heddle_task_done", "heddle_worker_is_driven",
    "heddle_error",  # returns the status that it is given
}
# What Heddle itself passes to kernels, policies and codelets' callbacks is never NULL, and is not looked at: these are
# called inside tasks and decisions, where a test costs.
GIVEN_BY_HEDDLE = re.compile(r"^(?:const )?(?:heddle_context|heddle_sched|heddle_task) ?\*")
PROGRAMS = {"heddle_task_wait", "heddle_task_done", "heddle_task_release"}


def statements(path):
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", code_only(read(path)), flags=re.MULTILINE)
    return [" ".join(s.split()) for s in outside_braces(text).split(";")]


def parameters_of(text):
    depth, found = 0, [""]
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return [p.strip() for p in found if p.strip() not in ("", "void", "...")]


def argument(parameter, text):
    if re.match(r"const char ?\*\w*$", parameter):
        return text
    if "*" in parameter or "[" in parameter or "(" in parameter:
        return "NULL"
    kind = re.match(r"(?:const )?(.*?)\s*\b\w+$", parameter).group(1)
    return f"({kind}){{0}}"


def functions():
    """(name, whether it returns an int, arguments) of calls of every function."""
    for folder in FOLDERS:
        for path in files(folder):
            for statement in statements(path):
                match = FUNCTION.match(statement)
                if not match or re.search(r"\b(?:static|typedef|template|inline|return)\b", statement):
                    continue
                if GIVEN_BY_HEDDLE.match(match["parameters"]) and match["name"] not in PROGRAMS:
                    continue
                for text in ("NULL", '"text"'):
                    arguments = [argument(p, text) for p in parameters_of(match["parameters"])]
                    yield match["name"], match["type"].strip() == "int", ", ".join(arguments)


def write_program(path, calls):
    with open(path, "w", encoding="utf-8") as file:
        for folder in FOLDERS:
            for header in files(folder):
                file.write(f"#include <{os.path.relpath(header, folder)}>\n")
        file.write("#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n\t(void)argc;\n"
                   "\tswitch (atoi(argv[1])) {\n")
        for i, (name, is_int, arguments) in enumerate(calls):
            call = f"{name}({arguments})"
            file.write(f'\tcase {i}: ' + (f'printf("%d", {call});' if is_int else f"(void){call};") + " break;\n")
        file.write("\t}\n\treturn 0;\n}\n")


def check(program, number, call):
    name, is_int, arguments = call
    done = subprocess.run([program, str(number)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        return f"{name}({arguments}) ends with {done.returncode} {done.stderr[-300:]}"
    if is_int and name not in NOTHING_TO_DO and int(done.stdout) >= 0:
        return f"{name}({arguments}) returns {done.stdout}, which is no error"
    return None


def main():
    library, compiler = sys.argv[1:3]
    if os.path.exists(os.path.join(library, "libheddle-sparse.so")):
        FOLDERS.append("apps/sparse/include")
        LIBRARIES.append("-lheddle-sparse")
    mpi = []
    if os.path.exists(os.path.join(library, "libheddle-mpi.so")):
        FOLDERS.append("mpi/include")
        LIBRARIES.append("-lheddle-mpi")
        mpi = sys.argv[3:]
    calls = sorted({f for f in functions() if "NULL" in f[2]})
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "null.c"), os.path.join(folder, "null")
        write_program(source, calls)
        headers = [f"-I{folder}" for folder in [*(os.path.join(ROOT, f) for f in FOLDERS), *mpi]]
        subprocess.run([compiler, "-std=gnu11", "-w", *headers, source, "-o", program, f"-L{library}", *LIBRARIES,
                        f"-Wl,-rpath,{library}"], check=True)
        problems = [p for i, call in enumerate(calls) if (p := check(program, i, call))]
    print("\n".join(problems))
    print(f"{len(calls)} calls, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
