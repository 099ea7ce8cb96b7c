"""scikit-learn's SequentialFeatureSelector: forward selection by ten folds, every subset refitted.

python sequential_feature_selector.py ../data/diabetes_train.csv ../data/diabetes_test.csv > sequential_feature_selector.txt
"""
import sys
import time

import pandas as pd
from sklearn.metrics import mean_squared_error

train, test = (pd.read_csv(name) for name in sys.argv[1:])
x, y = train.drop(columns="target"), train["target"]

start = time.perf_counter()
# ANCHOR: select
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

model = make_pipeline(StandardScaler(), Ridge(alpha=10.0))
search = SequentialFeatureSelector(
    model, n_features_to_select=5, cv=KFold(10), scoring="neg_mean_squared_error"
)
chosen = search.fit(x, y).get_feature_names_out()
model.fit(x[chosen], y)
# ANCHOR_END: select
print(f"{time.perf_counter() - start:.2f} s", file=sys.stderr)
print(*chosen)
print(f"test {mean_squared_error(test['target'], model.predict(test[chosen])):.6f}")
