"""The searches of other packages. Runs in the environment of the peers.

As in `numpy_peers`; packages are imported before the clock runs. Where a package would take hours, a part of the task is
measured, `part` says which, and the seconds are scaled by the number of fits.
"""
import warnings

import numpy as np
from numpy_peers import grid, starts

warnings.simplefilter("ignore")


def fold_of_row(rows, folds):
    return np.repeat(np.arange(folds), np.diff(starts(rows, folds)))


def rlscore_greedy(x, y, settings, clock):
    from rlscore.learner import GreedyRLS

    with clock:
        found = GreedyRLS(x.T, y, settings["steps"], regparam=settings["lambda"], bias=0.0)
    return {"columns": [int(j) for j in found.selected], "scores": [float(s) for s in found.performances]}


def abess(x, y, settings, clock):
    from abess.linear import LinearRegression

    model = LinearRegression(support_size=settings["steps"], fit_intercept=False)
    with clock:
        model.fit(x.T, y)
    return {"columns": np.flatnonzero(model.coef_).tolist()}


def okridge(x, y, settings, clock):
    from okridge.tree import BNBTree

    x = x.T.copy()
    with clock:
        tree = BNBTree(X=x, y=y, lambda2=settings["lambda"])
        _, coefficients, *_ = tree.solve(k=settings["steps"], gap_tol=1e-4, verbose=False, time_limit=600)
    return {"columns": np.flatnonzero(coefficients).tolist()}


def fastcan(x, y, settings, clock):
    from fastcan import FastCan

    model = FastCan(settings["steps"], verbose=0)
    with clock:
        model.fit(x.T, y)
    return {"columns": [int(j) for j in model.indices_]}


def fits(columns, steps, folds):
    """How many models a greedy search trains."""
    return sum(columns - s for s in range(steps)) * folds


def whole_or_part(x, settings):
    """The columns and steps that are measured, by what the seconds are scaled, and what to say of it."""
    n, steps, folds = len(x), settings["steps"], settings["folds"]
    columns, measured = settings.get("part", [n, steps])
    made, needed = fits(columns, measured, folds), fits(n, steps, folds)
    told = None if made == needed else f"{made} of {needed} fits, of few columns"
    return x[:columns], measured, needed / made, {"part": told}


def sklearn_forward(x, y, settings, clock):
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge

    x, steps, scale, told = whole_or_part(x, settings)
    ridge = Ridge(alpha=settings["lambda"], fit_intercept=False)
    model = SequentialFeatureSelector(
        ridge, n_features_to_select=steps, cv=settings["folds"], scoring="neg_mean_squared_error"
    )
    with clock.scaled(scale):
        model.fit(x.T, y)
    return {"columns": np.flatnonzero(model.get_support()).tolist(), **told}


def mlxtend_forward(x, y, settings, clock):
    from mlxtend.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge

    x, steps, scale, told = whole_or_part(x, settings)
    ridge = Ridge(alpha=settings["lambda"], fit_intercept=False)
    model = SequentialFeatureSelector(
        ridge, k_features=steps, forward=True, cv=settings["folds"], scoring="neg_mean_squared_error"
    )
    with clock.scaled(scale):
        model.fit(x.T, y)
    return {"columns": [int(j) for j in model.k_feature_idx_], **told}


def some_of(lambdas, settings):
    """The penalties that are measured, the factor to all of them, and what to say of it."""
    count = min(settings.get("part", len(lambdas)), len(lambdas))
    used = lambdas[np.linspace(0, len(lambdas) - 1, count).astype(int)]
    return used, len(lambdas) / count, {"part": None if count == len(lambdas) else f"{count} of {len(lambdas)} λ"}


def grid_search(columns, y, settings, clock):
    """Penalties with their pooled losses by scikit-learn's grid search."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, PredefinedSplit

    used, scale, told = some_of(grid(settings), settings)
    folds = fold_of_row(len(y), settings["folds"])
    search = GridSearchCV(
        Ridge(fit_intercept=False), {"alpha": used}, cv=PredefinedSplit(folds), scoring="neg_mean_squared_error", refit=False
    )
    with clock.scaled(scale):
        search.fit(columns.T, y)
    of_fold = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(settings["folds"])])
    pooled = -(np.bincount(folds) @ of_fold) / len(y)
    return {"curve": [[l, c] for l, c in zip(used, pooled)], **told}


def sklearn_penalties(x, y, settings, clock):
    return grid_search(x, y, settings, clock)


def sklearn_elm(x, y, settings, clock):
    bias = np.array([unit["bias"] for unit in settings["units"]])
    hidden = np.tanh(np.array([unit["weights"] for unit in settings["units"]]) @ x + bias[:, None])
    return grid_search(hidden, y, settings, clock)


def rlscore_penalties(x, y, settings, clock):
    from rlscore.learner.rls import KfoldRLS
    from rlscore.measure import sqerror

    used, scale, told = some_of(grid(settings), settings)
    of_row = fold_of_row(len(y), settings["folds"])
    folds = [np.flatnonzero(of_row == k).tolist() for k in range(settings["folds"])]
    with clock.scaled(scale):
        found = KfoldRLS(x.T, y, folds, regparams=list(used), measure=sqerror, bias=0.0)
    return {"curve": [[l, float(c)] for l, c in zip(used, found.cv_performances)], **told}


def hsic_lasso(x, y, settings, clock):
    from pyHSICLasso import HSICLasso

    model = HSICLasso()
    model.input(x.T, y, featname=[str(j) for j in range(len(x))])
    with clock:
        model.regression(settings["steps"], B=0, n_jobs=1)
    return {"columns": [int(j) for j in model.get_index()]}


def reservoirpy(x, y, settings, clock):
    """Nodes of its own, and a readout trained anew for every penalty and fold."""
    import reservoirpy
    from reservoirpy.nodes import Reservoir, Ridge

    getattr(reservoirpy, "verbosity", lambda level: None)(0)
    used, scale, told = some_of(grid(settings), settings)
    of_row = fold_of_row(len(y), settings["folds"])
    node = Reservoir(settings["nodes"], lr=settings["leak_rate"], sr=0.9, seed=0)
    with clock:
        states = node.run(np.ascontiguousarray(x.T))
    loss = np.zeros(len(used))
    with clock.scaled(scale):
        for i, penalty in enumerate(used):
            for k in range(settings["folds"]):
                held = of_row == k
                readout = Ridge(ridge=float(penalty), fit_bias=False)
                readout.fit(states[~held], y[~held, None])
                loss[i] += ((readout.run(states[held])[:, 0] - y[held]) ** 2).sum() / len(y)
    return {"own_score": loss.min(), **told}


def mlxtend_exhaustive(x, y, settings, clock):
    from mlxtend.feature_selection import ExhaustiveFeatureSelector
    from sklearn.linear_model import Ridge

    n, columns = len(x), settings.get("part", len(x))
    model = ExhaustiveFeatureSelector(
        Ridge(alpha=settings["lambda"], fit_intercept=False),
        min_features=1,
        max_features=columns,
        cv=settings["folds"],
        scoring="neg_mean_squared_error",
        print_progress=False,
    )
    with clock.scaled((2**n - 1) / (2**columns - 1)):
        model.fit(x[:columns].T, y)
    part = None if columns == n else f"{2**columns - 1} of {2**n - 1} subsets, of few columns"
    return {"columns": [int(j) for j in model.best_idx_], "part": part}
