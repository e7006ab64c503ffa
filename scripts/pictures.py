#!/usr/bin/env python3
"""Makes the pictures of the documents: pictures.py BUILD_DIR [NAME...] runs the commands below, which the documents
show too, and writes them into docs/pictures/.

All but `models` come from virtual time and are the same each time where the fonts are. Pictures are kept small: their
colours are reduced to 256, which one does not see in drawings of few colours with smooth edges.
"""
import collections
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PICTURES = os.path.join(ROOT, "docs", "pictures")

# Each writes the picture OUT, NAME.png in the folder where it runs. STENCIL is the plug-in of
# examples/19_application_plugin.c, STUDY examples/python/03_simulation.py, PYTHON the one that has the package.
COMMANDS = {
    "cholesky": ["heddle sim cholesky --n 9600 --tile 960 --platform gpu1-cpu6 --sched dmdas --gantt OUT"],
    "heatmap": ["heddle compare --graphs cholesky:n=9600,tile=960,geqrf:n=9600,tile=960,random:n=400 "
                "--platforms haswell-k40m,westmere-c2050,intel-v100 -o OUT"],
    "rates": ["heddle platforms show haswell-k40m --kernels gemm,trsm,potrf -o OUT"],
    "models": [f"heddle run gemm --n 1536 --tile {tile} --no-check" for tile in (64, 128, 256, 512)] +
              ["heddle models plot dgemm -o OUT"],
    "stencil": ["heddle --plugin STENCIL sim stencil:n=80000,tile=10000,steps=6 --platform gpu1-cpu6 --sched lws "
                "--gantt OUT"],
    "recursive": ["heddle sim potrf --n 11520 --tile 2880/960 --refine diagonal --platform gpu1-cpu6 --sched dmdas "
                  "--gantt OUT"],
    "clusters": ["heddle sim potrf --n 4800 --tile 960 --platform haswell-k40m --sched dmdas --clusters auto "
                 "--gantt OUT"],
    "tiles": ["PYTHON -B STUDY"],
}


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
    """The Python of the build's package."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as f:
        found = [line.split("=", 1)[1].strip() for line in f if line.startswith("HEDDLE_PYTHON_FOUND:")]
    return found[0] if found and found[0] else "python3"


def make(build, name, scratch):
    out = os.path.join(scratch, name + ".png")
    words = {"OUT": out, "STENCIL": os.path.join(build, "examples", "19_application_plugin.so"),
             "STUDY": os.path.join(os.path.abspath(ROOT), "examples", "python", "03_simulation.py"),
             "PYTHON": python_of(build), "heddle": os.path.join(build, "heddle")}
    environment = {**os.environ, "HEDDLE_MODEL_DIR": os.path.join(scratch, "m"),
                   "PYTHONPATH": os.path.join(build, "python")}
    for command in COMMANDS[name]:
        subprocess.run([words.get(word, word) for word in shlex.split(command)], check=True, cwd=scratch,
                       stdout=subprocess.DEVNULL, env=environment)
    with open(out, "rb") as f:
        picture = small(f.read())
    with open(os.path.join(PICTURES, name + ".png"), "wb") as f:
        f.write(picture)
    print(f"docs/pictures/{name}.png: {len(picture)} bytes")


def main():
    if len(sys.argv) < 2 or not os.path.exists(os.path.join(sys.argv[1], "heddle")):
        sys.exit(__doc__)
    unknown = [name for name in sys.argv[2:] if name not in COMMANDS]
    if unknown:
        sys.exit(f"no picture is called {unknown[0]}; there are: {', '.join(COMMANDS)}")
    os.makedirs(PICTURES, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in sys.argv[2:] or COMMANDS:
            make(os.path.abspath(sys.argv[1]), name, scratch)


if __name__ == "__main__":
    main()
