"""A small study, step by step as in a notebook: which tile size is best for a Cholesky factorisation on a machine that
is not here? Writes tiles.png and best.png."""
import heddle

# %% The machine, and how long its processors take for one tile.
machine = heddle.Platform("intel-v100")
print(machine, [c.name for c in machine.classes])

# %% One matrix, cut into tiles of several sizes, under three policies. Times are virtual, and the same each time.
N, TILES, POLICIES = 11520, (480, 640, 960, 1280, 1920), ("eager", "dmdas", "heft")
runs = {policy: [heddle.simulate(heddle.cholesky(N // tile, tile), machine, policy) for tile in TILES]
        for policy in POLICIES}
for policy, row in runs.items():
    print(f"{policy:8}", *(f"{s.rate:8.0f}" for s in row), "Gflop/s")

# %% A plot, and beside it what no schedule can exceed.
curves = {policy: (TILES, [s.rate for s in row]) for policy, row in runs.items()}
curves["bound"] = (TILES, [s.graph.flops / s.bounds.mixed * 1e-3 for s in runs["heft"]])
heddle.chart("tiles.png", curves, title=f"Cholesky, n = {N}, on {machine.name}", x_label="tile", y_label="Gflop/s")

# %% The best run: who did what, and what the results look like as arrays.
best = max((s for row in runs.values() for s in row), key=lambda s: s.rate)
best.gantt("best.png", critical_path=True)
print(best, f"- {best.bounds.mixed / best.makespan:.0%} of the bound")
gpu = [w for w, worker in enumerate(machine.workers) if machine.classes[worker.class_id].kind == "cuda"]
on_gpu = (best.worker[:, None] == gpu).any(axis=1)
busy = (best.end - best.start)[on_gpu].sum()
print(f"{on_gpu.sum()} of {len(on_gpu)} tasks ran on the {len(gpu)} GPUs, for {busy:.0f} us in all")
