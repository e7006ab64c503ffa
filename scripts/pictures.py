#!/usr/bin/env python3
"""Makes the pictures of the documents: pictures.py BUILD_DIR [NAME...] runs the commands below, which the documents
show too, and writes them into docs/pictures/. pictures.py --check BUILD_DIR makes none, and says which are not those
that the commands would make now. The build must have its tests, and for `live` there must be a Chromium.

All but MEASURED come from virtual time and are the same each time where the fonts are. Pictures are kept small: their
colours are reduced to 256, which one does not see in drawings of few colours with smooth edges. Each bears what it was
made by, and all texts in it as they are where every character is equally wide (tests/pictures/texts.c): these are
compared, because they depend on neither fonts nor a version of cairo.
"""
import collections
import hashlib
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PICTURES = os.path.join(ROOT, "docs", "pictures")

# Each writes the picture OUT, which is NAME.png in the folder where it runs, or several into the folder DIR, of which
# FILES names one. STENCIL and NEAREST are the plug-ins of examples/19_application_plugin.c and 18_policy_plugin.c,
# STUDY is examples/python/03_simulation.py, PYTHON the one that has the package; TREE is scripts/fmm_tree.py, for which
# any Python, PYTHON3, is good.
COMMANDS = {
    "cholesky": ["heddle sim cholesky --n 9600 --tile 960 --platform gpu1-cpu6 --sched dmdas --gantt OUT"],
    "eager": ["heddle sim cholesky --n 9600 --tile 960 --platform gpu1-cpu6 --sched eager --gantt OUT"],
    "graph": ["heddle sim cholesky --n 3840 --tile 960 --platform gpu1-cpu6 --sched dmdas --dag OUT"],
    "heatmap": ["heddle compare --graphs cholesky:n=9600,tile=960,geqrf:n=9600,tile=960,random:n=400 "
                "--platforms haswell-k40m,westmere-c2050,intel-v100 -o OUT"],
    "nearest": ["heddle --plugin NEAREST compare cholesky:n=9600,tile=960 -p haswell-k40m -s all -o OUT"],
    "rates": ["heddle platforms show haswell-k40m --kernels gemm,trsm,potrf -o OUT"],
    "models": [f"heddle run gemm --n 1536 --tile {tile} --no-check" for tile in (64, 128, 256, 512)] +
              ["heddle models plot dgemm -o OUT"],
    "stencil": ["heddle --plugin STENCIL sim stencil:n=80000,tile=10000,steps=6 --platform gpu1-cpu6 --sched lws "
                "--gantt OUT"],
    "recursive": ["heddle sim potrf --n 11520 --tile 2880/960 --refine diagonal --platform gpu1-cpu6 --sched dmdas "
                  "--gantt OUT"],
    "clusters": ["heddle sim potrf --n 4800 --tile 960 --platform haswell-k40m --sched dmdas --clusters adaptive "
                 "--gantt OUT"],
    "fmm": ["heddle sim fmm --particles 1e5 --digits 4 --platform gpu1-cpu6 --sched eager --gantt OUT"],
    "fmm-tree": ["PYTHON3 TREE OUT"],
    "tiles": ["PYTHON -B STUDY"],
    "lab": ["heddle lab --quick --seeds 2 -o DIR"],
    "eviction-without": ["heddle repro mp-evict -o DIR"],
    "eviction-with": ["heddle repro mp-evict -o DIR"],
    "live": ["heddle run potrf --n 10240 --tile 512 --ncpu 1 --emulated 1 --no-check"],
}
FILES = {"lab": "summary.png", "eviction-without": "mp-evict-without.png", "eviction-with": "mp-evict-with.png"}
MEASURED = ("models", "live") # differ each time
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
KEYWORD = b"Heddle"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def lines_of(png):
    """The lines of the picture, each as bytes, and the number of bytes of a pixel; only what cairo writes is read."""
    width, height, _, color = struct.unpack(">IIBB", png[16:26])
    channels = {2: 3, 6: 4}[color]
    data, at = b"", 8
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + n] if kind == b"IDAT" else b""
        at += 12 + n
    data, size, lines = zlib.decompress(data), 1 + width * channels, []
    line = bytes(width * channels)
    for y in range(height):
        line = unfiltered(data[y * size], data[y * size + 1:(y + 1) * size], line, channels)
        lines.append(line)
    return lines, channels


