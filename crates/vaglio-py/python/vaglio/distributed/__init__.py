"""Runs whose repetitions other processes share: those of Dask, of an executor, or of Spark.

Outer folds, shuffles, points of a learning curve, halves, the search on all rows and the folds of its choice are units of work. A
folder that all workers see, the ledger, gets what each has done; from it the run is put together, to the last bit that of one
process. Whoever is lost on the way, a worker or the process that gives the units out, costs what was not in the ledger yet.

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
from vaglio.distributed._named import by_engine, named

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
        As of `vaglio.run`; frames in it are written to the ledger.
    client : dask.distributed.Client, concurrent.futures.Executor or callable
        Where units run; of an executor those whose processes have this package, as of ``concurrent.futures``, loky, mpi4py and
        executorlib. A function makes an executor, and makes it again when a process of it was lost.
    ledger : path
        A folder that all workers see under this path. What is there of the same run is gone on from.
    of : int, optional
        In how many indexes the units are given out; by default one a unit, and 1024 at most.
    out : path, optional
        The folder that the run is written to; the ledger by default.
    set, verify, progress
        As of `vaglio.run`.
    threads : int
        Threads of a unit.
    retries : int
        How often an index may be lost with its worker.
    workers : int, optional
        How many units an executor runs at a time, where it does not say that itself.

    Returns
    -------
    Run
        As of `vaglio.run`: its ``selection.json`` is that of one process, times and memory aside. Where time or memory was over,
        it is partial, and the same call with more goes on.

    Raises
    ------
    SettingError, DataError, NumericalError
        With the place of what is wrong; workers of another build than this process get no unit.
    KeyboardInterrupt
        When interrupted: workers leave their units, what was found until then is in `out`, and the same call goes on.
    """
    out = os.path.abspath(ledger if out is None else out)
    with set_aside_unless_done(out, pipeline):
        shards = planned(pipeline, ledger, of, set, workers=workers_of(client, workers))
        stopped = spread(shards, client, threads=threads, retries=retries, workers=workers, progress=progress)
        merge(shards, out, stopped, verify=verify, progress=progress)
    return ended(out, stopped)


@contextlib.contextmanager
def set_aside_unless_done(out, pipeline):
    """Set the result that is there aside where a run fails, as `vaglio.run` does."""
    try:
        yield
    except BaseException:
        is_file = isinstance(pipeline, (str, os.PathLike))
        with contextlib.suppress(VaglioError):
            _vaglio.set_aside(out, pipeline if is_file else None)
        raise


class Planned:
    """A plan in its ledger, whose path is absolute."""

    def __init__(self, shards):
        self.ledger, self.shards = os.fspath(shards.folder()), shards


def planned(pipeline, ledger, of=None, set=None, below=False, workers=1):
    """The plan of a pipeline, which is written to the ledger, or to a folder below it that is named by what it is of.

    The search on all rows is made by as many parts as there are workers, where it may be.
    """
    ledger = os.path.abspath(ledger)
    with _pipeline._Written(pipeline, frames=os.path.join(ledger, "data")) as written:
        assigned, file = _pipeline._assignments(set), written.file
        return Planned(_vaglio.Shards.plan(written.text, written.folder, ledger, of, file, assigned, below, workers))


def spread(plan, client, *, threads=1, retries=10, workers=None, progress=None):
    """Do all units of a plan; why some are not done, ``"limit"`` or ``"interrupted"``, or `None`."""
    with led(plan.shards, plan.ledger) as driver, _progress.of_run(progress) as show:
        on = engine(client, plan.shards.build(), workers)
        try:
            return Drive(plan, on, driver, max(threads or 1, 1), retries, show).run()
        finally:
            on.end()


def merge(plan, out, stopped, *, verify=None, progress=None):
    """End a run with the units that are done."""
    with _progress.of_run(progress) as show:
        plan.shards.merge(out, verify=verify, progress=show, stopped=stopped)


def ended(out, stopped):
    """The result of a run, as `vaglio.run` gives it."""
    if stopped == "interrupted":
        raise KeyboardInterrupt
    return Run(out)
