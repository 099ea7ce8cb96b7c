"""Runs units on Spark executors, by ``mapInArrow`` over a frame of indexes.

The frame has one partition per index. Executors write their work to the ledger and return the outcomes in the frame.
Spark reruns units lost with an executor, and with ``spark.speculation`` slow ones. Every executor reads the data from
the pipeline's files; write a Spark table to Parquet first.
"""

import contextlib
import os
import sys
import threading

from vaglio import _progress
from vaglio._errors import DataError, SettingError
from vaglio.distributed import _work, completed, planned
from vaglio.distributed._drive import led

#: Interval between checks of the ledger, in seconds.
LOOK = 1.0
#: Maximum number of rounds for indexes that the engine did not complete.
ROUNDS = 4
_SCHEMA = "index long, word string, message string, place string"


def run(pipeline, session, *, ledger, of=None, out=None, set=None, verify=None, threads=1, progress=None):
    """Run a pipeline on the executors of a Spark session, and write the files of the run.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Its executors need this package in the same build, and access to the ledger and the data.
    pipeline, ledger, of, out, set, verify, threads, progress
        As in `vaglio.distributed.run`.
    """

    def compute():
        shards = planned(pipeline, ledger, of, set, workers=session.sparkContext.defaultParallelism)
        return shards, spread(shards, session, threads=threads, progress=progress)

    return completed(pipeline, os.path.abspath(ledger if out is None else out), compute, verify, progress)


@contextlib.contextmanager
def session(master):
    """Spark session for a master; executors use this interpreter unless PYSPARK_PYTHON names another."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    try:
        made = SparkSession.builder.master(master).appName("vaglio").config("spark.ui.enabled", "false").getOrCreate()
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise SettingError(f"`engine.master`: Spark does not start at `{master}`: {lines[0]}", field="engine.master") from error
    try:
        yield made
    finally:
        made.stop()


def spread(shards, session, *, threads=1, progress=None):
    """Run all units of a plan; return why some are missing, ``"limit"`` or ``"interrupted"``, or `None`."""
    ledger = shards.folder()
    with led(shards) as driver, _progress.of_run(progress) as show:
        how = (ledger, driver, shards.build(), max(threads or 1, 1))
        for _ in range(ROUNDS):
            far = shards.progress()
            left = [index for index, (word, _, _) in enumerate(far) if word != "done"]
            if not left:
                return None
            # Indexes that wait for the search form a separate round.
            now = left if far[0][0] == "done" else [index for index in left if not shards.waits(index)]
            try:
                said = _round(session, how, now, lambda: _shown(shards, show))
            except KeyboardInterrupt:
                return "interrupted"
            if any(row.word == "limit" for row in said):
                return "limit"
            _check(said, ledger, shards.build())
    raise DataError(f"{ledger}: after {ROUNDS} rounds on Spark indexes are not done: {left[:5]}", file=ledger)


def _shown(shards, show):
    if show:
        far = shards.progress()
        show("units", float(sum(done for _, _, done in far)), float(shards.units()), None)


def _round(session, how, indexes, look):
    """Run indexes, one per partition, and wait for all of them; an interruption ends the job."""
    frame = session.range(0, len(indexes), 1, len(indexes)).mapInArrow(_mapped(how, indexes), _SCHEMA)
    said, failed = [], []

    def collect():
        try:
            said.extend(frame.collect())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK)
            look()
    except BaseException:
        with contextlib.suppress(Exception):
            session.sparkContext.cancelAllJobs()
        raise
    if failed:
        lines = str(failed[0]).strip().splitlines() or [type(failed[0]).__name__]
        raise DataError(f"Spark gave a round of units up, and what is done is in the ledger: {lines[0]}") from failed[0]
    return said


def _mapped(how, indexes):
    """Work of an executor on rows of the frame."""
    ledger, driver, planned_build, threads = how

    def mapped(batches):
        import pyarrow as pa

        from vaglio.distributed import _work as work

        for batch in batches:
            numbers = [indexes[number] for number in batch.column(0).to_pylist()]
            ended = [work.unit(ledger, index, driver, planned_build, threads) for index in numbers]
            words, messages = [word for word, _, _ in ended], [str(what) for _, what, _ in ended]
            columns = [pa.array(numbers, pa.int64()), pa.array(words), pa.array(messages), pa.array([at for _, _, at in ended])]
            yield pa.RecordBatch.from_arrays(columns, ["index", "word", "message", "place"])

    return mapped


def _check(said, ledger, build):
    """Raise errors that another round cannot fix."""
    for row in said:
        where = f"index {row.index}, on {row.place}"
        if row.word == "build":
            raise SettingError(f"{row.place} has build {row.message} of vaglio, and this is {build}", field="session")
        if row.word == "blind":
            raise DataError(f"{row.place} sees no ledger at {ledger}; all executors need it under the same path", file=ledger)
        if row.word == "error":
            raise DataError(f"{row.message} ({where})")
        if row.word == "left" and not _work.is_done(ledger, row.index):
            raise DataError(f"{ledger}: another driver gives out the units of this ledger now", file=ledger)
