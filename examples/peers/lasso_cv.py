"""scikit-learn's LassoCV: the penalty by five folds; the columns whose weight is not 0.

python lasso_cv.py ../data/diabetes_train.csv ../data/diabetes_test.csv > lasso_cv.txt
"""
import sys

import pandas as pd
from sklearn.metrics import mean_squared_error

train, test = (pd.read_csv(name) for name in sys.argv[1:])
x, y = train.drop(columns="target"), train["target"]

# ANCHOR: select
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

folds = KFold(5, shuffle=True, random_state=0)
model = make_pipeline(StandardScaler(), LassoCV(cv=folds)).fit(x, y)
# ANCHOR_END: select
print(*x.columns[model[-1].coef_ != 0])
print(f"cross-validated {model[-1].mse_path_.mean(axis=1).min():.6f}")
print(f"test {mean_squared_error(test['target'], model.predict(test.drop(columns='target'))):.6f}")
