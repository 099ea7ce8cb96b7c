"""Nested figures where rows are not independent: how near the truth they are, and how often their intervals hold it.

python benches/dependence.py --vaglio target/release/vaglio [--tables 200] [--only walks] [--workers 2]

Needs NumPy. Each table is simulated with its truth: the risk is the mean loss of the model that the run delivers on rows of
the question that the splits ask, fresh groups or units, or many continuations of the last block of time. Printed are the means
of risk, nested and cross-validated loss and their ratio to the risk, the deviation of the nested loss between tables beside
the error that runs tell of it, and the share of tables whose interval of 1.96 errors (or `nested.interval`, where a run
tells one) holds the risk.
"""
import argparse
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

COLUMNS = 10
EFFECTS = np.array([1.0, -0.7, 0.5] + [0.0] * (COLUMNS - 3))
FRESH = 300  # groups, units or continuations by which the risk is known


def walk(random, rows, step, start=0.0):
    return start + np.cumsum(step * random.normal(size=(rows, *np.shape(start))), axis=0)


def autoregression(random, rows, persistence, start):
    out, now = np.empty((rows, *np.shape(start))), np.asarray(start, float)
    for row in range(rows):
        now = persistence * now + np.sqrt(1 - persistence**2) * random.normal(size=np.shape(start))
        out[row] = now
    return out


def series(make):
    """A table of one series of 200 rows, and continuations of the next 34, a block of five forward in time."""

    def table(random):
        x, u = make(random, 200, np.zeros(COLUMNS)), make(random, 200, np.zeros(()))

        def fresh():
            for _ in range(FRESH):
                xs, us = make(random, 34, x[-1]), make(random, 34, u[-1])
                yield xs, xs @ EFFECTS + us

        return x, x @ EFFECTS + u, {"t": np.arange(200)}, fresh

    return table


def grouped(random):
    """Twenty groups of ten rows: columns and target have a part that a group shares."""

    def groups(count):
        x = np.repeat(random.normal(size=(count, COLUMNS)), 10, axis=0) + random.normal(size=(10 * count, COLUMNS))
        y = x @ EFFECTS + np.repeat(random.normal(size=count), 10) + random.normal(size=10 * count)
        return x, y

    x, y = groups(20)
    return x, y, {"g": np.repeat(np.arange(20), 10)}, lambda: (groups(10) for _ in range(FRESH))


def panel(random):
    """Fifteen units at 48 times: effects of units, and columns that persist."""
    units, times = 15, 48
    shift = random.normal(size=units)
    state = random.normal(size=(units, COLUMNS))

    def period(state):
        state = 0.8 * state + 0.6 * random.normal(size=state.shape)
        return state, state @ EFFECTS + shift + random.normal(size=units)

    parts = []
    for time in range(times):
        state, y = period(state)
        parts.append((state, y, np.arange(units), np.full(units, time)))
    x, y, unit, time = (np.concatenate(part) for part in zip(*parts))

    def new_units():
        for _ in range(FRESH):
            xs = random.normal(size=(units, COLUMNS))
            yield xs, xs @ EFFECTS + random.normal(size=units) + random.normal(size=units)

    def next_periods():
        for _ in range(FRESH):
            now, rows = state, []
            for _ in range(8):
                now, target = period(now)
                rows.append((now, target))
            yield np.concatenate([r[0] for r in rows]), np.concatenate([r[1] for r in rows])

    return x, y, {"unit": unit, "time": time}, (new_units, next_periods)


FORWARD = "criterion: {kind: kfold, splits: {kind: forward, folds: 5}}"
CASES = {
    "walks": (series(lambda r, n, s: walk(r, n, 1.0, s)), "time: t", FORWARD, None),
    "AR(1), 0.9": (series(lambda r, n, s: autoregression(r, n, 0.9, s)), "time: t", FORWARD, None),
    "groups": (grouped, "groups: g", "criterion: {kind: kfold, folds: 5, by: groups}", None),
    "panel, new units": (panel, "groups: unit, exclude: [time]", "criterion: {kind: kfold, folds: 5, by: groups}", 0),
    "panel, next periods": (panel, "series: unit, time: time", FORWARD.replace("5", "3"), 1),
    "independent": (
        lambda r: (lambda x: (x, x @ EFFECTS + r.normal(size=80), {}, lambda: ((z, z @ EFFECTS + r.normal(size=100)) for z in (r.normal(size=(100, COLUMNS)) for _ in range(FRESH)))))(r.normal(size=(80, COLUMNS))),
        "",
        "criterion: loo",
        None,
    ),
}


def one(arguments, name, seed):
    make, data, criterion, question = CASES[name]
    x, y, beside, fresh = make(np.random.default_rng([seed, len(name)]))
    fresh = fresh if question is None else fresh[question]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        names = [f"x{j}" for j in range(COLUMNS)]
        cells = np.column_stack([x, y, *beside.values()])
        header = ",".join([*names, "y", *beside])
        np.savetxt(folder / "t.csv", cells, delimiter=",", header=header, comments="", fmt="%.17g")
        data = f", {data}" if data else ""
        (folder / "p.yaml").write_text(
            f"version: 1\nseed: {seed}\ndata: {{train: t.csv, target: y, task: regression{data}}}\npreprocess: [standardize]\n"
            "learner: {kind: rls, lambda: {grid: {from: 0.1, to: 1000.0, points: 9}}}\n"
            f"{criterion}\nsearch: greedy\nevaluate: {{nested: {{folds: 5}}}}\n"
        )
        done = subprocess.run([arguments.vaglio, "run", folder / "p.yaml", "--out", folder / "o", "--quiet", "--threads", "1"],
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr}")
        record = json.loads((folder / "o" / "selection.json").read_text())
    selected = record["selected"]
    weight = np.zeros(COLUMNS)
    for column in selected:
        weight[names.index(column["name"])] = column["original_weight"]
    # The intercept in the data's units: the mean of the training rows is predicted at their mean.
    losses = []
    shift = y.mean() - x.mean(0) @ weight
    for xs, ys in fresh():
        losses.append(np.mean((ys - xs @ weight - shift) ** 2))
    risk, nested, chosen = np.mean(losses), record["nested"], record["chosen"]
    low_high = nested.get("interval") or [nested["loss"] - 1.96 * nested["standard_error"], nested["loss"] + 1.96 * nested["standard_error"]]
    level = chosen["cross_validated"]
    spread = chosen["standard_error"]
    return risk, nested["loss"], nested["standard_error"], low_high[0] <= risk <= low_high[1], level, abs(level - risk) <= 1.96 * spread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", default="target/release/vaglio")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    print("| rows | risk | nested | / risk | its deviation | its error, told | holds the risk | cross-validated / risk | holds |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in CASES:
        if arguments.only.lower() not in name.lower():
            continue
        with ThreadPoolExecutor(arguments.workers) as pool:
            found = np.array(list(pool.map(lambda seed: one(arguments, name, seed), range(arguments.tables))), float)
        risk, nested, told, holds, level, near = found.T
        print(
            f"| {name} | {risk.mean():.3f} | {nested.mean():.3f} | {nested.mean() / risk.mean():.3f} | {nested.std(ddof=1):.3f} "
            f"| {told.mean():.3f} | {holds.mean():.2f} | {level.mean() / risk.mean():.3f} | {near.mean():.2f} |",
            flush=True,
        )


main()
