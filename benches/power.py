#!/usr/bin/env python3
"""Size and power of the test of columns against none, and coverage of intervals, on simulated tables.

usage: power.py [--binary target/release/vaglio] [--tables 500] [--jobs 2] [--cells WORD…]

Size: the share of tables of pure noise from which columns are taken. Power: the same with three true columns of weights 1, 0.8
and -0.6. Risk: the expected squared error on new rows; 1 is that of the noise. Both have Monte Carlo standard errors.
Coverage: the share of tables whose interval holds the loss of the delivered model on 20 000 new rows. Width: that of the interval
over that of the standard errors, cross-validated or nested, times the one factor that would hold 95 % of the same tables.
Needs NumPy; with scikit-learn LassoCV and RidgeCV are fitted to the tables of the power rows.
"""
import argparse
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

WEIGHTS = np.array([1.0, 0.8, -0.6])
LOO, KFOLD, STRATIFIED = "{kind: loo%s}", "{kind: kfold, folds: 5%s}", "{kind: kfold, folds: 5, stratified: true%s}"

# Name: rows, columns, kind of target, criterion, search.
SIZES = {
    "squared, loo, 80 x 20": (80, 20, "normal", LOO % "", "greedy"),
    "squared, loo, 30 x 10": (30, 10, "normal", LOO % "", "greedy"),
    "squared, loo, 300 x 20": (300, 20, "normal", LOO % "", "greedy"),
    "squared, loo, 60 x 300": (60, 300, "normal", LOO % "", "greedy"),
    "squared, kfold, 80 x 20": (80, 20, "normal", KFOLD % "", "greedy"),
    "squared, loo, 80 x 20, lars": (80, 20, "normal", LOO % "", "lars"),
    "squared, loo, 80 x 20, race": (80, 20, "normal", LOO % "", "{kind: race, of: [greedy, lars, all]}"),
    "squared, loo, 80 x 10, exhaustive": (80, 10, "normal", LOO % "", "exhaustive"),
    "squared, loo, 80 x 20, one_se": (80, 20, "normal", LOO % "", "{kind: greedy, choose: {rule: one_se}}"),
    "squared, loo, t of 3": (80, 20, "heavy", LOO % "", "greedy"),
    "absolute, loo, 80 x 20": (80, 20, "normal", LOO % ", loss: absolute", "greedy"),
    "squared, 20 groups of 10": (200, 20, "groups", "{kind: kfold, folds: 5}", "greedy"),
    "squared, forward, 120 x 10": (120, 10, "time", "{kind: kfold, splits: {kind: forward, folds: 5}}", "greedy"),
    "squared, two classes, 40 + 40": (80, 20, "classes", LOO % "", "greedy"),
    "zero_one, stratified, 40 + 40": (80, 20, "classes", STRATIFIED % ", loss: zero_one", "greedy"),
    "balanced_error, stratified, 40 + 40": (80, 20, "classes", STRATIFIED % ", loss: balanced_error", "greedy"),
    "auc, stratified, 40 + 40": (80, 20, "classes", STRATIFIED % ", loss: auc", "greedy"),
    "auc, loo, 40 + 40": (80, 20, "classes", LOO % ", loss: auc", "greedy"),
    "log_loss, loo, 40 + 40": (80, 20, "classes", LOO % ", loss: log_loss", "greedy"),
    "zero_one, loo, 50 + 30": (80, 20, "uneven", LOO % ", loss: zero_one", "greedy"),
    "squared, loo, 300 x 1000": (300, 1000, "normal", LOO % "", "greedy"),
}
# Rows, true R², the distribution of the noise.
POWERS = [
    (80, 0.0, "normal"),
    (80, 0.11, "normal"),
    (80, 0.20, "normal"),
    (80, 0.33, "normal"),
    (80, 0.53, "normal"),
    (300, 0.11, "normal"),
    (300, 0.20, "lognormal"),
    (1000, 0.07, "lognormal"),
]
# Name: rows, columns, kind, correlation of columns, R² of three true columns, criterion.
COVERAGES = {
    "strong": (80, 20, "normal", 0.0, 0.67, LOO % ""),
    "weak": (80, 20, "normal", 0.0, 0.20, LOO % ""),
    "noise": (80, 20, "normal", 0.0, 0.0, LOO % ""),
    "correlated": (80, 20, "normal", 0.7, 0.62, LOO % ""),
    "t of 3": (80, 20, "heavy", 0.0, 0.67, LOO % ""),
    "two classes": (80, 20, "classes", 0.0, 0.20, LOO % ""),
    "two classes, zero_one": (80, 20, "classes", 0.0, 0.20, STRATIFIED % ", loss: zero_one"),
    "20 groups of 10": (200, 20, "groups", 0.0, 0.67, KFOLD % ""),
    "500 columns": (80, 500, "normal", 0.0, 0.67, LOO % ""),
    "forward in time": (240, 10, "time", 0.0, 0.50, "{kind: kfold, splits: {kind: forward, folds: 5}}"),
}


