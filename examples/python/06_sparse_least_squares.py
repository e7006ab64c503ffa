"""Least squares with a sparse matrix: heights of the points of a levelling network. Differences of height were measured
between neighbours on a grid, each with an error, and a few points have a known height. There are more measurements than
points, and they contradict each other a little; the heights that contradict them least are found by sparse QR. A second
campaign measures the same differences again: the matrix is the same, and with weights it has other values at the same
places, for which the order of the columns and the fronts are known already."""
import numpy as np
import scipy.sparse

import heddle
import heddle.sparse

SIDE, ERROR = 60, 1e-3
chance = np.random.default_rng(1)
point = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
height = 100 * np.hypot(*np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 2, SIDE))).ravel()

# Rows: differences between neighbours, then the four corners, whose heights are known.
below = np.concatenate([point[:, :-1].ravel(), point[:-1].ravel()])
above = np.concatenate([point[:, 1:].ravel(), point[1:].ravel()])
corners = point[[0, 0, -1, -1], [0, -1, 0, -1]]
n, known = len(below), len(corners)
a = scipy.sparse.csr_matrix((np.concatenate([np.ones(n), -np.ones(n), np.ones(known)]),
                             (np.concatenate([np.arange(n), np.arange(n), n + np.arange(known)]),
                              np.concatenate([above, below, corners]))), shape=(n + known, SIDE * SIDE))
error = np.concatenate([ERROR * chance.standard_normal(n), np.zeros(known)])
measured = a @ height + error

with heddle.Runtime() as rt, heddle.sparse.QR(rt, a) as qr:
    found = qr.factorise().solve(measured)
    off = abs(found - height).max()
    print(f"{a.shape[0]} measurements of {a.shape[1]} heights, {qr.statistics['fronts']} fronts: "
          f"wrong by at most {1000 * off:.2f} mm")

    # Measurements of the second campaign have errors of their own, known in advance: rows are divided by them.
    spread = np.concatenate([ERROR * chance.uniform(0.2, 5, n), np.full(known, ERROR / 10)])
    weights = scipy.sparse.diags(1 / spread)
    again = a @ height + spread * chance.standard_normal(n + known)
    weighted = qr.factorise(weights @ a).solve(again / spread)
    print(f"a second campaign, with weights: wrong by at most {1000 * abs(weighted - height).max():.2f} mm")

    # The residual of a least squares solution is orthogonal to every column.
    residual = (measured - a @ found)
    assert np.abs(a.T @ residual).max() < 1e-9
    assert off < 20 * ERROR
