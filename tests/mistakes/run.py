#!/usr/bin/env python3
"""Mistakes that others than Heddle name: run.py LIBRARY_FOLDER COMPILER CLANG.

Those of COMPILED must be refused by the compiler, with a sentence that names what is wrong. Then the program order.c
is compiled for ThreadSanitizer, if CLANG is there, and linked with the library, which is not: the sanitizer must report
the races of the program, and none where Heddle orders its tasks.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "include")
SKIPPED = 77
ATTEMPTS = 20  # runs for a race: the sanitizer overlooks 1 in 30 where both threads come at the same moment
BEGIN = """#include <heddle.h>
int kernel(heddle_context *c) { (void)c; return 0; }
void f(heddle_runtime *rt, heddle_codelet *codelet, heddle_data *data, double *x)
{
	(void)rt, (void)codelet, (void)data, (void)x;
	"""

# what is wrong, the statement, what the compiler must say (gcc or clang)
COMPILED = [
    ("an array in place of its handle", "heddle_submit(rt, heddle_call(codelet), heddle_rw(x));",
     r"incompatible.pointer.types"),
    ("a kernel in place of its codelet", "heddle_submit(rt, heddle_call(kernel), heddle_rw(data));",
     r"incompatible.pointer.types"),
    ("a handle without its mode", "heddle_submit(rt, heddle_call(codelet), data);",
     r"integer from pointer|pointer to integer"),
    ("a value that is no variable", "heddle_submit(rt, heddle_call(codelet), heddle_value(5));",
     r"lvalue required|cannot take the address of an rvalue"),
    ("a value without its type", "heddle_context *c = NULL; double a = heddle_get(c, 0);",
     r"requires 3 arguments|too few arguments provided to function-like macro"),
    ("a value with another type than it is used as",
     "heddle_context *c = NULL; double *a = heddle_get(c, 0, double);", r"incompatible type"),
    ("a kernel of another form", 'heddle_codelet_new(rt, .name = "f", .cpu = f);', r"incompatible.*pointer.types"),
    ("a field that does not exist", 'heddle_codelet_new(rt, .name = "f", .kernel = kernel);',
     r"has no member named|field designator .kernel. does not refer"),
    ("a value that is written", "heddle_context *c = NULL; heddle_get(c, 0, int) = 1;",
     r"read-only|not assignable"),
    ("a value that is aligned to more than values are",
     "struct { _Alignas(64) char x[64]; } wide; heddle_submit(rt, heddle_call(codelet), heddle_value(wide));",
     r"aligned to max_align_t at most"),
    ("such a value that is read",
     "struct wide { _Alignas(64) char x[64]; }; heddle_context *c = NULL; x[0] = heddle_get(c, 0, struct wide).x[0];",
     r"aligned to max_align_t at most"),
]


def check_compiled(compiler, folder):
    problems = []
    for what, statement, sentence in COMPILED:
        path = os.path.join(folder, "mistake.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(BEGIN + statement + "\n}\n")
        done = subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-I" + INCLUDE, "-fsyntax-only", path],
                              capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)
        if done.returncode == 0 or not re.search(sentence, done.stderr):
            problems.append(f"{what}: the compiler says\n{done.stderr or 'nothing'}")
    return problems


def run_case(program, case, environment):
    """The last of the runs of a case: one that has a race is run until the sanitizer reports it."""
    for _ in range(ATTEMPTS if case.startswith("race") else 1):
        done = subprocess.run(["setarch", "-R", program, case], capture_output=True, text=True, env=environment,
                              timeout=100, check=False)
        if done.returncode != 0:
            break
    return done


def check_order(library, clang, folder):
    """What the sanitizer finds in order.c. None: it cannot be compiled or does not run here."""
    program = os.path.join(folder, "order")
    source = os.path.join(HERE, "order.c")
    done = subprocess.run([clang, "-g", "-fsanitize=thread", "-I" + INCLUDE, source, "-o", program, "-L" + library,
                           "-lheddle", "-Wl,-rpath," + library],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    problems = []
    environment = {**os.environ, "TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}
    for accelerators in (0, 2):
        environment.update(HEDDLE_NCPU=str(2 - accelerators), HEDDLE_EMULATED=str(accelerators))
        for case in ("right_data", "right_tasks", "right_members", "race_undeclared", "race_of_readers",
                     "race_of_the_program", "race_among_members"):
            if accelerators and (case.startswith("race_of") or case.endswith("members")):
                continue  # on their copies these do no harm; and there is no cluster
            environment.update(HEDDLE_CLUSTERS="2" if case.endswith("members") else "none")
            done = run_case(program, case, environment)
            if done.returncode == SKIPPED or "unexpected memory mapping" in done.stderr:
                return None
            if ("data race" in done.stderr) != case.startswith("race") or done.returncode not in (0, 66):
                problems.append(f"{case} with {accelerators} accelerators: {done.returncode}\n{done.stderr}")
    return problems


def main():
    library, compiler, clang = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        problems = check_compiled(compiler, folder)
        order = check_order(library, clang, folder) if os.path.exists(clang) else None
    for problem in problems + (order or []):
        print(problem)
    print(f"{len(COMPILED)} mistakes for the compiler; ThreadSanitizer: {'left out' if order is None else 'done'}")
    sys.exit(bool(problems or order))


if __name__ == "__main__":
    main()
