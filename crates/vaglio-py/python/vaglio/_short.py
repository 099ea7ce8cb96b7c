"""Selectors named after one method each."""

from vaglio._estimators import Selector, SelectorClassifier

_PARAMETERS = """
    Parameters
    ----------
    max_features : int, optional
        Maximum subset size.
    lambda_ : float, list, dict or "auto", optional
        The penalty, or those to choose from; by default a grid that is fitted to the data.
    loss, choose, preprocess, limits, random_state, threads, progress
        As in `{base}`, like the attributes.
"""


class _Short:
    """Settings common to the methods."""

    def __init__(
        self,
        max_features=None,
        *,
        lambda_=None,
        loss=None,
        choose=None,
        preprocess=(),
        limits=None,
        random_state=None,
        threads=0,
        progress=None,
    ):
        self.max_features = max_features
        self.lambda_ = lambda_
        self.loss = loss
        self.choose = choose
        self.preprocess = preprocess
        self.limits = limits
        self.random_state = random_state
        self.threads = threads
        self.progress = progress


class LooSelector(_Short, Selector):
    __doc__ = f"""Greedy forward selection by exact leave-one-out errors (greedy RLS), for numbers.
{_PARAMETERS.format(base="Selector")}
    Examples
    --------
    >>> import numpy as np
    >>> from vaglio import LooSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> LooSelector(2, lambda_=1.0).fit(X, X[:, 3] - X[:, 1]).get_support(indices=True)
    array([1, 3])
    """

    search = "greedy"


class LooSelectorClassifier(_Short, SelectorClassifier):
    __doc__ = f"""Greedy forward selection by exact leave-one-out errors (greedy RLS), for classes.
{_PARAMETERS.format(base="SelectorClassifier")}
    """

    search = "greedy"


class FloatingSelector(_Short, Selector):
    __doc__ = f"""Floating selection by exact leave-one-out errors, for numbers: columns made needless by others are
    removed again.
{_PARAMETERS.format(base="Selector")}
    """

    search = "floating"


class FloatingSelectorClassifier(_Short, SelectorClassifier):
    __doc__ = f"""Floating selection by exact leave-one-out errors, for classes.
{_PARAMETERS.format(base="SelectorClassifier")}
    """

    search = "floating"


class BestSubset(_Short, Selector):
    __doc__ = f"""The best subset of each size by exact leave-one-out errors, proven by bounds, for numbers.

    There are 2 to the number of columns subsets, but bounds exclude most: some 40 columns take seconds.
{_PARAMETERS.format(base="Selector")}
    """

    search = "exhaustive"


class BestSubsetClassifier(_Short, SelectorClassifier):
    __doc__ = f"""The best subset of each size by exact leave-one-out errors, proven by bounds, for classes.
{_PARAMETERS.format(base="SelectorClassifier")}
    """

    search = "exhaustive"


class NhsicLars(_Short, Selector):
    __doc__ = f"""HSIC lasso: columns that depend on the target and not on each other, linearly or not.

    Dependence is measured by the normalized HSIC; a ridge readout of the chosen columns predicts.
{_PARAMETERS.format(base="Selector")}
    """

    criterion = "nhsic"
    search = "lars"


class NhsicLarsClassifier(_Short, SelectorClassifier):
    __doc__ = f"""Like `NhsicLars`, for classes.
{_PARAMETERS.format(base="SelectorClassifier")}
    """

    criterion = "nhsic"
    search = "lars"


class _AllRidge:
    """Settings of ridge regression on all columns."""

    search = "all"

    def __init__(self, lambda_=None, *, loss=None, preprocess=(), threads=0, progress=None):
        self.lambda_ = lambda_
        self.loss = loss
        self.preprocess = preprocess
        self.threads = threads
        self.progress = progress


class AllRidge(_AllRidge, Selector):
    """Ridge regression on all columns, λ by leave-one-out errors, as ``RidgeCV``; `transform` keeps every column.

    Parameters
    ----------
    lambda_ : float, list, dict or "auto", optional
        The penalty, or those to choose from; by default a grid that is fitted to the data.
    loss, preprocess, threads, progress
        As in `Selector`, like the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeCV
    >>> from vaglio import AllRidge
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=50)
    >>> ours, theirs = AllRidge([0.1, 1.0, 10.0]).fit(X, y), RidgeCV([0.1, 1.0, 10.0]).fit(X, y)
    >>> ours.best_lambda_ == theirs.alpha_, bool(np.allclose(ours.predict(X), theirs.predict(X)))
    (True, True)
    """


class AllRidgeClassifier(_AllRidge, SelectorClassifier):
    """Like `AllRidge`, for classes.

    Parameters
    ----------
    lambda_ : float, list, dict or "auto", optional
        The penalty, or those to choose from; by default a grid that is fitted to the data.
    loss, preprocess, threads, progress
        As in `SelectorClassifier`, like the attributes.
    """
