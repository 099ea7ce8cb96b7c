"""Exact, fast feature selection for regularized least squares.

Estimators such as `LooSelector` follow scikit-learn's interface; `run` runs a whole pipeline, like the program.
Dependencies are imported on first use.

>>> import numpy, vaglio
>>> X = numpy.random.default_rng(0).normal(size=(60, 5))
>>> vaglio.LooSelector(max_features=2, lambda_=1.0).fit(X, X[:, 3] - X[:, 1]).get_support(indices=True)
array([1, 3])
"""

import importlib

from vaglio._errors import DataError, NumericalError, SettingError, VaglioError
from vaglio._vaglio import __version__

_LAZY = {
    "_estimators": ["Selector", "SelectorClassifier"],
    "_short": [
        "AllRidge",
        "AllRidgeClassifier",
        "BestSubset",
        "BestSubsetClassifier",
        "FloatingSelector",
        "FloatingSelectorClassifier",
        "LooSelector",
        "LooSelectorClassifier",
        "NhsicLars",
        "NhsicLarsClassifier",
    ],
    "_pipeline": ["Pipeline", "compare", "explain", "export", "init", "list_parts", "load", "plan", "run", "schema"],
}
_MODULES = ["criterion", "distributed", "learner", "loss", "maps", "search", "splits", "target_maps", "testing"]
_HOME = {name: module for module, names in _LAZY.items() for name in names}

__all__ = ["DataError", "NumericalError", "SettingError", "VaglioError", "__version__", *_HOME, *_MODULES]


def __getattr__(name):
    if name in _HOME:
        value = getattr(importlib.import_module(f"vaglio.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"vaglio.{name}")
    else:
        raise AttributeError(f"module 'vaglio' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
