# %% [markdown]
# Five minutes with vaglio. Run from the folder that holds `examples`; the book shows these cells.

# %%
# ANCHOR: run
import pandas as pd

import vaglio

patients = pd.read_csv("examples/data/diabetes.csv")
pipeline = vaglio.init(patients, "target")
print(*pipeline.notes, sep="\n")
result = pipeline.run()
print(result)
# ANCHOR_END: run

# %%
# ANCHOR: result
for column in result.selection.selected:
    print(f"{column.name:4} weight {column.weight:8.3f}, score without it {column.without:.0f}")
print(f"test rows: R² {result.selection.test.r2:.2f}")
print(result.model.predict(patients.head(3)))
result.report(open=False)  # opens in a browser without `open=False`; in a notebook `result` alone shows it
# ANCHOR_END: result

# %%
# ANCHOR: estimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

X, y = patients.drop(columns="target"), patients["target"]
selector = vaglio.LooSelector(max_features=6).fit(X, y)
print(*selector.get_feature_names_out())
print(cross_val_score(make_pipeline(vaglio.LooSelector(6), LinearRegression()), X, y).round(2))
# ANCHOR_END: estimator

# %%
# ANCHOR: parts
best = vaglio.Selector(
    criterion=vaglio.criterion.Kfold(folds=10),
    search=vaglio.search.Exhaustive(max_features=4),
    preprocess=[vaglio.maps.Standardize()],
    lambda_=[0.1, 1.0, 10.0, 100.0],
    choose="one_se",
).fit(X, y)
print(*best.selected_, best.best_lambda_)
# ANCHOR_END: parts


# %%
# ANCHOR: criterion
def median_error(X, y):
    """The median of absolute errors of least squares; lower is better."""
    import numpy as np

    X = np.column_stack([X, np.ones(len(y))])
    return float(np.median(np.abs(y - X @ np.linalg.lstsq(X, y, rcond=None)[0])))


vaglio.testing.check_criterion(median_error)
print(*vaglio.Selector(median_error, max_features=3, choose="last").fit(X, y).selected_)
# ANCHOR_END: criterion
