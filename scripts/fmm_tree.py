#!/usr/bin/env python3
"""Draws the tree of the fast multipole method in a plane, for docs/fmm.md: fmm_tree.py PNG writes the picture, and, if
the variable PICTURE_TEXTS names a file, there a digest of its points, by which scripts/pictures.py compares it.

Particles lie in squares, and four squares have a parent. Orange: a leaf, and lighter the leaves near it, with which it
is summed directly. Blue, green and violet, of three levels: squares far from the leaf, or from its parent, or from the
parent of that, which one translation each brings to it. Empty squares are left out."""
import hashlib
import os
import random
import struct
import sys
import zlib

DEPTH, LEAF_SIDE, LINE = 4, 40, 2
SIDE = (1 << DEPTH) * LEAF_SIDE + LINE
WHITE, DARK, GRAY = (255, 255, 255), (40, 40, 40), (200, 200, 200)
ITSELF, NEAR = (230, 85, 13), (253, 190, 133)
FAR = {DEPTH: (158, 202, 225), DEPTH - 1: (199, 233, 192), DEPTH - 2: (218, 218, 235)}  # of each level
TARGET = (6, 9)  # a leaf


def particles():
    """A dense cluster and a thin one, in units of the whole."""
    chance = random.Random(1)
    points = [(chance.gauss(0.36, 0.13), chance.gauss(0.6, 0.15)) for _ in range(700)]
    points += [(chance.gauss(0.75, 0.08), chance.gauss(0.28, 0.08)) for _ in range(250)]
    return [p for p in points if 0 < min(p) and max(p) < 1]


def cells_of(points, level):
    """The squares of a level that are not empty."""
    return {(int(x * (1 << level)), int(y * (1 << level))) for x, y in points}


def are_near(a, b):
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= 1


def above(cell, levels=1):
    """The square so many levels up in which a cell lies."""
    return cell[0] >> levels, cell[1] >> levels


class Picture:
    """Points by rows."""

    def __init__(self, side):
        self.rows = [[WHITE] * side for _ in range(side)]

    def fill(self, x, y, side, color):
        for row in self.rows[y:y + side]:
            row[x:x + side] = [color] * len(row[x:x + side])

    def square(self, cell, side, color):
        """A cell of this side, with a line around it."""
        x, y = cell[0] * side, cell[1] * side
        self.fill(x, y, side + LINE, GRAY)
        self.fill(x + LINE, y + LINE, side - LINE, color)

    def png(self):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        side, data = len(self.rows), b"".join(b"\0" + bytes(sum(row, ())) for row in self.rows)
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def draw():
    points, picture = particles(), Picture(SIDE)
    for level in sorted(FAR):
        mine = above(TARGET, DEPTH - level)
        for cell in sorted(cells_of(points, level)):
            if are_near(above(cell), above(mine)) and not are_near(cell, mine):
                picture.square(cell, LEAF_SIDE << (DEPTH - level), FAR[level])
    for cell in sorted(cells_of(points, DEPTH)):
        if are_near(cell, TARGET):
            picture.square(cell, LEAF_SIDE, ITSELF if cell == TARGET else NEAR)
    for x, y in points:
        picture.fill(int(x * (SIDE - 4)), int(y * (SIDE - 4)), 4, DARK)
    return picture


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    picture = draw()
    with open(sys.argv[1], "wb") as f:
        f.write(picture.png())
    if "PICTURE_TEXTS" in os.environ:
        with open(os.environ["PICTURE_TEXTS"], "w", encoding="utf-8") as f:
            f.write("points " + hashlib.sha256(repr(picture.rows).encode()).hexdigest() + "\n")


if __name__ == "__main__":
    main()
