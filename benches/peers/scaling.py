"""How the seconds of vaglio's searches grow, beside what the book says."""
import math
from dataclasses import dataclass

from workloads import LOO, kfold, rls, search, sparse


@dataclass
class Growth:
    """One size that grows while the others stay; `theory` is the exponent of the leading term."""

    name: str
    what: str
    sizes: list
    theory: float
    make: object


def loo(rows, columns, steps):
    return sparse(rows, columns, 1), {
        "criterion": LOO,
        "search": search("greedy", max_features=steps),
        "learner": rls(1.0),
    }


def folds(rows, columns, steps, count, penalties, kind="greedy"):
    limits = {"max_features": steps} if kind == "greedy" else {"min_features": 1}
    return sparse(rows, columns, 2), {
        "criterion": {**kfold(count), "engine": "moments"},
        "search": search(kind, **limits),
        "learner": rls([1e-3, 1e3, penalties] if penalties > 1 else 1.0),
    }


def growths(quick):
    """Where one term leads, the others are kept small: few rows for what grows with penalties, folds and steps."""
    if quick:
        return [
            Growth("loo_m", "greedy by leave-one-out: rows", [2000, 4000, 8000], 1, lambda m: loo(m, 60, 10)),
            Growth("folds_R", "greedy by folds: penalties", [8, 16, 32], 1, lambda r: folds(400, 60, 20, 5, r)),
        ]
    return [
        Growth("loo_m", "greedy by leave-one-out: rows", [8000, 16000, 32000, 64000], 1, lambda m: loo(m, 400, 20)),
        Growth("loo_n", "greedy by leave-one-out: columns", [400, 800, 1600, 3200], 1, lambda n: loo(10000, n, 20)),
        Growth("loo_k", "greedy by leave-one-out: steps", [20, 40, 80, 160], 1, lambda k: loo(20000, 780, k)),
        Growth("folds_m", "greedy by folds, moments: rows", [16000, 32000, 64000, 128000], 1, lambda m: folds(m, 300, 5, 10, 1)),
        Growth("folds_n", "greedy by folds, moments: columns", [200, 400, 800, 1600], 2, lambda n: folds(20000, n, 5, 10, 1)),
        Growth("folds_k", "greedy by folds: steps", [50, 100, 200, 400], 2, lambda k: folds(1000, 800, k, 10, 8)),
        Growth("folds_R", "greedy by folds: penalties", [16, 32, 64, 128], 1, lambda r: folds(1000, 400, 60, 10, r)),
        Growth("folds_K", "greedy by folds: folds", [5, 10, 20, 40], 1, lambda k: folds(1000, 400, 60, k, 32)),
        Growth("back_n", "backward by folds: columns", [120, 240, 480, 960], 3, lambda n: folds(2000, n, 0, 5, 4, "backward")),
        Growth("back_R", "backward by folds: penalties", [8, 16, 32, 64], 1, lambda r: folds(2000, 160, 0, 5, r, "backward")),
        Growth("back_K", "backward by folds: folds", [5, 10, 20, 40], 1, lambda k: folds(2000, 160, 0, k, 8, "backward")),
    ]


def slope(sizes, seconds):
    """The least-squares slope of log seconds on log size."""
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return across / sum((a - mean_x) ** 2 for a in x)


def measure(bench, growth, tell):
    """The least search seconds at every size, the slope over all, and that between the last two."""
    seconds = []
    for size in growth.sizes:
        data, pipeline = growth.make(size)
        pipeline = {"data": {"train": f"{bench.table(data)}.parquet", "target": "y"}, **pipeline}
        runs = [bench.vaglio.run("scaling", pipeline)[1]["seconds"]["search"] for _ in range(bench.repeats)]
        seconds.append(max(min(runs), 1e-6))
        tell(f"{growth.name} at {size}: {seconds[-1]:.4f} s")
    return {
        "name": growth.name,
        "what": growth.what,
        "sizes": growth.sizes,
        "seconds": seconds,
        "slope": slope(growth.sizes, seconds),
        "last": slope(growth.sizes[-2:], seconds[-2:]),
        "theory": growth.theory,
    }
