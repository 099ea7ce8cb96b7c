"""Data of the tests, and the program."""

import subprocess
import sys

import numpy as np
import pandas as pd


def numbers(rows=120, columns=8, seed=0):
    """Columns and a target of three of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    return X, X[:, 2] - 2 * X[:, 5] + 0.5 * X[:, 0] + 0.3 * random.normal(size=rows)


def mixed(rows=150, seed=0):
    """A frame with missing cells, text and dates, and its target."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 70, rows).astype(float),
            "city": random.choice(["Rome", "Oslo", "Bern"], rows),
            "when": pd.date_range("2024-01-01", periods=rows),
            "noise": random.normal(size=rows),
        }
    )
    target = 0.3 * frame.age + 4 * (frame.city == "Oslo") + random.normal(size=rows)
    frame.loc[::9, "age"] = np.nan
    frame.loc[::13, "city"] = None
    return frame, target.to_numpy()


FILLED = [{"kind": "impute"}, {"kind": "impute", "how": "most_frequent"}, "one_hot", "date_parts"]


def program(*arguments, cwd=None):
    """Run ``python -m vaglio``; its exit code, output and errors."""
    done = subprocess.run([sys.executable, "-m", "vaglio", *map(str, arguments)], cwd=cwd, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr
