"""One peer on one table. Runs in the environment of the peers, in a process of its own.

python peer.py JOB.json    (table, peer, settings, rescore); prints one line of JSON at the end
"""
import importlib
import json
import resource
import sys
import time

import numpy as np
from numpy_peers import starts


class Clock:
    """Adds up seconds and processor seconds of what runs inside `with clock`, or `with clock.scaled(factor)`."""

    def __init__(self):
        self.seconds = self.cpu = self.measured = 0.0
        self.factor = 1.0

    def scaled(self, factor):
        self.factor = factor
        return self

    def __enter__(self):
        self.wall, self.used = time.perf_counter(), processor()
        return self

    def __exit__(self, *_):
        wall = time.perf_counter() - self.wall
        self.seconds += self.factor * wall
        self.cpu += self.factor * (processor() - self.used)
        self.measured += wall
        self.factor = 1.0


def processor():
    """Processor seconds of this process and of those that it started and that have ended."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def rescored(x, y, columns, kind, penalty, folds=0):
    """The loss of ridge regression on some columns by plain retraining; by leave-one-out from the hat matrix."""
    z = x[sorted(columns)].T

    def weights(z, y):
        return np.linalg.solve(z.T @ z + penalty * np.eye(z.shape[1]), z.T @ y)

    if kind == "training":
        return np.mean((y - z @ weights(z, y)) ** 2)
    if kind == "loo":
        hat = np.linalg.solve(z.T @ z + penalty * np.eye(z.shape[1]), z.T)
        leverage = np.einsum("ij,ji->i", z, hat)
        return np.mean(((y - z @ (hat @ y)) / (1 - leverage)) ** 2)
    total = 0.0
    ends = starts(len(y), folds)
    for a, b in zip(ends, ends[1:]):
        held = np.zeros(len(y), bool)
        held[a:b] = True
        total += np.sum((y[held] - z[held] @ weights(z[~held], y[~held])) ** 2)
    return total / len(y)


def reading(path, clock):
    """The columns of a Parquet file as NumPy arrays."""
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    with clock:
        table = pyarrow.parquet.read_table(path, use_threads=False)
        columns = [column.to_numpy() for column in table.columns]
    return {"read": len(columns)}


def main():
    with open(sys.argv[1]) as file:
        job = json.load(file)
    clock = Clock()
    if job["peer"] == "reading":
        answer = reading(f"{job['table']}.parquet", clock)
    else:
        table = np.load(f"{job['table']}.npy")
        x, y = table[:-1], table[-1]
        if job["peer"] == "rescore":
            answer = {"losses": [rescored(x, y, columns, **job["rescore"]) for columns in job["sets"]]}
        else:
            module, function = job["peer"].split(".")
            answer = getattr(importlib.import_module(module), function)(x, y, job["settings"], clock)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if job.get("rescore") and "columns" in answer and not answer.get("part"):
                answer["loss"] = rescored(x, y, answer["columns"], **job["rescore"])
            answer["peak"] = 1024 * peak
    print(json.dumps({**answer, "seconds": clock.seconds, "cpu": clock.cpu, "measured": clock.measured}, default=float))


if __name__ == "__main__":
    main()
