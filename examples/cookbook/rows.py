"""Writes a Parquet file of so many rows: thirty columns, of which four make `y`, the last one by a product.

    python rows.py 10000000 runs/rows.parquet

Needs numpy and pyarrow. In the public domain (CC0).
"""

import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

rows, file = int(sys.argv[1]), pathlib.Path(sys.argv[2])
file.parent.mkdir(parents=True, exist_ok=True)
random = np.random.default_rng(1)
names = [f"x{number}" for number in range(1, 31)]
schema = pa.schema([(name, pa.float32()) for name in [*names, "y"]])
with pq.ParquetWriter(file, schema, compression="zstd") as writer:
    for start in range(0, rows, 1_000_000):
        count = min(1_000_000, rows - start)
        common = random.standard_normal((count, 1), dtype=np.float32)
        columns = random.standard_normal((count, 30), dtype=np.float32) + common
        noise = random.standard_normal(count, dtype=np.float32)
        signal = 0.5 * columns[:, 0] - 0.3 * columns[:, 1] + 0.02 * columns[:, 2] + 0.3 * columns[:, 3] * columns[:, 4]
        arrays = [pa.array(column) for column in [*columns.T, signal + 3 * noise]]
        writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
