"""Test functions for criteria and losses written in Python."""

import numpy as np


def check_criterion(function, *, classes=None, rows=40, columns=5, seed=0):
    """Check that a criterion keeps the laws of its role.

    Its score is a number or +∞ that depends on the subset only, not on earlier calls or the order of columns; it does
    not change its arguments; and a search with it ends.

    Parameters
    ----------
    function : callable
        A `criterion` of `vaglio.Selector`.
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
    assert _close(turned, score), f"{score} of all columns, and {turned} of the same in another order"
    kind = Selector if classes is None else SelectorClassifier
    fitted = kind(function, max_features=min(2, columns), choose="last", lambda_=1.0).fit(X, y)
    entry = fitted.path_[0]
    expected = _scored(function, X[:, entry["subset"]], y)
    assert entry["score"] == expected, f"the search says {entry['score']} of {entry['subset']}, and it is {expected}"


def _close(one, other):
    return one == other or abs(one - other) <= 1e-8 * max(abs(one), abs(other))


def _scored(function, X, y):
    given = X.copy(), y.copy()
    score = float(function(*given))
    assert not np.isnan(score), f"the score of {X.shape[1]} columns is not a number"
    assert score > -np.inf, f"the score of {X.shape[1]} columns is −∞"
    assert (given[0] == X).all() and (given[1] == y).all(), "the criterion changed what it was given"
    return score


def check_loss(function, *, classes=None, rows=60, seed=0):
    """Check that a loss keeps the laws of its role.

    It is a number, or one per row. It does not depend on the order of rows; a row of weight 2 counts like the row given
    twice; no predictions are better than the targets themselves; it does not change its arguments; and a search with it
    gives the loss of held-out predictions.

    Parameters
    ----------
    function : callable
        A `loss` of `vaglio.Selector`.
    classes : sequence, optional
        The classes of the targets that it is tried on; numbers without any.
    rows, seed : int
        Of the data that it is tried on.

    Raises
    ------
    AssertionError
        With the law that it breaks.

    Examples
    --------
    >>> import numpy as np
    >>> check_loss(lambda y, p: np.abs(y - p) ** 1.5)
    """
    from vaglio import Selector, SelectorClassifier
    from vaglio._callbacks import rater

    random = np.random.default_rng(seed)
    outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    y = random.normal(size=(1, rows))
    if classes is not None:
        place = np.argsort(np.argsort(y[0])) * len(classes) // rows
        y = np.where(place == np.arange(len(classes))[:, None], 1.0, -1.0)[-outputs:]
    p = y + 0.8 * random.normal(size=y.shape)
    rate = rater(function, classes)

    def rated(y, p, weights=None):
        weights = None if weights is None else weights[None, :]
        given = y.copy(), p.copy(), None if weights is None else weights.copy()
        loss = rate(*given, [])
        assert not np.isnan(loss), "the loss is not a number"
        assert (given[0] == y).all() and (given[1] == p).all(), "the loss changed what it was given"
        return loss

    def alike(one, other, what):
        assert _close(one, other), f"{one}, and {other} {what}"

    loss, order = rated(y, p), random.permutation(rows)
    assert rated(y, p) == loss, "another loss of the same rows at the second time"
    alike(loss, rated(y[:, order], p[:, order]), "of the rows in another order")
    weights = 1 + np.arange(rows) % 3
    every = np.repeat(np.arange(rows), weights)
    alike(rated(y[:, every], p[:, every]), rated(y, p, weights.astype(float)), "of weights from 1 to 3")
    if classes is None:
        for shift in (0.01, -0.3, 2.0, -20.0):
            worse = rated(y, y + shift)
            assert worse >= rated(y, y) - 1e-12, f"errors of {shift} everywhere have a lower loss than none"
    kind, target = (Selector, y[0]) if classes is None else (SelectorClassifier, np.asarray(classes)[place])
    X, train, held_out = p[:1].T, order[: rows // 2], order[rows // 2 :]
    settings = {"max_features": 1, "choose": "last", "lambda_": 1.0}
    searched = kind("kfold", loss=function, cv=[(train, held_out)], **settings).fit(X, target).path_[-1]["score"]
    model = kind(**settings).fit(X[train], target[train])
    predictions = (model.predict if classes is None else model.decision_function)(X[held_out])
    alike(rated(y[:, held_out], predictions.reshape(rows - len(train), -1).T), searched, "by the search")
