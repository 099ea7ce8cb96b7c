"""Nested losses on wide tables: vaglio's cross-validated search beside scikit-learn's ways, on the same outer folds.

python benches/honest.py --vaglio target/release/vaglio --data ../shared/data [--only colon] [--way race] [--folds 5] [--out FILE]

Needs scikit-learn, pandas and pyarrow. Columns are standardized inside every fold, by every way. Targets of several
classes are one output of -1 and 1 for each; the loss is the mean square over rows and outputs, of rows that nothing had
seen. Errors are of the mean over rows; the last column is the difference to the best way over its standard error, of the
same rows. `claimed` is what the way itself says of its result: the cross-validated loss that it chose by.
"""
import argparse
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_selection import RFECV, SelectKBest, f_classif, f_regression
from sklearn.linear_model import ElasticNetCV, LassoCV, MultiTaskElasticNetCV, MultiTaskLassoCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

SETS = {"colon": "colon_alon", "lymphoma": "lymphoma", "TOX-171": "tox_171", "TRIM32": "trim32_rat", "PIE10P": "pie10p"}
ALPHAS = np.logspace(-2, 4, 13)
GRID = "{from: 0.01, to: 10000.0, points: 13}"
WAYS = {
    "vaglio": f"{{grid: {GRID}}}}}\nsearch: {{kind: greedy}}",
    "vaglio, race": f"{{grid: {GRID}}}}}\ntune: {{search: [greedy, all]}}",
    "vaglio, one_se": f"{{grid: {GRID}}}}}\nsearch: {{kind: greedy, choose: {{rule: one_se}}}}",
    "vaglio, all columns": f"{{grid: {GRID}}}}}\nsearch: {{kind: all}}",
    "lowest score": f"{{grid: {GRID}, per: subset}}}}\nsearch: {{kind: greedy, choose: best}}",
}


def synthetic(seed, rows, columns, true, correlation, noise):
    """Normal columns with one common part; the first `true` have effects."""
    random = np.random.default_rng(seed)
    x = np.sqrt(1 - correlation) * random.normal(size=(rows, columns))
    x += np.sqrt(correlation) * random.normal(size=(rows, 1))
    effects = random.choice([-1.0, 1.0], true) * random.uniform(0.5, 1.5, true)
    y = x[:, :true] @ effects + noise * random.normal(size=rows)
    return x, y / np.std(y), None


def tables(data):
    """Names with columns, targets (rows x outputs) and labels, which are None for numbers."""
    for name, file in SETS.items():
        path = Path(data) / f"{file}.parquet"
        if not path.exists():
            print(f"{name} is left out: {path} is not there")
            continue
        frame = pd.read_parquet(path)
        x, target = frame.drop(columns="target").to_numpy(float), frame["target"].to_numpy()
        if name == "TRIM32":
            yield name, (x, (target - target.mean()) / target.std(), None)
        else:
            labels = np.unique(target)
            kinds = labels[1:] if len(labels) == 2 else labels
            yield name, (x, np.where(target[:, None] == kinds, 1.0, -1.0), target)
    yield "5 of 1000", synthetic(1, 100, 1000, 5, 0.0, 1.0)
    yield "20 of 1000, alike", synthetic(2, 120, 1000, 20, 0.4, 1.0)
    yield "0 of 1000", synthetic(3, 100, 1000, 0, 0.0, 1.0)


def ways(y, labels):
    """scikit-learn's estimators, each with columns standardized and five inner folds."""
    inner = KFold(5, shuffle=True, random_state=1)
    several = y.ndim == 2 and y.shape[1] > 1
    score = f_regression if labels is None or not several else f_classif

    def scored(x, target):
        return score(x, target if score is f_regression else target.argmax(1))

    def pipe(step):
        return Pipeline([("scale", StandardScaler()), ("fit", step)])

    lasso = MultiTaskLassoCV if several else LassoCV
    yield "LassoCV", pipe(lasso(cv=inner, max_iter=5000)), lambda m: (np.min(np.mean(m["fit"].mse_path_, -1)), count(m["fit"].coef_))
    elastic = MultiTaskElasticNetCV if several else ElasticNetCV
    # Of several outputs a path takes minutes.
    path = {"l1_ratio": 0.5, "alphas": 20} if several else {"l1_ratio": [0.1, 0.5, 0.9]}
    yield (
        "ElasticNetCV",
        pipe(elastic(cv=inner, max_iter=2000, **path)),
        lambda m: (np.min(np.mean(m["fit"].mse_path_, -1)), count(m["fit"].coef_)),
    )
    yield "RidgeCV", pipe(RidgeCV(alphas=ALPHAS)), lambda m: (-m["fit"].best_score_, count(m["fit"].coef_))
    rfe = RFECV(RidgeCV(alphas=ALPHAS), step=0.1, cv=inner, scoring="neg_mean_squared_error")
    yield "RFECV", pipe(rfe), lambda m: (-np.max(m["fit"].cv_results_["mean_test_score"]), m["fit"].n_features_)
    best = Pipeline([("scale", StandardScaler()), ("keep", SelectKBest(scored)), ("fit", RidgeCV(alphas=ALPHAS))])
    sizes = {"keep__k": [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 500, "all"]}
    yield (
        "SelectKBest",
        GridSearchCV(best, sizes, cv=inner, scoring="neg_mean_squared_error"),
        lambda m: (-m.best_score_, int(m.best_estimator_["keep"].get_support().sum())),
    )


