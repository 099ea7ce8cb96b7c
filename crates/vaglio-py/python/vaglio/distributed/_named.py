"""Engines named in a pipeline file: ``engine: {kind: dask, …}`` and ``{kind: spark, …}``."""

import contextlib
import importlib.util
import os
import shutil
import socket
import sys
from urllib.parse import urlsplit

from vaglio._errors import SettingError

#: Time limit for a scheduler's answer, in seconds.
ANSWER = 10


def _refuse(setting, message):
    raise SettingError(f"`{setting}`: {message}", field=setting)


def _needs(package, kind):
    if importlib.util.find_spec(package) is None:
        _refuse("engine.kind", f"`{kind}` needs the package `{package}`, which {sys.executable} has not: install `vaglio[{kind}]`")


@contextlib.contextmanager
def _dask(engine):
    _needs("distributed", "dask")
    from distributed import Client

    address = engine["address"]
    try:
        client = Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        _refuse(engine["setting"], f"no scheduler of Dask answers at `{address}`: {error}")
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def _java(engine):
    _needs("pyspark", "spark")
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and os.path.exists(os.path.join(home, "bin", "java")))):
        _refuse("engine.kind", "`spark` needs Java, and there is no program `java`; JAVA_HOME names its folder")
    master = engine["address"]
    if master.startswith("spark://"):
        place = urlsplit(master)
        try:
            socket.create_connection((place.hostname, place.port or 7077), timeout=ANSWER).close()
        except (OSError, ValueError) as error:
            _refuse(engine["setting"], f"no master of Spark answers at `{master}`: {error}")


@contextlib.contextmanager
def _spark(engine):
    _java(engine)
    from vaglio.distributed import spark

    with spark.session(engine["address"]) as session:
        yield session


def workers(engine):
    """Describe the workers, for a plan."""
    if engine["kind"] == "dask":
        with _dask(engine) as client:
            threads = client.nthreads()
            count, slots = len(threads), sum(threads.values())
            of = "worker" if count == 1 else "workers"
            return f"{count} {of} of Dask at {engine['address']}, {slots} units at a time"
    _java(engine)
    return f"executors of Spark at {engine['address']}"


def by_engine(pipeline, engine, folder, *, set=None, threads=None, progress=None):
    """Run a pipeline's units on the engine that it names; return the shards, and why units are missing."""
    from vaglio import distributed

    threads = max(engine["threads"] if threads is None else threads, 1)
    with _dask(engine) if engine["kind"] == "dask" else _spark(engine) as client:
        # Check the engine before planning, which reads the data.
        workers = distributed.workers_of(client) if engine["kind"] == "dask" else client.sparkContext.defaultParallelism
        ledger = os.path.join(folder, engine["ledger"])
        shards = distributed.planned(pipeline, ledger, set=set, below=True, workers=workers)
        if engine["kind"] == "dask":
            return shards, distributed.spread(shards, client, threads=threads, progress=progress)
        from vaglio.distributed import spark

        return shards, spark.spread(shards, client, threads=threads, progress=progress)
