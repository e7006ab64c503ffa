#!/usr/bin/env python3
"""Tests of bench/gpu.sh and bench/virtual_real.py: tests/cli/gpu_script.py PATH_TO_GPU_SH BUILD_FOLDER

Packs what the script needs and runs it from there with tiny sizes, on whatever is found as CUDA's driver: every row
must be there. The last line says "N passed, N failed".
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

# bench, the beginning of the case, how many rows, whether the stand-in has the peer, whether something is asked
ROWS = [
    ("gpu-dense", "dpotrf n 256 (tile 64, streams", 1, True, True),
    ("gpu-dense", "spotrf n 256", 1, True, True),
    ("gpu-dense", "dgemm n 128", 1, True, True),
    ("gpu-dense", "sgemm n 128", 1, True, True),
    ("gpu-memory", "dpotrf n 256", 1, True, True),
    ("gpu-cpus", "dpotrf n 256 tile 64 ", 4, True, True),
    ("virtual-real", "dpotrf n 256 tile 64 ", 4, True, True),
    ("gpu-stencil", "METG(50 %) with 4 streams", 1, False, True),
    ("gpu-stencil", "METG(50 %) with 1 streams", 1, False, False),
    ("gpu-dense", "dgetrf n 64", 1, True, False),
    ("gpu-dense", "dgeqrf n 64", 1, False, False),
]


def script(*arguments, status=0, **environment):
    done = subprocess.run([shutil.which("sh"), *arguments], capture_output=True, text=True, timeout=400,
                          env=dict(os.environ, **environment))
    assert done.returncode == status, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def rows_of(folder):
    with open(os.path.join(folder, "gpu.csv"), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def check_rows(rows):
    for bench, case, n, has_peer, is_asked in ROWS:
        found = [r for r in rows if r["bench"] == bench and r["case"].startswith(case)]
        assert len(found) == n, f"{bench} {case}: {found}"
        for r in found:
            assert float(r["ours"] or 0) > 0, r
            assert not has_peer or float(r["peer_value"]) > 0 and float(r["ratio"]) > 0, r
            assert r["met"] in (("met", "MISSED") if is_asked else ("",)), r
    assert len(rows) == sum(n for _, _, n, _, _ in ROWS), rows


def test_tiny_run_has_every_row(folder, out):
    script(os.path.join(folder, "gpu.sh"), "run", out, "tiny")
    try:
        check_rows(rows_of(out))
    except AssertionError:
        with open(os.path.join(out, "log"), encoding="utf-8", errors="replace") as f:
            print(f.read())
        raise
    for name in "platform.yaml", "report.txt", "machine.txt":
        assert os.path.getsize(os.path.join(out, name)) > 0, name


def test_virtual_real_compares_what_was_calibrated(folder, out):
    """On the platform of the tiny run, which knows tiles of 64 alone."""
    of_tiny = os.path.join(os.path.dirname(out), test_tiny_run_has_every_row.__name__)
    done = subprocess.run(
        [sys.executable, os.path.join(os.path.dirname(sys.argv[1]), "virtual_real.py"),
         os.path.join(of_tiny, "platform.yaml"), "potrf:n=256,tile=64", "potrf:n=256,tile=32", "--repeat", "1",
         "--heddle", os.path.join(sys.argv[2], "heddle"), "--csv", out],
        env=dict(os.environ, HEDDLE_CUDA="1", HEDDLE_MODEL_DIR=os.path.join(of_tiny, "models")),
        capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.split("\n") if line.startswith("potrf:")]
    assert sum("asked within 10 %: " in line and "tile=64" in line for line in lines) == 4, done.stdout
    assert sum("left out" in line and "tile=32" in line for line in lines) == 1 and len(lines) == 5, done.stdout
    with open(out, encoding="utf-8", newline="") as f:
        assert all(float(row["ratio"]) > 0 for row in csv.DictReader(f)), done.stdout


def test_end_of_the_time_leaves_the_rest_out(folder, out):
    said, error = script(os.path.join(folder, "gpu.sh"), "run", out, "tiny", "limit=0", status=1)
    assert "not measured" in said and "nothing was measured" in error, said + error
    rows = rows_of(out)
    assert len(rows) == sum(n for _, _, n, _, _ in ROWS) and not any(r["ours"] for r in rows), rows


def test_pack_takes_nvidia_s_libraries_along(folder, out):
    """Those of the stand-in; NVIDIA's own take a gigabyte. The driver stays where it is."""
    if os.path.join(sys.argv[2], "standin") not in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        print("left out: there is no stand-in for cuBLAS")
        return
    script(sys.argv[1], "pack", out, sys.argv[2], "--with-cuda", "--no-archive")
    with open(os.path.join(folder, "needs"), encoding="utf-8") as f:
        for name in f.read().split():
            assert os.path.exists(os.path.join(out, "lib", name)) == (not name.startswith("libcuda.")), name


