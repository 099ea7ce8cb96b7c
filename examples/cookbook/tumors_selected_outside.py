"""Twenty genes are selected by their F statistic, outside of the folds and inside: with the labels, then with shuffled ones.

Made with scikit-learn 1.9.1; what it prints is in `tumors_selected_outside.txt`.
"""

import pathlib

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = pathlib.Path(__file__).parent.parent / "data"
table = pd.read_csv(data / "tumors.csv.gz").query("part == 'train'")
genes, tumor = table.drop(columns=["part", "tumor"]).to_numpy(), table["tumor"].to_numpy()
folds = StratifiedKFold(5, shuffle=True, random_state=0)
model = make_pipeline(StandardScaler(), RidgeClassifier(10))


def outside(labels):
    best = SelectKBest(f_classif, k=20).fit_transform(genes, labels)
    return 1 - cross_val_score(model, best, labels, cv=folds).mean()


def inside(labels):
    return 1 - cross_val_score(make_pipeline(SelectKBest(f_classif, k=20), model), genes, labels, cv=folds).mean()


random = np.random.default_rng(0)
shuffled = [random.permutation(tumor) for _ in range(50)]
print(f"labels    outside {outside(tumor):.3f}  inside {inside(tumor):.3f}")
print(f"shuffled  outside {np.mean([*map(outside, shuffled)]):.3f}  inside {np.mean([*map(inside, shuffled)]):.3f}")
