"""The workloads: tables, pipelines, and who does the same beside vaglio."""
from dataclasses import dataclass, field


@dataclass
class Peer:
    """A function of `numpy_peers` or `packages` (`lm_subsets` is R), and how its answer must agree with vaglio's.

    `agree`: `steps`, the same columns in the same order with the same scores, as far as they were measured; `set`, the
    same columns; `penalty`, the same λ and score; `curve`, the same score at each λ that was measured; `score`, the same
    columns and score; `trials`, no first removal that is better than vaglio's; `not better`, a loss that is not below
    vaglio's, which is proven to be the least; `loss`, any: both are told.
    """

    function: str
    label: str
    agree: str
    package: str = "numpy"
    settings: dict = field(default_factory=dict)
    tolerance: float = 1e-9


@dataclass
class Workload:
    """One search of vaglio, on a table that `data.py` makes."""

    name: str
    title: str
    data: dict
    pipeline: dict
    settings: dict
    peers: list
    rescore: dict | None = None


def size(rows, columns):
    return f"{rows:,}".replace(",", " ") + f" × {columns}"


def sparse(rows, columns, seed, **more):
    return {"kind": "sparse_linear", "rows": rows, "columns": columns, "seed": seed, **more}


def rls(penalty, **more):
    """Ridge regression without intercept; a penalty is a number, or (from, to, points) of a grid."""
    if isinstance(penalty, list):
        start, stop, points = penalty
        penalty = {"grid": {"from": start, "to": stop, "points": points}, "per": "subset"}
    return {"kind": "rls", "lambda": penalty, "intercept": False, **more}


def kfold(folds):
    return {"kind": "kfold", "folds": folds, "loss": "squared"}


def search(kind, **more):
    return {"kind": kind, "choose": "last", **more}


def some(quick, count):
    """How many penalties or columns are measured where all would take too long."""
    return {} if quick else {"part": count}


LOO = {"kind": "loo", "loss": "squared"}


def greedy(quick, steps):
    rows, columns = (3000, 80) if quick else (60000, 780)
    peers = [
        Peer("numpy_peers.greedy", "the published recursion in NumPy", "steps"),
        Peer("numpy_peers.greedy_pruned", "the same with bounds, in NumPy", "steps"),
        Peer("packages.rlscore_greedy", "RLScore", "steps", "RLScore"),
        Peer("packages.abess", "abess, another criterion", "loss", "abess"),
        Peer("packages.fastcan", "fastcan, another criterion", "loss", "fastcan"),
    ]
    return Workload(
        f"greedy{steps}",
        f"greedy by leave-one-out, {size(rows, columns)}, {steps} columns",
        sparse(rows, columns, 1),
        {"criterion": LOO, "search": search("greedy", max_features=steps), "learner": rls(1.0)},
        {"lambda": 1.0, "steps": steps},
        peers,
        {"kind": "loo", "penalty": 1.0},
    )


def greedy_folds(quick):
    rows, columns, steps, folds = (1000, 12, 4, 10) if quick else (60000, 780, 20, 10)
    part = {} if quick else {"part": [6, 2]}
    return Workload(
        "folds",
        f"greedy by {folds} folds, {size(rows, columns)}, {steps} columns",
        sparse(rows, columns, 1),
        {"criterion": kfold(folds), "search": search("greedy", max_features=steps), "learner": rls(1.0)},
        {"lambda": 1.0, "steps": steps, "folds": folds},
        [
            Peer("numpy_peers.forward", "the same by moments in NumPy", "steps"),
            Peer("packages.sklearn_forward", "scikit-learn's `SequentialFeatureSelector`", "set", "scikit-learn", part),
            Peer("packages.mlxtend_forward", "mlxtend", "set", "mlxtend", part),
        ],
        {"kind": "folds", "penalty": 1.0, "folds": folds},
    )


