"""pyarrow and polars reading a file to the same columns: python benches/reading.py THREADS FILE…

Seconds are the least of five, from opening to columns of doubles or bytes in memory. Compare with
`cargo run --release --manifest-path papers/Cargo.toml -- reading --data FOLDER --threads THREADS`.
"""

import os
import sys
import time

threads, files = int(sys.argv[1]), sys.argv[2:]
os.environ["POLARS_MAX_THREADS"] = str(threads)
os.environ["OMP_NUM_THREADS"] = str(threads)

import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet

pyarrow.set_cpu_count(threads)
pyarrow.set_io_thread_count(threads)


def of_pyarrow(path):
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_table(path, use_threads=threads > 1)
    return pyarrow.csv.read_csv(path, read_options=pyarrow.csv.ReadOptions(use_threads=threads > 1))


def of_polars(path):
    return polars.read_parquet(path) if path.endswith(".parquet") else polars.read_csv(path)


for path in files:
    for name, read in [("pyarrow", of_pyarrow), ("polars", of_polars)]:
        least = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            table = read(path)
            least = min(least, time.perf_counter() - start)
        print(f"{os.path.basename(path)}  {name:8}  {table.shape if name == 'polars' else (table.num_rows, table.num_columns)}  {least:.3f} s")
