"""Distributed runs on Dask, an executor or Spark.

Units of work are: outer folds, shuffles, learning-curve points, half-samples, the search on all rows and the folds of
its choice. Workers write their results to a shared folder, the ledger. The run is merged from it and equals that of one
process to the last bit. A lost worker or driver costs only the work that was not yet in the ledger.

>>> import pandas, tempfile, vaglio.distributed
>>> from concurrent.futures import ThreadPoolExecutor
>>> frame = pandas.DataFrame({"a": range(40), "b": [i % 7 for i in range(40)]})
>>> frame["y"] = frame.a + 3 * frame.b
>>> pipeline = {"data": {"train": frame, "target": "y"}, "evaluate": {"permutations": 3}}
>>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
...     result = vaglio.distributed.run(pipeline, executor, ledger=folder)
...     sorted(column.name for column in result.selection.selected)
['a', 'b']
"""

import contextlib
import os

from vaglio import _pipeline, _progress, _vaglio
from vaglio._errors import VaglioError
from vaglio._result import Run
from vaglio.distributed._drive import Drive, led
from vaglio.distributed._engines import engine, workers_of
from vaglio.distributed._named import by_engine

__all__ = ["run"]


def run(
    pipeline,
    client,
    *,
    ledger,
    of=None,
    out=None,
    set=None,
    verify=None,
    threads=1,
    retries=10,
    workers=None,
    progress=None,
):
    """Run a pipeline on the workers of a client or an executor, and write the files of the run.

    Parameters
    ----------
    pipeline : path, dict or Pipeline
        As in `vaglio.run`; frames are written to the ledger.
    client : dask.distributed.Client, concurrent.futures.Executor or callable
        Runs the units. Executors' processes need this package, as with ``concurrent.futures``, loky, mpi4py and
        executorlib. A function creates an executor, and again if one of its processes is lost.
    ledger : path
        Folder that all workers see under this path. Resumes from results of the same run in it.
    of : int, optional
        Number of indexes that share the units; by default one per unit, and at most 1024.
    out : path, optional
        Output folder; by default the ledger.
    set, verify, progress
        As in `vaglio.run`.
    threads : int
        Threads per unit.
    retries : int
        Number of times that an index may be lost with its worker.
    workers : int, optional
        Number of units that an executor runs at a time, if it does not tell.

    Returns
    -------
    Run
        As in `vaglio.run`: its ``selection.json`` equals that of one process, except for times and memory. If a limit
        was reached, it is partial, and the same call with a higher limit resumes.

    Raises
    ------
    SettingError, DataError, NumericalError
        With the location of the fault; workers of another build get no unit.
    KeyboardInterrupt
        If interrupted: workers abandon their units, the result so far is in `out`, and the same call resumes.
    """

    def compute():
        shards = planned(pipeline, ledger, of, set, workers=workers_of(client, workers))
        return shards, spread(shards, client, threads=threads, retries=retries, workers=workers, progress=progress)

    return completed(pipeline, os.path.abspath(ledger if out is None else out), compute, verify, progress)


def completed(pipeline, out, compute, verify, progress):
    """Result of a run whose units `compute` runs; it returns their shards, and why some are missing."""
    with set_aside_unless_done(out, pipeline):
        shards, stopped = compute()
        with _progress.of_run(progress) as show:
            shards.merge(out, verify, show, stopped)
    if stopped == "interrupted":
        raise KeyboardInterrupt
    return Run(out)


@contextlib.contextmanager
def set_aside_unless_done(out, pipeline):
    """Rename an existing result if a run fails, like `vaglio.run`."""
    try:
        yield
    except BaseException:
        is_file = isinstance(pipeline, (str, os.PathLike))
        with contextlib.suppress(VaglioError):
            _vaglio.set_aside(out, pipeline if is_file else None)
        raise


def planned(pipeline, ledger, of=None, set=None, below=False, workers=1):
    """Plan a pipeline in the ledger, or in a subfolder named by a hash of the run.

    The search on all rows is divided into as many parts as there are workers, if possible.
    """
    ledger = os.path.abspath(ledger)
    with _pipeline._Written(pipeline, set, frames=os.path.join(ledger, "data")) as written:
        return _vaglio.Shards.plan(written, ledger, of, below, workers)


def spread(shards, client, *, threads=1, retries=10, workers=None, progress=None):
    """Run all units of a plan; return why some are missing, ``"limit"`` or ``"interrupted"``, or `None`."""
    with led(shards) as driver, _progress.of_run(progress) as show:
        on = engine(client, shards.build(), workers)
        try:
            return Drive(shards, on, driver, max(threads or 1, 1), retries, show).run()
        finally:
            on.end()