def unfiltered(kind, line, above, channels):
    """A line of a PNG as it was before its filter: 0 none, 1 left, 2 up, 3 average, 4 Paeth's."""
    if kind == 0:
        return line
    out = bytearray(len(line))
    for i, byte in enumerate(line):
        a, c = (out[i - channels], above[i - channels]) if i >= channels else (0, 0)
        b = above[i]
        if kind < 4:
            guess = (a, b, (a + b) // 2)[kind - 1]
        else:
            guess = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out[i] = (byte + guess) & 255
    return bytes(out)


def few(counts):
    """For each colour the one that stands for it: the most frequent of those near it. There are at most 256."""
    for step in range(1, 256):
        stands = {}
        for color in sorted(counts, key=lambda c: (counts[c], c)):
            stands[tuple(x // step for x in color)] = color
        if len(stands) <= 256:
            return {color: stands[tuple(x // step for x in color)] for color in counts}


def small(png):
    """The same picture with at most 256 colours, each of one byte."""
    lines, channels = lines_of(png)
    rows = [[line[i:i + 3] for i in range(0, len(line), channels)] for line in lines]
    stands = few(collections.Counter(color for row in rows for color in row))
    kept = sorted(set(stands.values()))
    index = {color: kept.index(stands[color]) for color in stands}
    data = b"".join(b"\0" + bytes(index[color] for color in row) for row in rows)
    return (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(kept)) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def python_of(build):
    """The Python of the build's package, or "" if there is none."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        found = [line.split("=", 1)[1].strip() for line in f if line.startswith("HEDDLE_PYTHON_FOUND:")]
    return found[0] if found else ""


def record_of(png):
    """What the picture bears of how it was made; None if there is nothing."""
    at = 8
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + n]
        if kind == b"iTXt" and data.startswith(KEYWORD + b"\0"):
            return zlib.decompress(data[len(KEYWORD) + 5:]).decode()
        at += 12 + n
    return None


def with_record(png, record):
    """The picture with that behind its header: compressed, and in no language."""
    header = 8 + 12 + 13
    data = KEYWORD + b"\0\1\0\0\0" + zlib.compress(record.encode(), 9)
    return png[:header] + chunk(b"iTXt", data) + png[header:]


def run(build, name, commands, scratch, environment=()):
    """Runs the commands; returns the path of the picture that they have made."""
    out, folder = os.path.join(scratch, name + ".png"), os.path.join(scratch, name)
    words = {"OUT": out, "DIR": folder, "heddle": os.path.join(build, "heddle"),
             "STENCIL": os.path.join(build, "examples", "19_application_plugin.so"),
             "NEAREST": os.path.join(build, "examples", "18_policy_plugin.so"),
             "STUDY": os.path.join(os.path.abspath(ROOT), "examples", "python", "03_simulation.py"),
             "PYTHON": python_of(build), "PYTHON3": sys.executable,
             "TREE": os.path.join(os.path.abspath(ROOT), "scripts", "fmm_tree.py")}
    for command in commands:
        done = subprocess.run([words.get(word, word) for word in shlex.split(command)], cwd=scratch, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "HEDDLE_MODEL_DIR": os.path.join(scratch, "m"),
                                   "PYTHONPATH": os.path.join(build, "python"), **dict(environment)})
        if done.returncode:
            sys.exit(f"{name}: {command}: {done.stderr}")
    return os.path.join(folder, FILES[name]) if name in FILES else out


def texts_of(build, name, scratch):
    """The texts that the picture has now; for the live page, which is not drawn here, what it is of."""
    if name == "live":
        with open(os.path.join(ROOT, "src", "start", "live.c"), encoding="utf-8") as f:
            page = re.search(r"^static const char html\[\] =\n(.*?);\n$", f.read(), re.MULTILINE | re.DOTALL)
        return "page " + hashlib.sha256(page.group(1).encode()).hexdigest() + "\n"
    path = os.path.join(scratch, name + ".txt")
    run(build, name, COMMANDS[name][-1:], scratch, {
        "LD_PRELOAD": os.path.join(build, "tests", "libpicture_texts.so"), "PICTURE_TEXTS": path}.items())
    with open(path, encoding="utf-8") as f:
        return f.read()


def has_begun(page):
    """Whether the program serves its page and has ended some tasks."""
    try:
        return b'"ended": 0,' not in urllib.request.urlopen(page + "state").read()
    except OSError: # it does not serve yet
        return False


def photograph(build, name, scratch):
    """A program's live page in a browser, while it runs."""
    browser = next(filter(shutil.which, BROWSERS), None)
    if not browser:
        sys.exit(f"there is no browser for the picture `{name}`: apt-get install {BROWSERS[0]}")
    with socket.socket() as s: # a port that is free
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    page, out = f"http://127.0.0.1:{port}/", os.path.join(scratch, name + ".png")
    words = shlex.split(COMMANDS[name][0])
    with subprocess.Popen([os.path.join(build, words[0])] + words[1:], stdout=subprocess.DEVNULL,
                          env={**os.environ, "HEDDLE_MODEL_DIR": "none", "HEDDLE_LIVE": str(port)}) as program:
        try:
            while not has_begun(page) and program.poll() is None:
                time.sleep(0.1)
            time.sleep(2)
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            "--user-data-dir=" + os.path.join(scratch, "browser"), "--window-size=900,350",
                            "--virtual-time-budget=1700", "--screenshot=" + out, page],
                           check=True, stderr=subprocess.DEVNULL)
        finally:
            program.kill()
    return out


def make(build, name, scratch):
    out = photograph(build, name, scratch) if name == "live" else run(build, name, COMMANDS[name], scratch)
    with open(out, "rb") as f:
        picture = small(f.read())
    picture = with_record(picture, "\n".join(COMMANDS[name]) + "\n\n" + texts_of(build, name, scratch))
    with open(os.path.join(PICTURES, name + ".png"), "wb") as f:
        f.write(picture)
    print(f"docs/pictures/{name}.png: {len(picture)} bytes")


def stale(build, name, scratch):
    """Why a picture is not the one that would be made now; None if it is."""
    try:
        with open(os.path.join(PICTURES, name + ".png"), "rb") as f:
            record = record_of(f.read())
    except FileNotFoundError:
        return "is not there"
    if record is None:
        return "does not bear what it was made by"
    commands, texts = record.split("\n\n", maxsplit=1)
    if commands != "\n".join(COMMANDS[name]):
        return "was made by other commands:\n" + commands
    if name in MEASURED and name != "live":
        return None
    now = texts_of(build, name, scratch)
    if now == texts:
        return None
    pairs = zip((texts + "nothing more").splitlines(), (now + "nothing more").splitlines())
    return "shows `{}` where it would show `{}` now".format(*next((a, b) for a, b in pairs if a != b))


def check(build, scratch):
    reasons = {name: stale(build, name, scratch) for name in COMMANDS if name != "tiles" or python_of(build)}
    for name, reason in reasons.items():
        if reason:
            print(f"docs/pictures/{name}.png {reason}; to make it: scripts/pictures.py BUILD_DIR {name}")
    return any(reasons.values())


def main():
    checks = sys.argv[1:2] == ["--check"]
    given = sys.argv[1 + checks:]
    if not given or not os.path.exists(os.path.join(given[0], "tests", "libpicture_texts.so")):
        sys.exit(__doc__)
    build, names = os.path.abspath(given[0]), given[1:]
    unknown = [name for name in names if name not in COMMANDS]
    if unknown:
        sys.exit(f"no picture is called {unknown[0]}; there are: {', '.join(COMMANDS)}")
    os.makedirs(PICTURES, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        if checks:
            sys.exit(check(build, scratch))
        for name in names or COMMANDS:
            make(build, name, scratch)


if __name__ == "__main__":
    main()
