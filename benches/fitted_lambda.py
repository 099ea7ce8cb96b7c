"""All columns at a fitted grid of lambda beside scikit-learn's RidgeCV, on the same outer folds.

python benches/fitted_lambda.py --vaglio target/release/vaglio --data ../shared/data [--only colon_alon] [--rows 400]

Needs scikit-learn, pandas and pyarrow. Columns are standardized inside every fold. RidgeCV has four values for each power of
ten from 1e-6 to 1e8. Printed are the mean squared errors of rows that nothing had seen, or the error rates of classes, their
difference with its standard error of the same rows, and the lambda of each fold.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

ALPHAS = np.logspace(-6, 8, 57)
FOLDS = 5
CLASSES = {"tox_171", "lymphoma"}
SETS = ["auto_price", "servo", "wpbc", "bank32nh", "bank8fm", "elevators", "ailerons", "abalone", "delta_ailerons"]
SETS += ["german_numer", "australian", "colon_alon", "tox_171", "lymphoma"]
PIPELINE = "version: 1\ndata: {train: train.parquet, target: target}\npreprocess: [standardize]\nsearch: {kind: all}\n"


def spectra(random):
    """215 rows of 100 channels that are smooth, with a base line of each row."""
    at = np.linspace(0, 1, 100)
    parts = random.normal(size=(215, 6))
    peaks = np.stack([np.exp(-((at - center) ** 2) / 0.02) for center in np.linspace(0.1, 0.9, 6)])
    base = 0.4 * random.normal(size=(215, 1)) + 0.1 * random.normal(size=(215, 1)) * at
    x = 3 + 0.3 * parts @ peaks + base + 1e-4 * random.normal(size=(215, 100))
    return x, 5 * parts[:, 2] - 3 * parts[:, 4] + 0.3 * parts[:, 2] * parts[:, 4] + 0.3 * random.normal(size=215)


def noise(random):
    """281 rows of 376 columns that tell next to nothing."""
    x = random.normal(size=(281, 30)) @ random.normal(size=(30, 376)) + random.normal(size=(281, 376))
    return x, 0.02 * x[:, :3].sum(1) + random.normal(size=281)


def read(folder, name, rows, random):
    table = pd.read_parquet(folder / f"{name}.parquet")
    if len(table) > rows:
        table = table.iloc[random.permutation(len(table))[:rows]]
    target = table.pop("target")
    x = pd.get_dummies(table).to_numpy(float)
    return x[:, x.std(0) > 0], ("c" + target.astype(str) if name in CLASSES else target.astype(float)).to_numpy()


def of_vaglio(program, folder, x, y, training):
    names = [f"x{k}" for k in range(x.shape[1])]
    for name, rows in [("train", training), ("test", ~training)]:
        pd.DataFrame(x[rows], columns=names).assign(target=y[rows]).to_parquet(folder / f"{name}.parquet")
    (folder / "pipeline.yaml").write_text(PIPELINE)
    run = lambda *words: subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True)
    run("run", "pipeline.yaml", "--out", "out")
    run("predict", "--model", "out/model.json", "--data", "test.parquet", "--out", "predicted.csv")
    chosen = json.loads((folder / "out/selection.json").read_text())["chosen"]
    return pd.read_csv(folder / "predicted.csv"), chosen["lambda"]


def losses(program, folder, x, y, training):
    """Of each row held out by both, and the lambda of vaglio."""
    predicted, chosen = of_vaglio(program, folder, x, y, training)
    scaler = StandardScaler().fit(x[training])
    inside, outside, target = scaler.transform(x[training]), scaler.transform(x[~training]), y[~training]
    if isinstance(y[0], str):
        levels = np.unique(y)
        coded = np.where(y[training][:, None] == levels, 1.0, -1.0)
        other = levels[RidgeCV(ALPHAS).fit(inside, coded).predict(outside).argmax(1)]
        own = next(c for c in predicted.columns[::-1] if set(predicted[c].astype(str)) <= set(levels))
        return (predicted[own].astype(str) != target) * 1.0, (other != target) * 1.0, chosen
    other = RidgeCV(ALPHAS).fit(inside, y[training]).predict(outside)
    return (predicted.iloc[:, 0].to_numpy() - target) ** 2, (other - target) ** 2, chosen


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--vaglio", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--only")
    options.add_argument("--rows", type=int, default=400)
    options = options.parse_args()
    program = str(options.vaglio.resolve())
    for name in [options.only] if options.only else ["spectra", "noise", *SETS]:
        random = np.random.default_rng(7)
        made = {"spectra": spectra, "noise": noise}.get(name)
        x, y = made(random) if made else read(options.data, name, options.rows, random)
        of_row = random.permutation(len(y)) % FOLDS
        with tempfile.TemporaryDirectory() as folder:
            folds = [losses(program, Path(folder), x, y, of_row != fold) for fold in range(FOLDS)]
        own, other = (np.concatenate([np.asarray(fold[k]) for fold in folds]) for k in (0, 1))
        error = (own - other).std(ddof=1) / np.sqrt(len(own))
        chosen = " ".join(f"{fold[2]:.3g}" for fold in folds)
        print(f"{name:15} {x.shape[0]} x {x.shape[1]}: {own.mean():.5g}, RidgeCV {other.mean():.5g}, "
              f"difference {(own - other).mean():.3g} ± {error:.3g}; lambda {chosen}", flush=True)


if __name__ == "__main__":
    main()
