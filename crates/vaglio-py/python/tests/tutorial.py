# %% [markdown]
# # Five minutes with vaglio
#
# A table that nobody described becomes a pipeline, and that a result with figures that no row was used for twice. Needed are
# `pip install vaglio[sklearn] pandas`, and the data of vaglio's examples.

# %%
import os
from pathlib import Path

# The folder that holds `examples`, from wherever this notebook was opened.
os.chdir(next(folder for folder in [Path.cwd(), *Path.cwd().parents] if (folder / "examples" / "data").is_dir()))

# %% [markdown]
# ## From a frame to a result
#
# `init` looks at types, missing cells, groups and rows to test on, and says what it decided.

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

# %% [markdown]
# `result.selection` holds what was found, `result.path` every size, and `result.model` predicts. In a notebook `result` alone
# shows its report.

# %%
# ANCHOR: result
for column in result.selection.selected:
    print(f"{column.name:4} weight {column.weight:8.3f}, score without it {column.without:.0f}")
print(f"test rows: R² {result.selection.test.r2:.2f}")
print(result.model.predict(patients.head(3)))
result.report(open=False)  # opens in a browser without `open=False`; in a notebook `result` alone shows it
# ANCHOR_END: result

# %%
result

# %% [markdown]
# ## Missing cells, text and dates
#
# Nothing has to be cleaned before: maps fill missing cells and make columns of text and dates, and are fitted on training rows only.

# %%
# ANCHOR: mixed
import numpy as np

random = np.random.default_rng(0)
visits = patients.assign(
    clinic=random.choice(["north", "south", "west"], len(patients)),
    visited=pd.date_range("2024-01-01", periods=len(patients)),
    bmi=patients.bmi.where(random.random(len(patients)) > 0.1),
)
visits["target"] += 40 * (visits.clinic == "south")
pipeline = vaglio.init(visits, "target")
print(*pipeline.notes, sep="\n")
print(*(column.name for column in pipeline.run().selection.selected))
# ANCHOR_END: mixed

# %% [markdown]
# ## Among the estimators of scikit-learn

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

# %% [markdown]
# ## A criterion and a loss of one's own


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


# %%
# ANCHOR: loss
def too_low(y, predictions):
    """A prediction that is too low costs three times as much as one that is too high, row by row."""
    return np.where(predictions < y, 3 * (y - predictions), predictions - y)


vaglio.testing.check_loss(too_low)
print(*vaglio.Selector("kfold", loss=too_low, max_features=3, lambda_=1.0).fit(X, y).selected_)
# ANCHOR_END: loss
