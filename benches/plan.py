"""What `vaglio plan` says of time and memory beside what `vaglio run` takes, phase by phase.

python benches/plan.py --vaglio target/release/vaglio [--rows 300,3000,12000] [--columns 40,400] [--runs FILE] [--only WORD ...]

Needs NumPy and pyarrow. Every cell is a case on one table; runs and plans are of one thread. Seconds are of the
processor, the least of `--repeat` runs, since other work on the machine makes the clock say more. A plan is right where
the seconds are within a factor of 3 of its span, and the memory at the peak is within a factor of 2 of what it says, but
for 30 MB. `--runs` keeps what runs took in a file, so that plans alone are made again. Exits 1 where a plan is wrong.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

PHASES = ["read", "search", "choose", "evaluate", "fit", "report"]
IN_FOLDS = [{"kind": "standardize", "scope": "fold"}]
GRID = {"grid": {"from": 1e-3, "to": 1e3, "points": 13}}
LAST = {"max_features": 10, "choose": "last"}


def rls(of):
    return {"kind": "rls", "lambda": of}


def kfold(**settings):
    return {"kind": "kfold", "folds": 10, **settings}


def walks(kind, **settings):
    return {"kind": kind, **LAST, **settings}


CHOSEN = {"learner": rls(GRID), "search": {"kind": "greedy"}}
AUTO = {"learner": None, "criterion": None, "search": None}
REGRESSION = {
    "greedy loo": {},
    "greedy loo, lambda of each subset": {"learner": rls({**GRID, "per": "subset"})},
    "floating loo": {"search": walks("floating")},
    "lars loo": {"search": walks("lars")},
    "backward loo": {"search": {"kind": "backward", "min_features": 10, "choose": "last"}},
    "all loo": {"search": {"kind": "all"}},
    "greedy kfold": {"criterion": kfold()},
    "greedy kfold, standardized in folds": {"criterion": kfold(), "preprocess": IN_FOLDS},
    "backward kfold": {"criterion": kfold(), "search": {"kind": "backward", "min_features": 10, "choose": "last"}},
    "repeated folds": {"criterion": {"kind": "kfold", "splits": {"kind": "repeated", "folds": 5, "repeats": 5}}},
    "huber kfold": {"criterion": kfold(loss={"kind": "huber", "delta": 1.35})},
    "absolute kfold": {"criterion": kfold(loss="absolute")},
    "absolute loo": {"criterion": {"kind": "loo", "loss": "absolute"}},
    "written grid, chosen": CHOSEN,
    "written grid, one_se": {**CHOSEN, "search": {"kind": "greedy", "choose": {"rule": "one_se"}}},
    "defaults": AUTO,
    "defaults, all": {**AUTO, "search": {"kind": "all"}},
    "nhsic lars": {"criterion": {"kind": "nhsic"}, "search": walks("lars")},
    "mrmr": {"criterion": {"kind": "mrmr"}},
    "bic": {"criterion": {"kind": "information", "measure": "bic"}},
    "nested": {**CHOSEN, "search": {"kind": "greedy", "max_features": 15}, "evaluate": {"nested": {"folds": 5}}},
    "stability": {"evaluate": {"stability": {"pairs": 20}}},
    "permutations": {"evaluate": {"permutations": 20}},
    "30 columns": {"search": walks("greedy", max_features=30)},
    "30 columns, kfold": {"criterion": kfold(), "search": walks("greedy", max_features=30)},
    "30 columns, absolute kfold": {"criterion": kfold(loss="absolute"), "search": walks("greedy", max_features=30)},
}
CLASSES = {
    "zero-one loo": {"criterion": {"kind": "loo", "loss": "zero_one"}},
    "zero-one kfold": {"criterion": kfold(loss="zero_one")},
    "zero-one kfold, standardized in folds": {"criterion": kfold(loss="zero_one"), "preprocess": IN_FOLDS},
    "auc kfold": {"criterion": kfold(loss="auc")},
    "log loss kfold": {"criterion": kfold(loss="log_loss")},
    "crrr kfold": {"learner": {"kind": "crrr", "lambda": 1.0}, "criterion": kfold()},
    "balanced error, crrr loo": {
        "learner": {"kind": "crrr", "lambda": 1.0},
        "criterion": {"kind": "loo", "loss": "balanced_error"},
    },
    "chosen, classes": CHOSEN,
    "defaults, classes": AUTO,
}
# Cases with shapes of their own: (rows, columns), what the table is and the settings.
OWN = {
    "knn": ([(300, 20), (1000, 40)], {}, {"learner": {"kind": "knn"}, "criterion": kfold(), "search": walks("greedy", max_features=3)}),
    "wide all": ([(50, 5000), (200, 2000)], {}, {"learner": rls(GRID), "search": {"kind": "all"}}),
    "wide defaults": ([(50, 5000), (100, 3000)], {}, AUTO),
    "all, 13 lambda": ([(2000, 375)], {}, {"learner": rls(GRID), "search": {"kind": "all"}}),
    "exhaustive": ([(300, 20), (300, 28), (3000, 24)], {}, {"search": {"kind": "exhaustive", "max_features": 6, "choose": "last"}}),
    "exhaustive kfold": ([(300, 16), (300, 20)], {}, {"criterion": kfold(), "search": {"kind": "exhaustive", "max_features": 5, "choose": "last"}}),
    "elm": ([(500, 20), (2000, 20)], {}, {"learner": {"kind": "elm", "units": 200, "lambda": 0.1}}),
    "tuned elm": ([(500, 10), (1500, 10)], {}, {
        "learner": {"kind": "elm", "units": 100, "lambda": 0.1},
        "tune": {"parameters": {"learner.input_scaling": {"from": 0.1, "to": 3.0}}, "budget": 10},
    }),
    "30 outputs, each": ([(500, 60), (2000, 60)], {"outputs": 30}, {"learner": rls({**GRID, "outputs": "each"})}),
    "10 outputs": ([(500, 60), (5000, 100)], {"outputs": 10}, {}),
    "nhsic of 5 outputs": ([(500, 20), (1500, 20)], {"outputs": 5}, {"criterion": {"kind": "nhsic"}}),
    "30 classes, crrr": ([(2000, 30), (4000, 30)], {"classes": 30}, {"learner": {"kind": "crrr", "lambda": 1.0}, "criterion": kfold(loss="balanced_error")}),
    "30 classes": ([(2000, 30), (4000, 30)], {"classes": 30}, {"criterion": kfold(loss="zero_one")}),
    "2000 groups": ([(8000, 10), (8000, 100)], {"groups": 2000}, {"criterion": {"kind": "kfold", "by": "groups"}}),
    "many rows, log loss": ([(200000, 5), (1000000, 5)], {"classes": 2}, {"criterion": kfold(loss="log_loss"), "search": walks("greedy", max_features=5)}),
    "many rows": ([(200000, 20), (1000000, 8)], {}, {"search": walks("greedy", max_features=5)}),
    "many rows, defaults": ([(100000, 20)], {}, AUTO),
    "whole numbers": ([(3000, 200), (20000, 100)], {"bytes": True}, {}),
    "text": ([(3000, 100), (20000, 100)], {"form": "csv"}, {}),
    "text, defaults": ([(3000, 40)], {"form": "csv"}, AUTO),
}


def table(folder, rows, columns, classes=0, outputs=1, groups=0, bytes=False, form="parquet"):
    """Standard normal columns, every fifth correlated with the second; nine of them make the targets."""
    name = f"{folder}/{rows}-{columns}-{classes}-{outputs}-{groups}-{bytes}.{form}"
    if os.path.exists(name):
        return name
    random = np.random.default_rng(rows + 3 * columns)
    x = random.integers(0, 200, (rows, columns)).astype(float) if bytes else random.normal(size=(rows, columns))
    if not bytes:
        x[:, ::5] += 0.7 * x[:, [1]]
    weights = np.zeros((columns, outputs))
    weights[random.choice(columns, min(columns, 9), replace=False)] = random.normal(size=(min(columns, 9), outputs))
    y = x @ weights + x.std() * random.normal(size=(rows, outputs))
    all = {f"x{k}": np.ascontiguousarray(x[:, k]) for k in range(columns)}
    if classes:
        bounds = np.quantile(y[:, 0], np.linspace(0, 1, classes + 1)[1:-1])
        labels = np.array([f"c{k}" for k in range(classes)])
        all["y0"] = labels[np.searchsorted(bounds, y[:, 0])]
    else:
        all |= {f"y{k}": np.ascontiguousarray(y[:, k]) for k in range(outputs)}
    if groups:
        all["group"] = np.array([f"g{k % groups}" for k in range(rows)])
    if form == "csv":
        pa.csv.write_csv(pa.table(all), name)
    else:
        pa.parquet.write_table(pa.table(all), name)
    return name


def cells(args):
    """Names, rows, columns, what the table is, settings."""
    for cases, classes in ((REGRESSION, 0), (CLASSES, 2)):
        for name, settings in cases.items():
            for columns in args.columns:
                for rows in args.rows:
                    yield name, rows, columns, {"classes": classes}, settings
    for name, (shapes, what, settings) in OWN.items():
        for rows, columns in shapes:
            yield name, rows, columns, what, settings


def pipeline(folder, rows, columns, what, settings):
    outputs = what.get("outputs", 1)
    target = [f"y{k}" for k in range(outputs)] if outputs > 1 else "y0"
    data = {"train": table(folder, rows, columns, **what), "target": target}
    if what.get("groups"):
        data["groups"] = "group"
    usual = {"learner": rls(1.0), "criterion": {"kind": "loo"}, "search": walks("greedy", tolerance=None)}
    whole = {"version": 1, "seed": 1, "data": data, **usual, **settings}
    return {key: value for key, value in whole.items() if value is not None}


def ran(command, folder, limit):
    """Standard output, seconds of the processor; None and what went wrong."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = os.times()
    try:
        out, error = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, f"more than {limit:g} s"
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return (out, spent) if process.returncode == 0 else (None, error.strip()[:200])


