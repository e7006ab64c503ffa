"""The description of the C interface, and what loads the library."""
import os
import struct
import subprocess
import sys

import pytest
from conftest import ROOT

import heddle
from heddle import ffi


def test_structures_lie_in_memory_as_the_compiler_lays_them_out(compile_c):
    names = [f"struct {t}" for t in ffi.list_types()[1]]
    names = [n for n in names if ffi.typeof(n).fields]  # the others are only pointed to
    assert {"struct heddle_config", "struct heddle_part", "struct heddle_graph_task"} <= set(names)
    lines = []
    for name in names:
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        lines += [f'printf("%zu\\n", offsetof({name}, {field}));' for field, _ in ffi.typeof(name).fields]
    program = compile_c("#include <heddle.h>\n#include <heddle/chart.h>\n#include <stddef.h>\n#include <stdio.h>\n"
                        "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n", program=True)
    said = [int(x) for x in subprocess.run([str(program)], capture_output=True, check=True).stdout.split()]
    wanted = []
    for name in names:
        wanted.append(ffi.sizeof(name))
        wanted += [field.offset for _, field in ffi.typeof(name).fields]
    assert said == wanted
    assert ffi.sizeof("struct heddle_item") == struct.calcsize("iiQQ")  # as submit packs it


def test_the_version_is_that_of_the_library():
    assert heddle.__version__ == heddle.version() == ffi.string(heddle.lib.heddle_version()).decode()


def test_an_error_has_status_and_sentence():
    with pytest.raises(heddle.Error, match="there is no platform|not found|nowhere") as caught:
        heddle.Platform("nowhere")
    assert caught.value.status is heddle.Status.UNKNOWN
    assert "intel-v100" in caught.value.message


@pytest.mark.parametrize("library", ["/nowhere/libheddle.so", "libm.so.6"])
def test_a_library_that_is_missing_or_another_one_is_named(library):
    done = subprocess.run([sys.executable, "-c", "import heddle"], capture_output=True, text=True, check=False,
                          env={**os.environ, "LIBHEDDLE": library})
    assert done.returncode == 1
    assert library in done.stderr and "ImportError" in done.stderr and "make install" in done.stderr


def test_a_runtime_that_nobody_closes_does_not_disturb_the_end():
    done = subprocess.run([sys.executable, "-c",
                           "import heddle, numpy\n"
                           "a = numpy.zeros(4)\n"
                           "rt = heddle.Runtime(n_cpu=1)\n"
                           "rt.submit(lambda x: x.fill(3), heddle.write(rt.data(a)))\n"],
                          capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_everything_public_is_documented():
    for name in heddle.__all__:
        thing = getattr(heddle, name)
        if name not in ("ffi", "lib"):
            assert thing.__doc__, name
        for inner, member in vars(thing).items() if isinstance(thing, type) else ():
            if not inner.startswith("_") and callable(getattr(member, "fget", member)) and thing.__module__.startswith(
                    "heddle"):
                assert getattr(member, "__doc__", None), f"{name}.{inner}"


@pytest.mark.parametrize("hook", ["get_requires_for_build_editable", "build_editable"])
def test_an_editable_installation_is_refused(hook):
    there = {"cwd": ROOT / "python", "capture_output": True, "text": True, "check": False}
    if subprocess.run([sys.executable, "-c", "import setuptools"], **there).returncode:
        pytest.skip(f"{sys.executable} has no setuptools (Debian: python3-setuptools)")
    done = subprocess.run([sys.executable, "-B", "-c", f"import from_root; from_root.{hook}('there')"], **there)
    assert done.returncode and done.stderr == \
        "an editable install lacks what is generated: use PYTHONPATH=build/python\n"
