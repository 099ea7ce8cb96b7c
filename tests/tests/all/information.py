"""Scores of `information` by NumPy, for information.rs: python information.py > information.json, in this folder.

Greedy to five columns and the best subset of every size up to three, of the columns of diabetes.csv as they are.
"""
import itertools
import json

import numpy as np

table = np.genfromtxt("../../../examples/data/diabetes.csv", delimiter=",", skip_header=1)
x, y = table[:, :-1], table[:, -1]
x, y = x - x.mean(0), y - y.mean()
n = len(y)


def fit(subset, penalty):
    s = x[:, subset]
    gram = s.T @ s + penalty * np.eye(len(subset))
    w = np.linalg.solve(gram, s.T @ y)
    freedom = 1 + np.trace(np.linalg.solve(gram, s.T @ s))
    return np.mean((y - s @ w) ** 2), freedom


variance = None


def score(measure, subset, penalty):
    error, d = fit(list(subset), penalty)
    k = d + 1
    return {
        "training": error,
        "gcv": error / (1 - d / n) ** 2,
        "cp": error + 2 * variance * d / n,
        "aic": n * np.log(error) + 2 * k,
        "aicc": n * np.log(error) + 2 * k + 2 * k * (k + 1) / (n - k - 1),
        "bic": n * np.log(error) + k * np.log(n),
    }[measure]


PENALTIES = [0.5, 300.0]
found = {}
error, d = fit(range(x.shape[1]), PENALTIES[0])
variance = n * error / (n - d)
for measure in ["training", "gcv", "cp", "aic", "aicc", "bic"]:
    lowest = lambda subset: min(score(measure, subset, p) for p in PENALTIES)
    chosen, greedy = [], []
    for _ in range(5):
        rest = [j for j in range(x.shape[1]) if j not in chosen]
        chosen.append(min(rest, key=lambda j: lowest(chosen + [j])))
        greedy.append([list(chosen), lowest(chosen)])
    best = [min(itertools.combinations(range(x.shape[1]), size), key=lowest) for size in (1, 2, 3)]
    found[measure] = {"greedy": greedy, "exhaustive": [[list(b), lowest(b)] for b in best]}
print(json.dumps(found, indent=1))