SIZES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def planned(text):
    """Seconds from and to, bytes at the peak, and the middle of each phase of a plan's text."""
    unit = {"ms": 1e-3, "seconds": 1, "second": 1, "minutes": 60, "hours": 3600}
    span = lambda line: (
        (0.0, 1.0) if "less than a second" in line else
        (0.0, 0.1) if "less than 0.1 seconds" in line else
        tuple(float(v) * unit[re.search(r"(ms|seconds?|minutes|hours)\b", line)[1]]
              for v in re.search(r"([\d.]+) to ([\d.]+) ", line).groups())
    )
    told, phases, memory = None, {}, None
    for line in text.splitlines():
        if line.startswith("time ") and "unknown" not in line:
            told = span(line)
        if line.startswith("memory "):
            size, name = re.search(r"([\d.]+) (\w+)", line).groups()
            memory = float(size) * SIZES[name]
        if match := re.match(r"(?:phases)? +(\w+) +([\d.]+) to ([\d.]+) (\w+)", line):
            if match[1] in PHASES:
                phases[match[1]] = np.sqrt(float(match[2]) * float(match[3])) * unit[match[4]]
    return told, memory, phases


def run(args, folder, name):
    """What a run took: the least of several."""
    best = None
    for _ in range(args.repeat):
        out, spent = ran([args.vaglio, "run", "p.yaml", "--threads", "1", "--json", "--quiet", "--out", "o"], folder, args.limit)
        if out is None:
            return {"failed": spent}
        record = json.loads(out)
        seconds = record["seconds"]
        took = {phase: seconds[phase] for phase in PHASES if phase in seconds}
        took["report"] = max(seconds["total"] - sum(took.values()), 0.0)
        found = {"seconds": spent, "wall": seconds["total"], "phases": took, "bytes": record["peak_memory_bytes"], "size": len(record["selected"])}
        if best is None or found["seconds"] < best["seconds"]:
            best = found
        if spent > 2:
            break
    return best


def main():
    parse = lambda text: [int(part) for part in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vaglio", default="target/release/vaglio", type=os.path.abspath)
    parser.add_argument("--rows", default="300,3000,12000", type=parse)
    parser.add_argument("--columns", default="40,400", type=parse)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--limit", default=60.0, type=float)
    parser.add_argument("--repeat", default=2, type=int)
    parser.add_argument("--runs", type=Path)
    args = parser.parse_args()
    known = json.loads(args.runs.read_text()) if args.runs and args.runs.exists() else {}
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, rows, columns, what, settings in cells(args):
            if args.only and not any(word in name for word in args.only):
                continue
            cell = f"{name} {rows}x{columns}"
            Path(folder, "p.yaml").write_text(json.dumps(pipeline(folder, rows, columns, what, settings)))
            if cell not in known:
                known[cell] = run(args, folder, cell)
                if args.runs:
                    args.runs.write_text(json.dumps(known, indent=1))
            count += 1
            took = known[cell]
            text, own = ran([args.vaglio, "plan", "p.yaml", "--set", "engine.threads=1"], folder, args.limit)
            if text is None or "failed" in took:
                print(f"{cell:<52} {took.get('failed', own)}", flush=True)
                continue
            span, memory, phases = planned(text)
            faults = []
            if span is None or memory is None:
                faults.append("unknown")
            else:
                if not span[0] / 3 <= took["seconds"] <= span[1] * 3 or (span[1] < took["seconds"] / 3):
                    faults.append("time")
                if span[0] > 0 and span[1] > 3.05 * span[0]:
                    faults.append("span")
                if not took["bytes"] / 2 - 3e7 <= memory <= 2 * (took["bytes"] + 3e7):
                    faults.append("memory")
            if faults:
                wrong.append(f"{cell}: {', '.join(faults)}")
            middle = np.sqrt(span[0] * span[1]) if span and span[0] else span[1] if span else np.nan
            # What the clock says of phases, without what other work took of it.
            part = min(1.0, took["seconds"] / max(took["wall"], 1e-9))
            each = " ".join(
                f"{phase} {part * took['phases'][phase]:.3f}/{phases.get(phase, np.nan):.3f}"
                for phase in PHASES
                if took["phases"][phase] > 0.0005 or phases.get(phase, 0) > 0.0005
            )
            print(
                f"{cell:<52} took {took['seconds']:7.3f} told {middle:7.3f} ({span[0] if span else 0:.3f}-{span[1] if span else 0:.3f}) x{middle / took['seconds']:5.2f}  "
                f"{took['bytes'] / 1e6:6.0f}/{(memory or 0) / 1e6:<6.0f} MB  plan {own:.2f} s  {each}  {' '.join(faults).upper()}",
                flush=True,
            )
    print(f"{count} cells, {len(wrong)} wrong")
    for fault in wrong:
        print("WRONG ", fault)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