def penalty(quick):
    rows, columns, grid, folds = (1000, 30, [1e-4, 1e6, 11], 10) if quick else (16281, 400, [1e-4, 1e6, 50], 10)
    equal = 1e-9 if quick else 1e-5
    return Workload(
        "penalty",
        f"λ of {grid[2]} for all columns, {size(rows, columns)}, {folds} folds",
        sparse(rows, columns, 2),
        {"criterion": kfold(folds), "search": search("all"), "learner": rls(grid)},
        {"lambda": grid, "folds": folds},
        [
            Peer("numpy_peers.penalties", "an eigendecomposition for each fold in NumPy", "penalty"),
            Peer("packages.sklearn_penalties", "scikit-learn's `GridSearchCV`", "curve", "scikit-learn", some(quick, 4)),
            # Its loss is the mean of the folds' means, which is another where folds differ by a row.
            Peer("packages.rlscore_penalties", "RLScore's `KfoldRLS`", "curve", "RLScore", some(quick, 2), equal),
        ],
    )


def path_of_penalties(quick):
    rows, columns, steps, grid, folds = (1001, 30, 10, [1e-4, 1e6, 11], 10) if quick else (16281, 400, 100, [1e-4, 1e6, 50], 10)
    return Workload(
        "penalties",
        f"greedy to {steps} of {columns} columns, each subset with its own λ of {grid[2]}, {rows} rows, {folds} folds",
        sparse(rows, columns, 2),
        {"criterion": kfold(folds), "search": search("greedy", max_features=steps), "learner": rls(grid)},
        {"lambda": grid, "steps": steps, "folds": folds},
        [Peer("numpy_peers.forward", "the same by moments in NumPy", "steps")],
    )


def backward(quick):
    rows, columns, grid, folds = (1000, 20, [1e-4, 1e6, 12], 5) if quick else (20000, 200, [1e-4, 1e6, 60], 23)
    return Workload(
        "backward",
        f"backward from {columns} columns to one, each subset with its own λ of {grid[2]}, {rows} rows, {folds} folds",
        sparse(rows, columns, 3),
        {"criterion": kfold(folds), "search": search("backward", min_features=1), "learner": rls(grid)},
        {"lambda": grid, "folds": folds},
        [
            Peer("numpy_peers.backward", "the same by moments in NumPy", "steps", settings={"removals": 15}),
            Peer("numpy_peers.backward_each", "an eigendecomposition a trial in NumPy", "trials", settings={"candidates": 10}),
        ],
    )


def hsic(quick):
    rows, columns, steps = (80, 60, 5) if quick else (300, 2000, 10)
    return Workload(
        "hsic",
        f"N³LARS, {steps} of {columns} columns, {rows} rows",
        {"kind": "curved", "rows": rows, "columns": columns, "seed": 4},
        {"criterion": {"kind": "nhsic"}, "search": search("lars", max_features=steps), "learner": rls(1.0)},
        {"steps": steps},
        [Peer("packages.hsic_lasso", "pyHSICLasso", "set", "pyHSICLasso")],
    )


def elm(quick):
    rows, units, folds, grid = (1000, 20, 5, [1e-6, 1e4, 11]) if quick else (10000, 100, 20, [1e-6, 1e4, 50])
    return Workload(
        "elm",
        f"extreme learning machine, {units} neurons, {rows} rows, {folds} folds, λ of {grid[2]}",
        sparse(rows, 20, 5, squash=3.0),
        {
            "criterion": kfold(folds),
            "search": search("all"),
            "learner": {**rls(grid), "kind": "elm", "units": units, "direct": False},
        },
        {"lambda": grid, "folds": folds, "model": "units"},
        [
            Peer("numpy_peers.elm", "the same in NumPy", "penalty"),
            Peer("packages.sklearn_elm", "scikit-learn's `GridSearchCV`", "curve", "scikit-learn", some(quick, 5)),
        ],
    )


def reservoir(quick):
    rows, nodes, folds, grid = (1000, 30, 5, [1e-6, 1e4, 11]) if quick else (10000, 200, 20, [1e-6, 1e4, 50])
    learner = {"kind": "reservoir", "units": nodes, "leak_rate": 0.3, "bias_scaling": 1.0}
    return Workload(
        "reservoir",
        f"echo-state network, {nodes} nodes, {rows} steps, {folds} folds, λ of {grid[2]}",
        {"kind": "narma", "rows": rows, "seed": 5},
        {"criterion": kfold(folds), "search": search("all"), "learner": {**rls(grid), **learner}},
        {"lambda": grid, "folds": folds, "leak_rate": 0.3, "nodes": nodes, "model": "network"},
        [
            Peer("numpy_peers.reservoir", "the same in NumPy", "penalty"),
            Peer("packages.reservoirpy", "reservoirpy, nodes of its own", "loss", "reservoirpy", some(quick, 3)),
        ],
    )


