"""What a list of λ costs beside one λ, for every search whose size and λ are chosen by folds.

python benches/lambdas.py --vaglio target/release/vaglio [--rows 5000] [--columns 100] [--lambdas 50] [--only WORD ...]

Needs NumPy and pyarrow. Seconds are of the processor, on one thread; the last column is those of the list over those of one.
"""
import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

CRITERIA = {
    "loo": {"kind": "loo"},
    "kfold": {"kind": "kfold"},
    "kfold absolute": {"kind": "kfold", "loss": "absolute"},
}
SEARCHES = {
    "all": {"kind": "all"},
    "rank": {"kind": "rank"},
    "lars": {"kind": "lars"},
    "greedy": {"kind": "greedy"},
    "backward": {"kind": "backward"},
}


def table(rows, columns):
    random = np.random.default_rng(rows + columns)
    x = random.normal(size=(rows, columns))
    x[:, ::7] += 0.7 * x[:, [1]]
    target = x[:, :12].sum(axis=1) + random.normal(size=rows)
    return pa.table({**{f"x{k}": x[:, k] for k in range(columns)}, "target": target})


def seconds(vaglio, folder, pipeline):
    (folder / "pipeline.yaml").write_text(json.dumps(pipeline))
    command = [vaglio, "run", "pipeline.yaml", "--threads", "1", "--quiet", "--out", "out"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, cwd=folder, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vaglio", default="target/release/vaglio")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--lambdas", type=int, default=50)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    vaglio = str(Path(given.vaglio).resolve())
    lists = [[1.0], list(np.logspace(-2, 4, given.lambdas))]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        pa.parquet.write_table(table(given.rows, given.columns), folder / "table.parquet")
        for criterion, search in ((c, s) for c in CRITERIA for s in SEARCHES):
            name = f"{search} {criterion}"
            if not all(word in name for word in given.only):
                continue
            took = []
            for lambdas in lists:
                data = {"train": "table.parquet", "target": "target"}
                learner = {"kind": "rls", "lambda": {"values": lambdas}}
                pipeline = {"version": 1, "seed": 1, "data": data, "learner": learner}
                parts = {"criterion": CRITERIA[criterion], "search": SEARCHES[search]}
                took.append(seconds(vaglio, folder, {**pipeline, **parts}))
            one, many = took
            print(f"{name:24}  {one:8.2f}  {many:8.2f}  {many / one:6.1f}", flush=True)


if __name__ == "__main__":
    main()
