"""A stencil: heat spreads in a plate that is cut into blocks of rows. Each step of a block needs the blocks beside it,
which is all that has to be said: Heddle lets several steps overlap. Writes stencil.png, who ran what and when."""
import numpy as np

import heddle
from heddle import read, write

ROWS, COLUMNS, BLOCKS, STEPS = 512, 256, 8, 20


def sweep(new, old, above, below):
    """One step of a block; `above` and `below` are its neighbours, or None at the edge of the plate."""
    rows = np.concatenate([old[:1] if above is None else above[-1:], old, old[-1:] if below is None else below[:1]])
    new[:, 0], new[:, -1] = old[:, 0], old[:, -1]
    new[:, 1:-1] = 0.25 * (rows[:-2, 1:-1] + rows[2:, 1:-1] + old[:, :-2] + old[:, 2:])


plate, other = np.zeros((2, ROWS, COLUMNS))
plate[:, 0] = 100
expected = plate.copy()

with heddle.Runtime(trace=True, policy="lws") as rt:
    now, then = rt.data(plate, name="plate").split(BLOCKS), rt.data(other, name="other").split(BLOCKS)
    for _ in range(STEPS):
        for i in range(BLOCKS):
            rt.submit(sweep, write(then[i]), read(now[i]),
                      read(now[i - 1]) if i > 0 else None, read(now[i + 1]) if i < BLOCKS - 1 else None)
        now, then = then, now
    now.join()
    then.join()
    rt.wait()
    rt.take_trace().gantt("stencil.png", title=f"{STEPS} steps of a stencil on {BLOCKS} blocks")

for _ in range(STEPS):  # the same without Heddle
    step = np.empty_like(expected)
    sweep(step, expected, None, None)
    expected = step
assert np.array_equal(now.parent.array, expected)
print(f"{STEPS * BLOCKS} tasks, as without Heddle; the hottest inner point has {plate[:, 1:].max():.1f} degrees")