def test_library_that_is_missing_is_named_at_once(folder, out):
    with open(os.path.join(folder, "needs"), "a", encoding="utf-8") as f:
        f.write("libcublas.so.999\n")
    said, error = script(os.path.join(folder, "gpu.sh"), "run", out, "tiny", status=1)
    assert said == "" and not os.path.exists(out), said
    for word in "libcublas.so.999", "missing", "pip install", "--with-cuda":
        assert word in error.split("\n")[0], error


def test_no_gpu_is_said_at_once(folder, out):
    said, error = script(os.path.join(folder, "gpu.sh"), "run", out, "tiny", status=1,
                         STANDIN_DEVICES="0", CUDA_VISIBLE_DEVICES="")
    assert said == "" and not os.path.exists(out), said
    assert "no GPU can be used here" in error and "CUDA_ERROR_NO_DEVICE" in error.split("\n")[0], error


def test_commands_that_are_missing_are_named(folder, out):
    os.mkdir(out)
    os.symlink(shutil.which("dirname"), os.path.join(out, "dirname"))
    _, error = script(os.path.join(folder, "gpu.sh"), "run", os.path.join(out, "out"), "tiny", status=1, PATH=out)
    for word in "awk", "ldd", "sed", "timeout":
        assert re.search(rf"not found in PATH:.* {word}\b", error.split("\n")[0]), error


def test_limit_must_be_seconds(folder, out):
    for limit in "abc", "9m", "", "-1", "08":
        _, error = script(os.path.join(folder, "gpu.sh"), "run", out, "tiny", "limit=" + limit, status=1)
        assert f"gpu.sh: limit={limit}: give whole seconds" in error and not os.path.exists(out), error


def write_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def pack_programs(folder, out, **programs):
    """Packs programs of the test's own, with the archive; what is to be there is what the real ones need."""
    for name in "heddle", "bench/gpu_dense", "bench/gpu_stencil", "tests/test_cuda":
        write_program(os.path.join(out, "build", name), programs.get(os.path.basename(name), "exit 0"))
    packed = os.path.join(out, "packed")
    script(sys.argv[1], "pack", packed + "/", os.path.join(out, "build"))
    shutil.copy(os.path.join(folder, "needs"), packed)
    return packed


def test_archive_lies_beside_the_folder(folder, out):
    pack_programs(folder, out)
    assert sorted(os.listdir(out)) == ["build", "packed", "packed.tar.gz"], os.listdir(out)
    with tarfile.open(os.path.join(out, "packed.tar.gz"), "r:gz") as archive:
        assert {"packed/gpu.sh", "packed/bin/heddle", "packed/needs"} <= set(archive.getnames()), archive.getnames()
    assert not [name for name in os.listdir(os.path.join(out, "packed")) if ".tar" in name]


def test_exit_status_tells_what_came_of_it(folder, out):
    """Whatever CDPATH and the language are: the figures are printed only where numbers have a point."""
    rate = '[ "$LC_ALL" = C ] && echo a,b,c,1'
    for number, (dense, test, status, said) in enumerate([
            (rate, "exit 0", 0, ""), (rate, "exit 77", 0, ""), (rate, "exit 1", 1, "a test FAILED"),
            ("exit 1", "exit 0", 1, "nothing was measured")]):
        home = os.path.join(out, str(number))
        packed = pack_programs(folder, home, gpu_dense=dense, test_cuda=test)
        _, error = script("-c", 'cd "$1" && exec sh "$2/gpu.sh" run out', "sh", home, os.path.basename(packed),
                          status=status, CDPATH=home, LC_ALL="de_DE.UTF-8")
        assert said in error, error


def main():
    tests = [test_tiny_run_has_every_row, test_virtual_real_compares_what_was_calibrated,
             test_end_of_the_time_leaves_the_rest_out, test_pack_takes_nvidia_s_libraries_along,
             test_no_gpu_is_said_at_once,
             test_commands_that_are_missing_are_named, test_limit_must_be_seconds,
             test_archive_lies_beside_the_folder, test_exit_status_tells_what_came_of_it,
             test_library_that_is_missing_is_named_at_once]
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "packed files") # as folders may be called
        said, _ = script(sys.argv[1], "pack", folder, sys.argv[2], "--no-archive")
        assert re.search(r"needs glibc 2\.\d+", said), said
        for test in tests:
            test(folder, os.path.join(home, test.__name__))
    print(f"{len(tests)} passed, 0 failed")


if __name__ == "__main__":
    main()
