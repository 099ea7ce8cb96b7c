"""Schedulers and workers of Dask on this machine, and pipelines that are shared between them."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import vaglio

#: How often the tests kill; a longer campaign sets it.
KILLS = int(os.environ.get("VAGLIO_ENGINE_KILLS", "1"))
#: No test waits longer, in seconds.
LONG = 120

EVALUATE = "evaluate: {nested: {folds: 3}, permutations: 3, stability: {pairs: 2}, learning_curve: true}"
SLOW = """search: {kind: greedy, max_features: 6, choose: {folds: 5}}
learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}
evaluate: {nested: {folds: 5}, permutations: 30, stability: {pairs: 3}}"""


def write(folder, lines, rows=48, columns=6, seed=0, target="y"):
    """A table and a pipeline for it; the pipeline file."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    y = X[:, 0] - X[:, 2] + 0.5 * random.normal(size=rows)
    frame = pd.DataFrame(X, columns=[f"x{index}" for index in range(columns)])
    frame = frame.assign(y=y, kind=np.where(y > 0, "high", "low"))
    frame.to_csv(folder / "train.csv", index=False)
    other = {"y": "kind", "kind": "y"}[target]
    path = folder / "p.yaml"
    path.write_text(f"version: 1\ndata: {{train: train.csv, target: {target}, exclude: [{other}]}}\n{lines}\n")
    return path


def timeless(folder):
    """The text of ``selection.json`` without times and memory."""

    def without(value):
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key not in ("seconds", "peak_memory_bytes")}
        return [without(item) for item in value] if isinstance(value, list) else value

    return json.dumps(without(json.loads((Path(folder) / "selection.json").read_text())))


def local(path):
    """The run of one process; its selection."""
    out = path.parent / "local"
    vaglio.run(path, out)
    return timeless(out)


def ledger_of(path):
    """Where the units of a pipeline are kept."""
    return path.parent / "ledger"


def done_units(path):
    """How many are done."""
    return len(list(ledger_of(path).glob("**/shards/*.jsonl")))


def spawn(*arguments, **options):
    """A process of this interpreter."""
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
    return subprocess.Popen([sys.executable, *map(str, arguments)], **options)


def until(ready, what, seconds=LONG):
    """Wait until something is so; what was ready."""
    end = time.monotonic() + seconds
    while not (found := ready()):
        assert time.monotonic() < end, f"{what} within {seconds} s"
        time.sleep(0.02)
    return found


def whole(path):
    """The JSON of a file that another process writes; ``None`` as long as it is not there, or not all of it."""
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


def end(process):
    """Kill a process and wait for it, also where it was stopped."""
    process.kill()
    process.wait(LONG)


class Cluster:
    """A scheduler on loopback, and workers of one thread, each a process without a nanny."""

    def __init__(self, folder):
        self._file, self._folder = folder / "scheduler.json", folder
        scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.scheduler = spawn(*scheduler, "--scheduler-file", self._file)
        self.address = until(lambda: whole(self._file), "a scheduler")["address"]
        self.workers = []

    def add(self, **environment):
        """Another worker."""
        arguments = ["-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        local = ["--local-directory", self._folder / "local", "--host", "127.0.0.1", "--death-timeout", "60"]
        self.workers.append(spawn(*arguments, *local, env={**os.environ, **environment}))
        return self.workers[-1]

    def ready(self, client, count):
        """Wait until so many workers are there."""
        until(lambda: len(client.nthreads()) == count, f"{count} workers")

    def close(self):
        """End all of them."""
        for process in [*self.workers, self.scheduler]:
            end(process)


@contextlib.contextmanager
def cluster(folder, workers=2):
    """A cluster and its client."""
    from distributed import Client

    made = Cluster(folder)
    try:
        for _ in range(workers):
            made.add()
        with Client(made.address, set_as_default=False) as client:
            made.ready(client, workers)
            yield made, client
    finally:
        made.close()
