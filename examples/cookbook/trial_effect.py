"""The effect of the treatment with its standard error, alone and beside columns, and what searching through subgroups claims.

Made with NumPy 2; what it prints is in `trial_effect.txt`.
"""

import pathlib

import numpy as np
import pandas as pd

table = pd.read_csv(pathlib.Path(__file__).parent.parent / "data" / "trial.csv")
count, treated = table["cd4_week20"].to_numpy(float), table["treat"].to_numpy() == 1
before = table.drop(columns=["treat", "cd4_week20"])


def effect(columns):
    """Least squares; the standard error of White, HC1."""
    design = np.column_stack([np.ones(len(table)), treated, before[columns]]).astype(float)
    inverse = np.linalg.inv(design.T @ design)
    weights = inverse @ design.T @ count
    meat = (design * ((count - design @ weights) ** 2)[:, None]).T @ design
    covariance = inverse @ meat @ inverse * len(table) / (len(table) - design.shape[1])
    return weights[1], covariance[1, 1] ** 0.5


for name, columns in [
    ("alone", []),
    ("cd40", ["cd40"]),
    ("eight chosen", ["cd40", "str2", "cd80", "oprior", "race", "symptom", "hemo", "karnof"]),
]:
    print("%-12s %.1f, standard error %.1f" % (name, *effect(columns)))

halves = {f"{name} {side}": rows for name in before for side, rows in [
    ("low", before[name] <= before[name].median()), ("high", before[name] > before[name].median())]}


def gain(rows):
    return count[rows & treated].mean() - count[rows & ~treated].mean()


random = np.random.default_rng(0)
claimed, later, whole = [], [], []
for _ in range(500):
    first = random.permutation(len(table)) < len(table) // 2
    able = [rows for rows in halves.values() if min((rows & part).sum() for part in (first, ~first)) >= 100]
    best = max(able, key=lambda rows: gain(rows & first))
    claimed.append(gain(best & first))
    later.append(gain(best & ~first))
    whole.append(gain(~first))
print("best subgroup of one half %.1f, the same subgroup in the other half %.1f, all of the other half %.1f"
      % (np.mean(claimed), np.mean(later), np.mean(whole)))
