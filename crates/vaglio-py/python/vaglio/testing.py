"""Laws that criteria written in Python keep, as functions for tests."""

import numpy as np


def check_criterion(function, *, classes=None, rows=40, columns=5, seed=0):
    """Check that a criterion keeps the laws of its role.

    Its score is a number or +∞, the same for the same subset, whatever was scored before and in whichever order columns
    stand; what it is given stays as it was; and a search with it ends.

    Parameters
    ----------
    function : callable
        As `vaglio.Selector` takes it for `criterion`.
    classes : sequence, optional
        The classes of the targets that it is tried on; numbers without any.
    rows, columns, seed : int
        Of the data that it is tried on.

    Raises
    ------
    AssertionError
        With the law that it breaks.

    Examples
    --------
    >>> import numpy as np
    >>> def error(X, y):
    ...     return float(np.mean((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2)) if X.shape[1] else float(np.mean(y**2))
    >>> check_criterion(error)
    """
    from vaglio import Selector, SelectorClassifier

    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    y = X[:, 0] - X[:, -1] + 0.1 * random.normal(size=rows)
    if classes is not None:
        y = np.asarray(classes)[np.argsort(np.argsort(y)) * len(classes) // rows]
    subsets = [[], [0], [columns - 1, 0], list(range(columns))]
    first = [_scored(function, X[:, subset], y) for subset in subsets]
    for subset, score in zip(reversed(subsets), reversed(first)):
        assert _scored(function, X[:, subset], y) == score, f"another score of the columns {subset} at the second time"
    turned, score = _scored(function, X[:, ::-1], y), first[-1]
    close = turned == score or abs(turned - score) <= 1e-8 * max(abs(turned), abs(score))
    assert close, f"{score} of all columns, and {turned} of the same in another order"
    kind = Selector if classes is None else SelectorClassifier
    fitted = kind(function, max_features=min(2, columns), choose="last", lambda_=1.0).fit(X, y)
    entry = fitted.path_[0]
    expected = _scored(function, X[:, entry["subset"]], y)
    assert entry["score"] == expected, f"the search says {entry['score']} of {entry['subset']}, and it is {expected}"


def _scored(function, X, y):
    given = X.copy(), y.copy()
    score = float(function(*given))
    assert not np.isnan(score), f"the score of {X.shape[1]} columns is not a number"
    assert score > -np.inf, f"the score of {X.shape[1]} columns is −∞"
    assert (given[0] == X).all() and (given[1] == y).all(), "the criterion changed what it was given"
    return score
