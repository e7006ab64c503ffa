"""Gravity of a cluster of stars by the fast multipole method: a few steps of the leapfrog, each of which sums over all
pairs of stars anew, and keeps the energy. Then the places stay and the charges change: the potentials of the mass and
of the light of the same stars, seen along a line from the centre outwards, where no star is."""
import numpy as np

import heddle
import heddle.fmm

N, STEP, STEPS = 4000, 1e-3, 10
chance = np.random.default_rng(1)


def directions(n):
    """Unit vectors in all directions alike."""
    v = chance.standard_normal((n, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def energy(v, potential):
    """Of all stars; each pair is in the potentials of both."""
    return (mass * (v ** 2).sum(axis=1)).sum() / 2 - (mass * potential).sum() / 2


# Plummer's model: the mass within r is r^3 (1 + r^2)^(-3/2); half of the speed that holds it up.
mass = np.full(N, 1 / N)
r = 1 / np.sqrt(chance.uniform(0.01, 0.95, N) ** (-2 / 3) - 1)
x = r[:, None] * directions(N)
v = 0.5 * (1 + r[:, None] ** 2) ** -0.25 * directions(N)

with heddle.Runtime() as rt:
    potential, force = heddle.fmm.evaluate(rt, x, mass, digits=5)
    before = energy(v, potential)
    for _ in range(STEPS):  # gravity attracts: the acceleration is + the gradient of sum m / r
        v += STEP / 2 * force
        x += STEP * v
        potential, force = heddle.fmm.evaluate(rt, x, mass, digits=5)
        v += STEP / 2 * force
    drift = abs(energy(v, potential) / before - 1)
    print(f"{N} stars, {STEPS} steps: energy {before:.4f}, changed by a share of {drift:.1e}")
    assert drift < 1e-2

    line = np.outer(np.linspace(0, 5, 6), [1, 0, 0])
    light = mass * chance.exponential(1, N)
    with heddle.fmm.FMM(rt, x, line, digits=4) as fmm:
        of_mass, of_light = fmm.potential(mass), fmm.potential(light)
    for place, a, b in zip(line, of_mass, of_light):
        print(f"at {place[0]:.0f}: potential of the mass {a:.3f}, of the light {b:.3f}")
    directly = (mass / np.linalg.norm(line[:, None] - x[None], axis=2)).sum(axis=1)
    assert np.allclose(of_mass, directly, rtol=1e-3)
