"""A random forest on the counties: its mean absolute error where rows are held out, and where counties are.

Made with scikit-learn 1.9.1; what it prints is in `counties_rows.txt`.
"""

import pathlib

import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

table = pd.read_csv(pathlib.Path(__file__).parent.parent / "data" / "counties.csv")
columns = pd.get_dummies(table.drop(columns=["county", "year", "crimes"]))
forest = RandomForestRegressor(300, random_state=0)
for name, groups, folds in [
    ("rows", None, KFold(5, shuffle=True, random_state=0)),
    ("counties", table["county"], GroupKFold(5)),
]:
    losses = -cross_val_score(
        forest, columns, table["crimes"], groups=groups, cv=folds, scoring="neg_mean_absolute_error"
    )
    print(f"{name:<8} {losses.mean():.3f}")
