"""The seeded data: the same bits wherever they are made. Runs in the environment of the peers.

python data.py FOLDER SPECIFICATION    (JSON; what is there already is kept)

Of each table FOLDER gets `NAME.parquet` with the columns and the target `y`, for vaglio, and `NAME.npy` with the same
numbers for the peers, one row of the array for each column and the target in the last.
"""
import json
import os
import sys

import numpy as np
import pyarrow
import pyarrow.parquet


def uniform(seed, count, start=0):
    """`count` doubles in [0, 1): entry t is splitmix64 of seed + (t + 1) times an odd constant, its upper 53 bits."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(start + 1, start + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(float) * 2.0**-53


def noise(seed, rows, columns):
    """Columns x rows of mean 0 and variance 1, uniform; drawn row by row, and so whatever the blocks are."""
    made = np.empty((columns, rows))
    step = max(1, 4_000_000 // columns)
    for first in range(0, rows, step):
        last = min(rows, first + step)
        block = uniform(seed, (last - first) * columns, first * columns).reshape(last - first, columns)
        made[:, first:last] = ((block * 2 - 1) * np.sqrt(3)).T
    return made


def sparse_linear(rows, columns, seed, correlation=0.5, true=50, deviation=1.0, squash=0.0):
    """Columns each correlated with the one before; the target is a sum of some, with noise; tanh(y / squash) of it."""
    x = noise(seed, rows, columns)
    for j in range(1, columns):
        x[j] = correlation * x[j - 1] + np.sqrt(1 - correlation**2) * x[j]
    y = deviation * noise(seed + 1000, rows, 1)[0]
    for t in range(min(true, columns)):
        y += (-1) ** t / (1 + 0.1 * t) * x[(t * 37 + 5) % columns]
    return x, np.tanh(y / squash) if squash else y


def curved(rows, columns, seed):
    """y = x0 exp(x1) + x2 + noise; the second half of the columns are near copies of the first."""
    half = noise(seed, rows, columns // 2)
    x = np.vstack([half, half + 0.01 * noise(seed + 1, rows, columns // 2)])
    return x, x[0] * np.exp(x[1]) + x[2] + 0.1 * noise(seed + 2, rows, 1)[0]


def narma(rows, seed):
    """One series: uniform input, and the response of order ten that is predicted, kept bounded by tanh."""
    u, y = 0.5 * uniform(seed, rows), np.zeros(rows)
    for t in range(9, rows - 1):
        y[t + 1] = np.tanh(0.3 * y[t] + 0.05 * y[t] * y[t - 9 : t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1)
    return u[None], y - y.mean()


def write(folder, name, kind, csv=False, **settings):
    endings = ["parquet", "npy"] + ["csv"] * csv
    path = os.path.join(folder, name)
    if all(os.path.exists(f"{path}.{ending}") for ending in endings):
        return
    x, y = {"sparse_linear": sparse_linear, "curved": curved, "narma": narma}[kind](**settings)
    names = [f"c{j}" for j in range(len(x))] + ["y"]
    pyarrow.parquet.write_table(pyarrow.table([*x, y], names), f"{path}.part")
    os.replace(f"{path}.part", f"{path}.parquet")
    if csv:
        np.savetxt(f"{path}.csv", np.vstack([x, y]).T, "%.17g", ",", header=",".join(names), comments="")
    np.save(f"{path}.npy", np.vstack([x, y]))


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    write(sys.argv[1], **json.loads(sys.argv[2]))
