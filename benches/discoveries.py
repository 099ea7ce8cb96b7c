"""False discoveries and power on tables whose true columns are known: vaglio's `choose: {fdr}` beside other packages.

python benches/discoveries.py --vaglio target/release/vaglio [--tables 20] [--only AR] [--way vaglio] [--out FILE]

Needs numpy, pandas and pyarrow; of scikit-learn, trexselector, ipss, knockpy and Boruta what is installed is tried. The tables
are those of `vaglio-papers fdr`, drawn by NumPy: ten columns of weight 0.5 and either sign of 1000, 200 rows, or five of
weight 1 of 5000, 100 rows, noise of variance 1. A copy of a column of the model counts as that column.
"""
import argparse
import contextlib
import importlib.util
import io
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

RATE = 0.1
SIZES = [(200, 1000, 10, 0.5), (100, 5000, 5, 1.0)]
KINDS = ["global null", "independent", "AR(0.9)", "blocks with copies", "heavy tails"]


def table(kind, rows, columns, signals, weight, seed):
    """Columns, targets, and the set of columns that count as true, with how many the model has."""
    random = np.random.default_rng(seed)
    x = random.standard_t(3, size=(rows, columns)) if kind == "heavy tails" else random.normal(size=(rows, columns))
    if kind == "AR(0.9)":
        for column in range(1, columns):
            x[:, column] = 0.9 * x[:, column - 1] + np.sqrt(0.19) * x[:, column]
    if kind == "blocks with copies":
        common = np.repeat(random.normal(size=(rows, columns // 10)), 10, axis=1)
        x = np.sqrt(0.7) * common + np.sqrt(0.3) * x
        x[:, 9::10] = 3 * x[:, 0::10] + 1
    own = [c for c in range(columns) if kind != "blocks with copies" or c % 10 != 9]
    model = random.choice(own, 0 if kind == "global null" else signals, replace=False)
    noise = random.standard_t(3, size=rows) if kind == "heavy tails" else random.normal(size=rows)
    y = x[:, model] @ (weight * random.choice([-1.0, 1.0], len(model))) + noise
    true = set(model.tolist())
    if kind == "blocks with copies":
        true |= {c + 9 for c in model.tolist() if c % 10 == 0}
    return x, y, true, len(model)


def vaglio(program, x, y):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        pd.DataFrame(x, columns=[f"x{c}" for c in range(x.shape[1])]).assign(y=y).to_parquet(folder / "table.parquet")
        (folder / "p.yaml").write_text(
            "version: 1\nseed: 1\ndata: {train: table.parquet, target: y}\ncriterion: loo\n"
            f"learner: {{kind: rls, lambda: 1.0}}\nsearch: {{kind: greedy, choose: {{fdr: {RATE}}}}}\n"
        )
        start = time.time()
        subprocess.run([program, "run", "p.yaml", "--out", "o", "--quiet", "--threads", "1"], cwd=folder, check=True)
        seconds = time.time() - start
        record = json.loads((folder / "o" / "selection.json").read_text())
    return [int(column["name"][1:]) for column in record["selected"]], seconds


def trexselector(x, y):
    from trexselector import trex

    return trex(X=x.copy(), y=y.copy(), tFDR=RATE, seed=1, verbose=False)["selected_var"]


def ipss(selector):
    def of(x, y):
        from ipss import ipss

        return [c for c, q in ipss(x.copy(), y.copy(), selector=selector)["q_values"].items() if q <= RATE]

    return of


def knockpy(x, y):
    from knockpy.knockoff_filter import KnockoffFilter

    knockoffs = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    return np.flatnonzero(knockoffs.forward(X=x, y=y, fdr=RATE, shrinkage="ledoitwolf"))


def boruta(x, y):
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(max_depth=5, n_jobs=1, random_state=1)
    return np.flatnonzero(BorutaPy(forest, n_estimators="auto", random_state=1).fit(x, y).support_)


OTHERS = {
    "trexselector": ("trexselector", trexselector),
    "ipss, l1": ("ipss", ipss("l1")),
    "ipss, boosted trees": ("ipss", ipss("gb")),
    "knockpy, Gaussian knockoffs, lasso": ("knockpy", knockpy),
    "Boruta": ("boruta", boruta),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", default="target/release/vaglio")
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--only", default="", help="a part of the name of a kind or size")
    parser.add_argument("--way", action="append", help="a part of the name of a way; all by default")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    program = Path(arguments.vaglio).resolve()
    ways = {"vaglio": lambda x, y: vaglio(program, x, y)}
    for name, (module, of) in OTHERS.items():
        if importlib.util.find_spec(module):
            ways[name] = of
        else:
            print(f"{name} is left out: {module} is not installed")
    lines = ["| columns | size | way | false share | ± | power | columns taken | seconds |", "|---|---|---|---:|---:|---:|---:|---:|"]
    print("\n".join(lines), flush=True)
    for rows, columns, signals, weight in SIZES:
        for kind in KINDS:
            if arguments.only.lower() not in f"{kind} {rows} x {columns}".lower():
                continue
            for name, of in ways.items():
                if arguments.way and not any(part in name for part in arguments.way):
                    continue
                shares, powers, taken, seconds = [], [], [], []
                for seed in range(arguments.tables):
                    x, y, true, count = table(kind, rows, columns, signals, weight, seed)
                    start = time.time()
                    with contextlib.redirect_stdout(io.StringIO()):
                        found = of(x, y)
                    found, passed = found if isinstance(found, tuple) else (found, time.time() - start)
                    wrong = len(set(map(int, found)) - true)
                    shares.append(wrong / max(len(found), 1))
                    powers.append((len(found) - wrong) / max(count, 1))
                    taken.append(len(found))
                    seconds.append(passed)
                error = np.std(shares, ddof=1) / np.sqrt(len(shares))
                power = f"{np.mean(powers):.2f}" if kind != "global null" else "–"
                lines.append(
                    f"| {kind} | {rows} × {columns} | {name} | {np.mean(shares):.3f} | {error:.3f} | {power} "
                    f"| {np.mean(taken):.1f} | {np.mean(seconds):.1f} |"
                )
                print(lines[-1], flush=True)
    if arguments.out:
        Path(arguments.out).write_text("\n".join(lines) + "\n")


main()
