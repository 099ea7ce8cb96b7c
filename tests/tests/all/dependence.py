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


def bins(column, rule, count):
    if rule == "deviation":
        z = unit(column)
        return np.where(z <= -1 + 1e-9, 0, np.where(z >= 1 - 1e-9, 2, 1))
    if rule == "width":
        low, high = column.min(), column.max()
        return np.minimum((column - low) / (high - low) * count, count - 1).astype(int)
    middle = np.array([np.sum(column < v) + np.sum(column == v) / 2 for v in column])
    return np.minimum(middle / len(column) * count + 1e-9, count - 1).astype(int)


def information(a, b):
    total = 0.0
    for u in sorted(set(a)):
        for v in sorted(set(b)):
            both = np.mean((a == u) & (b == v))
            if both > 0:
                total += both * np.log(both / (np.mean(a == u) * np.mean(b == v)))
    return total


def informations(x, y, rule, count, is_class):
    columns = [bins(x[:, k], rule, count) for k in range(x.shape[1])]
    target = np.array(y) if is_class else bins(np.array(y, float), rule, count)
    q = np.array([[information(a, b) for b in columns] for a in columns])
    return q, np.array([information(a, target) for a in columns])


for name, target, rule in [("diabetes", "target", "deviation"), ("diabetes", "target", "frequency"), ("wine", "class", "width")]:
    x, y = table(name, target)
    q, f = informations(x, y, rule, 5, name == "wine")
    for scheme in ["difference", "quotient"]:

        def score(subset):
            relevance, redundancy = f[subset].mean(), q[np.ix_(subset, subset)].mean()
            return redundancy - relevance if scheme == "difference" else -relevance / redundancy

        setting = rule if rule == "deviation" else f"{{{rule}: 5}}"
        criterion = f"{{kind: mrmr_information, scheme: {scheme}, bins: {setting}}}"
        found.append([name, target, criterion, "{kind: greedy, max_features: 5, choose: last}", forward(x.shape[1], 5, score)])
        least = x.shape[1] - 3
        found.append([name, target, criterion, f"{{kind: backward, min_features: {least}}}", backward(x.shape[1], least, score)])


def lowest(q, f, alpha):
    """The quadratic program by every support, of which the best value is that of the minimum."""
    count, best, weights = len(f), np.inf, None
    for chosen in range(1, 2**count):
        s = [k for k in range(count) if chosen >> k & 1]
        bordered = np.block([[(1 - alpha) * q[np.ix_(s, s)], np.ones((len(s), 1))], [np.ones((1, len(s))), np.zeros((1, 1))]])
        x = np.linalg.solve(bordered, np.append(alpha * f[s], 1))[:-1]
        value = (1 - alpha) / 2 * x @ q[np.ix_(s, s)] @ x - alpha * f[s] @ x
        if x.min() >= 0 and value < best:
            best, weights = value, np.zeros(count)
            weights[s] = x
    return weights


def normalized(k):
    h = np.eye(len(k)) - 1 / len(k)
    k = h @ k @ h
    return k / np.linalg.norm(k)


def kernels(x, y, is_class):
    columns = [normalized(gaussian(unit(x[:, [k]]), 1)) for k in range(x.shape[1])]
    target = normalized(delta(y) if is_class else gaussian(unit(np.array(y, float)[:, None]), 1))
    return np.array([[np.sum(a * b) for b in columns] for a in columns]), np.array([np.sum(a * target) for a in columns])


def correlations(x, y, is_class):
    q = np.abs(np.corrcoef(x.T))
    codes = [(y.count(c) / len(y), [float(v == c) for v in y]) for c in sorted(set(y))] if is_class else [(1, np.array(y, float))]
    return q, np.array([sum(p * abs(np.corrcoef(x[:, k], code)[0, 1]) for p, code in codes) for k in range(x.shape[1])])


for name, target in [("diabetes", "target"), ("wine", "class")]:
    x, y = table(name, target)
    is_class = name == "wine"
    for similarity, (q, f) in {
        "mutual_information": informations(x, y, "deviation", 0, is_class),
        "correlation": correlations(x, y, is_class),
        "nhsic": kernels(x, y, is_class),
    }.items():
        for alpha in ["auto", 0.3]:
            share = q.mean() / (q.mean() + f.mean()) if alpha == "auto" else alpha
            x_of = lowest(q, f, share)
            order = [int(k) for k in np.argsort(-x_of, kind="stable") if x_of[k] > 0]
            path = [[order[: k + 1], -x_of[order[: k + 1]].sum()] for k in range(len(order))]
            criterion = f"{{kind: qpfs, similarity: {similarity}, alpha: {alpha}}}"
            found.append([name, target, criterion, f"{{kind: rank, max_features: {len(order)}, choose: last}}", path])
print(json.dumps(found, indent=1))
