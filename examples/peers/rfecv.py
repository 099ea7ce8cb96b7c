"""scikit-learn's RFECV: drops the column of smallest weight, again and again; five folds say how many stay.

python rfecv.py ../data/diabetes_train.csv ../data/diabetes_test.csv > rfecv.txt
"""
import sys

import pandas as pd
from sklearn.metrics import mean_squared_error

train, test = (pd.read_csv(name) for name in sys.argv[1:])
x, y = train.drop(columns="target"), train["target"]

# ANCHOR: select
import numpy as np
from sklearn.feature_selection import RFECV
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

folds = KFold(5, shuffle=True, random_state=0)
ridge = make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-3, 3, 13)))
model = RFECV(
    ridge, cv=folds, scoring="neg_mean_squared_error",
    importance_getter="named_steps.ridgecv.coef_",
).fit(x, y)
# ANCHOR_END: select
print(*x.columns[model.support_])
print(f"cross-validated {-model.cv_results_['mean_test_score'].max():.6f}")
print(f"test {mean_squared_error(test['target'], model.predict(test.drop(columns='target'))):.6f}")
