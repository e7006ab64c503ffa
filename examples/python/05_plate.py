"""A stencil in two dimensions: heat spreads in a plate that is cut into tiles. Each step of a tile needs the tile and
its halo, one row or column of each of its neighbours. The tiles that are read overlap, and those that are written do
not: they are two plans of the same array, and Heddle keeps the steps in order, one after the other. (In 02_stencil.py,
where tasks name the blocks beside instead, steps overlap.) Writes plate.png, who ran what and
when."""
import numpy as np

import heddle
from heddle import read, write

ROWS, COLUMNS, GRID, STEPS = 480, 640, (2, 4), 20


def sweep(new, old, above, left):
    """One step of a tile. `old` has its halo, too: `above` rows above it and `left` columns on its left, 0 at the edge
    of the plate, which keeps its temperature."""
    rows, columns = new.shape
    new[:] = old[above:above + rows, left:left + columns]
    inner = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
    new[1 - above:1 - above + inner.shape[0], 1 - left:1 - left + inner.shape[1]] = inner


plate, other = np.zeros((2, ROWS, COLUMNS))
plate[:, 0] = plate[0, :] = 100
expected = plate.copy()

with heddle.Runtime(trace=True, policy="lws") as rt:
    data = [rt.data(plate, name="plate"), rt.data(other, name="other")]
    tiles = [x.plan(GRID) for x in data]
    wide = [x.plan(GRID, halo=1) for x in data]
    for step in range(STEPS):
        old, new = wide[step % 2], tiles[(step + 1) % 2]
        for i, j in np.ndindex(GRID):
            rt.submit(sweep, write(new[i, j]), read(old[i, j]), int(i > 0), int(j > 0))
    rt.wait()
    rt.take_trace().gantt("plate.png", title=f"{STEPS} steps of a stencil on {GRID[0]} x {GRID[1]} tiles")

for _ in range(STEPS):  # the same without Heddle
    step = np.empty_like(expected)
    sweep(step, expected, 0, 0)
    expected = step
result = (plate, other)[STEPS % 2]
assert np.array_equal(result, expected)
print(f"{STEPS * len(tiles[0])} tasks, as without Heddle; inside, the plate has {result[1:, 1:].max():.1f} degrees")
