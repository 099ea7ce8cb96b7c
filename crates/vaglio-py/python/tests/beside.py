"""vaglio and selectors of scikit-learn on the same rows: seconds, columns, and the error of rows that none of them saw.

python beside.py [FILE.csv TARGET]; without arguments a table of 400 rows and 60 columns is drawn, of which five count.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import LassoCV, Ridge
from sklearn.model_selection import KFold
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


def selectors():
    """What is compared, by name."""
    ridge, folds = Ridge(alpha=10.0), KFold(5)
    return {
        "vaglio.LooSelector()": vaglio.LooSelector(),
        "vaglio.FloatingSelector()": vaglio.FloatingSelector(),
        "SequentialFeatureSelector(Ridge(), tol=1e-3, cv=5)": SequentialFeatureSelector(
            ridge, tol=1e-3, n_features_to_select="auto", cv=folds
        ),
        "RFECV(Ridge(), cv=5)": RFECV(ridge, cv=folds),
        "SelectFromModel(LassoCV(cv=5))": SelectFromModel(LassoCV(cv=folds)),
    }


def main(arguments):
    """Print a row for each selector, by five outer folds."""
    if arguments:
        table = pd.read_csv(arguments[0])
        X, y = table.drop(columns=arguments[1]), table[arguments[1]]
    else:
        X, y = drawn()
    print("| selector | seconds | columns | error |\n|---|---|---|---|")
    for name, selector in selectors().items():
        seconds, counts, errors = 0.0, [], []
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model = make_pipeline(StandardScaler(), selector, Ridge(alpha=10.0))
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X.iloc[train], y.iloc[train])
            seconds += time.perf_counter() - start
            counts.append(model[-2].get_support().sum())
            errors.append(np.mean((model.predict(X.iloc[test]) - y.iloc[test]) ** 2))
        print(f"| `{name}` | {seconds / 5:.2f} | {np.mean(counts):.0f} | {np.mean(errors):.3g} |")


if __name__ == "__main__":
    main(sys.argv[1:])
