"""Scores of vaglio-dependence by NumPy, for dependence.rs: python dependence.py > dependence.json, in this folder.

Of the columns of diabetes.csv and of wine.csv as they are.
"""
import json

import numpy as np


def table(name, target):
    lines = [line.strip().split(",") for line in open(f"../../../examples/data/{name}.csv")]
    place = lines[0].index(target)
    x = np.array([[float(v) for k, v in enumerate(line) if k != place] for line in lines[1:]])
    return x, [line[place] for line in lines[1:]]


def unit(v):
    return (v - v.mean(0)) / v.std(0)


def gaussian(x, variance):
    return np.exp(-((x[:, None, :] - x[None, :, :]) ** 2).sum(2) / (2 * variance))


def delta(y):
    return np.array([[(a == b) / y.count(a) * len(y) for b in y] for a in y])


def biased(k, l):
    m = len(k)
    h = np.eye(m) - 1 / m
    return -np.trace(k @ h @ l @ h) / m**2


def unbiased(k, l):
    m = len(k)
    k, l = k - np.diag(np.diag(k)), l - np.diag(np.diag(l))
    one = np.ones(m)
    middle = (one @ k @ one) * (one @ l @ one) / ((m - 1) * (m - 2))
    return -(np.trace(k @ l) + middle - 2 / (m - 2) * (one @ k @ l @ one)) / (m * (m - 3))


def forward(columns, size, score):
    chosen, path = [], []
    for _ in range(size):
        rest = [j for j in range(columns) if j not in chosen]
        scores = [score(chosen + [j]) for j in rest]
        chosen = chosen + [rest[int(np.argmin(scores))]]
        path.append([list(chosen), min(scores)])
    return path


def backward(columns, size, score):
    chosen = list(range(columns))
    path = [[list(chosen), score(chosen)]]
    while len(chosen) > size:
        scores = [score([j for j in chosen if j != i]) for i in chosen]
        chosen.pop(int(np.argmin(scores)))
        path.append([list(chosen), min(scores)])
    return path


found = []
for name, target in [("diabetes", "target"), ("wine", "class")]:
    x, y = table(name, target)
    x = unit(x)
    l = gaussian(unit(np.array(y, float)[:, None]), 1) if name == "diabetes" else delta(y)
    for estimator, measure in [("biased", biased), ("unbiased", unbiased)]:
        if name == "diabetes" and estimator == "unbiased":
            continue
        score = lambda subset: measure(gaussian(x[:, subset], len(subset)), l)
        criterion = f"{{kind: hsic, estimator: {estimator}}}"
        found.append([name, target, criterion, "{kind: greedy, max_features: 3}", forward(x.shape[1], 3, score)])
        least = x.shape[1] - 2
        found.append([name, target, criterion, f"{{kind: backward, min_features: {least}}}", backward(x.shape[1], least, score)])
print(json.dumps(found, indent=1))
