"""vaglio and other selectors on the same rows: lines, seconds, columns, and the error of rows that none of them saw.

python compare_selectors.py [FILE.csv TARGET]; without arguments a table of 400 rows and 60 columns is drawn, of which five count. Those of
mrmr_selection and Boruta are among them where they are installed.
"""

import inspect
import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import RFECV, SelectFromModel, SelectorMixin, SequentialFeatureSelector
from sklearn.linear_model import LassoCV, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vaglio


def drawn():
    """400 rows of 60 correlated columns; five count."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 60))
    X[:, 1:] += 0.7 * X[:, :-1]
    y = X[:, [3, 11, 27, 40, 59]] @ [2.0, -1.5, 1.0, 1.0, -0.5] + 2 * random.normal(size=400)
    return pd.DataFrame(X, columns=[f"x{index}" for index in range(60)]), pd.Series(y)


class Mrmr(SelectorMixin, BaseEstimator):
    def __init__(self, count=5):
        self.count = count

    def fit(self, X, y):
        from mrmr import mrmr_regression

        frame = pd.DataFrame(X, columns=range(X.shape[1]))
        self.chosen_ = mrmr_regression(frame, pd.Series(np.asarray(y)), K=self.count, show_progress=False, n_jobs=1)
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.isin(np.arange(self.n_features_in_), self.chosen_)


class Boruta(SelectorMixin, BaseEstimator):
    def fit(self, X, y):
        from boruta import BorutaPy

        forest = RandomForestRegressor(max_depth=5, n_jobs=2, random_state=0)
        self.mask_ = BorutaPy(forest, n_estimators="auto", random_state=0).fit(np.asarray(X), np.asarray(y)).support_
        return self

    def _get_support_mask(self):
        return self.mask_


def selectors():
    """Compared selectors by name, each with the lines of code that a pipeline needs besides its own line."""
    ridge, folds = Ridge(alpha=10.0), KFold(5)
    all_of_them = {
        "vaglio.LooSelector()": (vaglio.LooSelector(), 0),
        "vaglio.FloatingSelector()": (vaglio.FloatingSelector(), 0),
        "SequentialFeatureSelector(Ridge(), tol=1e-3, cv=5)": (
            SequentialFeatureSelector(ridge, tol=1e-3, n_features_to_select="auto", cv=folds),
            0,
        ),
        "RFECV(Ridge(), cv=5)": (RFECV(ridge, cv=folds), 0),
        "SelectFromModel(LassoCV(cv=5))": (SelectFromModel(LassoCV(cv=folds)), 0),
    }
    if is_there("mrmr"):
        all_of_them["mrmr_regression(K=5)"] = (Mrmr(), lines(Mrmr))
        sizes = GridSearchCV(make_pipeline(Mrmr(), Ridge(alpha=10.0)), {"mrmr__count": range(1, 16)}, cv=folds)
        all_of_them["mrmr_regression, K of 1 to 15 by GridSearchCV(cv=5)"] = (sizes, lines(Mrmr) + 1)
    if is_there("boruta"):
        all_of_them["BorutaPy(RandomForestRegressor())"] = (Boruta(), lines(Boruta))
    return all_of_them


def is_there(name):
    """Whether a package can be imported."""
    try:
        __import__(name)
    except ImportError as error:
        print(f"without {name}: {error}", file=sys.stderr)
        return False
    return True


def lines(of):
    """Lines of a class that are not blank."""
    return sum(bool(line.strip()) for line in inspect.getsource(of).splitlines())


def main(arguments):
    """Print a row for each selector, by five outer folds."""
    if arguments:
        table = pd.read_csv(arguments[0])
        X, y = table.drop(columns=arguments[1]), table[arguments[1]]
    else:
        X, y = drawn()
    print("| selector | lines | seconds | columns | error |\n|---|---|---|---|---|")
    for name, (selector, more) in selectors().items():
        seconds, counts, errors = 0.0, [], []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            is_whole = isinstance(selector, GridSearchCV)
            model = make_pipeline(StandardScaler(), *[selector] if is_whole else [selector, Ridge(alpha=10.0)])
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X.iloc[train], y.iloc[train])
            seconds += time.perf_counter() - start
            chosen = model[-1].best_estimator_[0] if is_whole else model[-2]
            counts.append(chosen.get_support().sum())
            errors.append(np.mean((model.predict(X.iloc[test]) - y.iloc[test]) ** 2))
        print(f"| `{name}` | {1 + more} | {seconds / 5:.2g} | {np.mean(counts):.0f} | {np.mean(errors):.3g} |")


if __name__ == "__main__":
    main(sys.argv[1:])