def noise(rng, kind, rows):
    if kind == "heavy":
        return rng.standard_t(3, rows) / np.sqrt(3)
    if kind == "lognormal":
        return (rng.lognormal(size=rows) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    return rng.normal(size=rows)


def table(rng, rows, columns, kind):
    """Columns, a target of pure noise, and the lines of the data section that name more of it."""
    x, y, more, extra = rng.normal(size=(rows, columns)), noise(rng, kind, rows), "", {}
    if kind in ("classes", "uneven"):
        labels = np.arange(rows) < (rows // 2 if kind == "classes" else 5 * rows // 8)
        return x, np.where(rng.permutation(labels), "a", "b"), more, extra
    if kind == "groups":
        group = np.repeat(np.arange(rows // 10), 10)
        x = x + rng.normal(size=(rows // 10, columns))[group]
        return x, y + rng.normal(size=rows // 10)[group], ", groups: group", {"group": ["g%d" % g for g in group]}
    if kind == "time":
        for place in range(1, rows):
            x[place] += 0.5 * x[place - 1]
            y[place] += 0.5 * y[place - 1]
        return x, y, ", time: when", {"when": np.arange(rows)}
    return x, y, more, extra


def write(path, x, y, extra):
    with open(path, "w") as out:
        out.write(",".join(["x%d" % k for k in range(x.shape[1])] + list(extra) + ["y"]) + "\n")
        for row in range(len(y)):
            cells = ["%.10g" % v for v in x[row]] + [str(extra[name][row]) for name in extra]
            target = y[row] if isinstance(y[row], str) else "%.10g" % y[row]
            out.write(",".join(cells + [target]) + "\n")


def signal(rng, rows, columns, kind, correlation, r2):
    """A table with three true columns; two classes are the sign of a normal target."""
    x, y, data, extra = table(rng, rows, columns, "normal" if kind == "classes" else kind)
    if correlation:
        x = np.sqrt(correlation) * rng.normal(size=(rows, 1)) + np.sqrt(1 - correlation) * x
    y = y + x[:, :3] @ WEIGHTS * np.sqrt(r2 / (1 - r2) / np.sum(WEIGHTS**2))
    return x, np.where(y > 0, "a", "b") if kind == "classes" else y, data, extra


def covers(binary, seed, cell):
    """For the cross-validated and the nested interval: whether it holds, its width, and how many standard errors are needed."""
    rows, columns, kind, _, _, criterion = cell
    rng = np.random.default_rng([seed, rows, columns])
    x, y, data, extra = signal(rng, *cell[:5])
    result = run(binary, seed, x, y, data, extra, criterion, "greedy", ["--nested", "5"])
    new, target, _, _ = signal(rng, 20000, *cell[1:5])
    mean, w = weights(result, columns)
    if kind == "classes":
        # The equation is that of one of both classes.
        y, target = (np.where(of == "a", 1.0, -1.0) for of in (y, target))
        sign = 1.0 if np.sum((mean + x @ w - y) ** 2) <= np.sum((mean + x @ w + y) ** 2) else -1.0
        mean, w = sign * mean, sign * w
    predicted = mean + new @ w
    wrong = np.where(predicted == 0, 0.5, predicted * target < 0) if "zero_one" in criterion else (predicted - target) ** 2
    out = []
    chosen, nested = result["chosen"], result["nested"]
    for loss, of in ((chosen["cross_validated"], chosen), (nested["loss"], nested)):
        if not of.get("interval"):
            return None  # losses that are all equal have no interval
        low, high = of["interval"]
        out += [low <= np.mean(wrong) <= high, high - low, abs(np.mean(wrong) - loss) / of["standard_error"], of["standard_error"]]
    return out + [len(result["selected"]) > 0]


def run(binary, seed, x, y, data, extra, criterion, search, options=()):
    """The result of one run, as the program writes it."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder + "/t.csv", x, y, extra)
        with open(folder + "/p.yaml", "w") as out:
            out.write("version: 1\nseed: %d\ndata: {train: t.csv, target: y%s}\n" % (seed, data))
            out.write("learner: rls\ncriterion: %s\nsearch: %s\n" % (criterion, search))
        command = [binary, "run", "p.yaml", "--json", "--quiet", "--threads", "1", "--out", "o", *options]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


def weights(result, columns):
    """Intercept and weights of the original columns, by the equation of the result."""
    w, mean = np.zeros(columns), result["intercept"]
    for of in result["selected"]:
        place = int(of["name"][1:])
        w[place] = of.get("original_weight", of["weight"])
    return mean, w


def share(hits):
    p = np.mean(hits)
    return "%.3f ± %.3f" % (p, np.sqrt(p * (1 - p) / len(hits)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", default="target/release/vaglio")
    arguments.add_argument("--tables", type=int, default=500)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--cells", nargs="*", default=[])
    arguments = arguments.parse_args()
    binary = os.path.abspath(arguments.binary)
    pool = ThreadPoolExecutor(arguments.jobs)
    wanted = lambda name: not arguments.cells or any(word in name for word in arguments.cells)

    print("| noise | columns taken |\n|---|---|")
    for name, (rows, columns, kind, criterion, search) in SIZES.items():
        if not wanted(name):
            continue

        def taken(seed):
            rng = np.random.default_rng([seed, rows, columns])
            x, y, data, extra = table(rng, rows, columns, kind)
            return len(run(binary, seed, x, y, data, extra, criterion, search)["selected"]) > 0

        print("| %s | %s |" % (name, share(list(pool.map(taken, range(arguments.tables))))), flush=True)

    try:
        from sklearn.linear_model import LassoCV, RidgeCV
    except ImportError:
        LassoCV = None
    print("\n| rows, R² | columns taken | none | default | never | LassoCV | RidgeCV |\n|---|---|---|---|---|---|---|")
    for rows, r2, kind in POWERS:
        name = "power %d, %.2f, %s" % (rows, r2, kind)
        if not wanted(name):
            continue

        def risks(seed):
            rng = np.random.default_rng([seed, rows, int(100 * r2)])
            w = np.zeros(20)
            w[:3] = WEIGHTS * np.sqrt(r2 / (1 - r2) / np.sum(WEIGHTS**2))
            x = rng.normal(size=(rows, 20))
            y = x @ w + noise(rng, kind, rows)
            # New rows are standard normal, so their risk is known without drawing them.
            risk = lambda mean, of: 1 + mean**2 + np.sum((of - w) ** 2)
            found = [run(binary, seed, x, y, "", {}, LOO % "", search) for search in
                     ("greedy", "{kind: greedy, choose: {require_gain: never}}")]
            out = [len(found[0]["selected"]) > 0, risk(np.mean(y), np.zeros(20))]
            out += [risk(*weights(result, 20)) for result in found]
            if LassoCV:
                for model in (LassoCV(cv=5), RidgeCV(alphas=np.logspace(-3, 4, 30))):
                    model.fit(x, y)
                    out.append(risk(model.intercept_, model.coef_))
            return out

        found = np.array(list(pool.map(risks, range(arguments.tables))), float)
        mean, error = found.mean(0), found.std(0) / np.sqrt(len(found))
        cells = " | ".join("%.3f ± %.3f" % pair for pair in zip(mean[1:], error[1:]))
        print("| %d, %.2f %s | %s | %s |" % (rows, r2, kind, share(found[:, 0]), cells), flush=True)

    print("\n| coverage | columns taken | cross-validated: holds, width | nested: holds, width |\n|---|---|---|---|")
    for name, cell in COVERAGES.items():
        if not wanted("coverage " + name):
            continue
        every = pool.map(lambda seed: covers(binary, seed, cell), range(arguments.tables))
        found = np.array([of for of in every if of], float)
        held = ["%s, %.2f" % (share(of[:, 0]), np.mean(of[:, 1]) / np.mean(2 * np.quantile(of[:, 2], 0.95) * of[:, 3]))
                for of in (found[:, :4], found[:, 4:8])]
        print("| %s | %s | %s |" % (name, share(found[:, 8]), " | ".join(held)), flush=True)


if __name__ == "__main__":
    main()
