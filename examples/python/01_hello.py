"""A whole program: one task scales a vector, in place, on whichever core is free."""
import numpy as np

import heddle


@heddle.kernel("x:rw")
def scale(x, factor):
    x *= factor


a = np.array([1.0, 2.0, 3.0])
with heddle.Runtime() as rt:
    rt.submit(scale, rt.data(a), 7)
print(a)
assert a.tolist() == [7, 14, 21]