def count(coefficients):
    return int(np.any(np.atleast_2d(coefficients) != 0, axis=0).sum())


def vaglio(program, folder, way, x, y, labels, training, held):
    """Predictions of the rows held out, what the run claims, and the number of columns."""
    names = [f"x{j}" for j in range(x.shape[1])]
    target = labels if labels is not None else y
    for part, rows in (("train", training), ("test", held)):
        frame = pd.DataFrame(x[rows], columns=names)
        frame["y"] = [str(v) for v in target[rows]] if labels is not None else target[rows]
        frame.to_parquet(folder / f"{part}.parquet")
    task = "regression" if labels is None else ("binary" if len(np.unique(labels)) == 2 else "multiclass")
    positive = f", positive: '{np.unique(labels)[1]}'" if task == "binary" else ""
    (folder / "p.yaml").write_text(
        f"version: 1\nseed: 1\ndata: {{train: train.parquet, target: y, task: {task}{positive}}}\n"
        f"preprocess: [standardize]\nlearner: {{kind: rls, lambda: {WAYS[way]}\n"
    )
    subprocess.run([program, "run", folder / "p.yaml", "--out", folder / "o", "--quiet"], check=True)
    record = json.loads((folder / "o" / "selection.json").read_text())
    model, test = folder / "o" / "model.json", folder / "test.parquet"
    out = folder / "out.csv"
    subprocess.run([program, "predict", "--model", model, "--data", test, "--out", out], check=True)
    predicted = pd.read_csv(out)
    predicted = predicted[[c for c in predicted.columns if c != "label"]].to_numpy(float)
    if predicted.shape[1] > 1:
        # The classes stand in the order of their names as text.
        predicted = predicted[:, [record["data"]["classes"].index(str(label)) for label in np.unique(labels)]]
    chosen = record["chosen"]
    return predicted, chosen["cross_validated"] or record["score"], chosen["size"]


def losses(arguments, x, y, labels):
    """Of each way: squared errors of all rows, claims, sizes and seconds of the outer folds."""
    split = StratifiedKFold if labels is not None else KFold
    outer = list(split(arguments.folds, shuffle=True, random_state=0).split(x, labels))
    found = {}
    targets = y.reshape(len(y), -1)

    def keep(name, held, predicted, claimed, size, start):
        rows, claims, sizes, seconds = found.setdefault(name, (np.zeros(len(y)), [], [], []))
        rows[held] = ((predicted.reshape(len(held), -1) - targets[held]) ** 2).mean(1)
        claims.append(claimed)
        sizes.append(size)
        seconds.append(time.time() - start)

    for training, held in outer:
        mean = np.tile(targets[training].mean(0), (len(held), 1))
        keep("no columns", held, mean, float("nan"), 0, time.time())
        with tempfile.TemporaryDirectory() as folder:
            for way in filter(arguments.is_asked, WAYS):
                start = time.time()
                keep(way, held, *vaglio(arguments.vaglio, Path(folder), way, x, y, labels, training, held), start)
        for name, estimator, told in ways(y, labels):
            if not arguments.is_asked(name):
                continue
            start = time.time()
            flat = targets[training] if targets.shape[1] > 1 else targets[training, 0]
            estimator.fit(x[training], flat)
            keep(name, held, estimator.predict(x[held]), *told(estimator), start)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", default="target/release/vaglio")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--only", default="")
    parser.add_argument("--way", action="append", help="a part of the name of a way; all by default")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    arguments.is_asked = lambda name: not arguments.way or any(part in name for part in arguments.way)
    warnings.filterwarnings("ignore")
    lines = ["| data | way | claimed | nested | ± | columns | seconds a fold | above the best, in standard errors |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|---:|")
    print("\n".join(lines), flush=True)
    for name, (x, y, labels) in tables(arguments.data):
        if arguments.only.lower() not in name.lower():
            continue
        found = losses(arguments, x, y, labels)
        best = min((way for way in found if way != "no columns"), key=lambda way: found[way][0].mean())
        for way, (rows, claims, sizes, seconds) in found.items():
            error = rows.std(ddof=1) / np.sqrt(len(rows))
            apart = rows - found[best][0]
            spread = apart.std(ddof=1) / np.sqrt(len(rows))
            above = apart.mean() / spread if spread > 0 else 0.0
            lines.append(
                f"| {name} | {way} | {np.mean(claims):.3f} | {rows.mean():.3f} | {error:.3f} "
                f"| {np.mean(sizes):.1f} | {np.mean(seconds):.1f} | {above:.1f} |"
            )
            print(lines[-1], flush=True)
    if arguments.out:
        Path(arguments.out).write_text("\n".join(lines) + "\n")


main()