def exhaustive(quick):
    rows, columns, folds = (200, 8, 10) if quick else (500, 20, 10)
    return Workload(
        "exhaustive",
        f"every subset of {columns} columns, {rows} rows, {folds} folds",
        sparse(rows, columns, 6, true=10, deviation=2.0),
        {"criterion": kfold(folds), "search": {"kind": "exhaustive", "choose": "best"}, "learner": rls(1.0)},
        {"lambda": 1.0, "folds": folds},
        [
            Peer("numpy_peers.tree", "depth first by moments in NumPy", "score"),
            Peer("packages.mlxtend_exhaustive", "mlxtend", "score", "mlxtend", some(quick, 7)),
        ],
        {"kind": "folds", "penalty": 1.0, "folds": folds},
    )


def best_subset(quick, name, columns, criterion, by, rescoring):
    """The peer is a heuristic by another criterion, so its subset is scored as vaglio's is and must not be better."""
    rows, steps = (200, 5) if quick else (500, 10)
    return Workload(
        name,
        f"the best of at most {steps} of {columns} columns by {by}, {rows} rows",
        sparse(rows, columns, 6, true=10, deviation=2.0),
        {
            "criterion": criterion,
            "search": {"kind": "exhaustive", "max_features": steps, "choose": "best"},
            "learner": rls(1.0),
        },
        {"lambda": 1.0, "steps": steps},
        [Peer("packages.abess", "abess, a heuristic", "not better", "abess")],
        rescoring,
    )


def residuals(quick):
    rows, columns, steps = (200, 12, 5) if quick else (500, 35, 10)
    least = 1e-8
    return Workload(
        "residuals",
        f"the best {steps} of {columns} columns by the sum of squared residuals, {rows} rows",
        sparse(rows, columns, 6, true=10, deviation=2.0),
        {
            "criterion": {"kind": "information", "measure": "training"},
            "search": {"kind": "exhaustive", "max_features": steps, "choose": "last"},
            "learner": rls(least),
        },
        {"steps": steps},
        [
            Peer("lm_subsets", "R's lmSubsets", "score", "lmSubsets"),
            Peer("packages.abess", "abess, a heuristic", "not better", "abess"),
        ],
        {"kind": "training", "penalty": least},
    )


def proven(quick):
    """Both prove that no other subset of the size leaves less over; OKRidge to 0.01 % of it, with the penalty's term."""
    rows, columns, steps = (300, 40, 5) if quick else (2000, 500, 10)
    penalty = 0.1
    return Workload(
        "proven",
        f"the best {steps} of {columns} columns by the sum of squared residuals, {rows} rows",
        sparse(rows, columns, 6, true=10, deviation=2.0),
        {
            "criterion": {"kind": "information", "measure": "training"},
            "search": {"kind": "exhaustive", "min_features": steps, "max_features": steps, "choose": "last"},
            "learner": rls(penalty),
        },
        {"steps": steps, "lambda": penalty},
        [Peer("packages.okridge", "OKRidge", "not better", "okridge")],
        {"kind": "training", "penalty": penalty},
    )


def workloads(quick):
    made = [greedy(quick, 20), greedy(quick, 100) if not quick else greedy(quick, 40)]
    few, many = (12, 14) if quick else (35, 64)
    by_loo, by_folds = {"kind": "loo", "penalty": 1.0}, {"kind": "folds", "penalty": 1.0, "folds": 10}
    return made + [make(quick) for make in [
        greedy_folds, penalty, path_of_penalties, backward, hsic, elm, reservoir, exhaustive,
    ]] + [
        best_subset(quick, "subset", few, LOO, "leave-one-out", by_loo),
        residuals(quick),
        proven(quick),
        best_subset(quick, "subset leave-one-out", many, LOO, "leave-one-out", by_loo),
        best_subset(quick, "subset ten folds", many, kfold(10), "ten folds", by_folds),
    ]
