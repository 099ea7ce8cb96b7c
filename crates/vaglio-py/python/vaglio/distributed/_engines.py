"""Engines that run units: a Dask client or an executor."""

import concurrent.futures
import contextlib
import math
import os
import queue
import threading
import time
import warnings

from vaglio._errors import DataError, SettingError
from vaglio.distributed import _work

#: Interval between checks of the Dask workers, in seconds.
LOOK = 1.0
#: Seconds without a Dask worker until that is reported.
ALONE = 5.0
#: Time limit for a Dask worker's answer, in seconds.
ANSWER = 10.0


def engine(client, planned, workers=None):
    """Engine for a client, an executor, or a function that creates one."""
    kind = type(client)
    if kind.__module__.split(".")[0] == "distributed" and hasattr(client, "nthreads"):
        return Dask(client, planned)
    if hasattr(client, "submit") or callable(client):
        return Executor(client, workers)
    raise SettingError(
        f"units run on a client of Dask or an executor of concurrent.futures, and not on {kind.__name__}", field="client"
    )


def workers_of(client, workers=None):
    """Number of units that run at a time, as far as known in advance."""
    if workers:
        return workers
    if hasattr(client, "nthreads") and not getattr(client, "asynchronous", False):
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, AttributeError):
            return max(1, sum(client.nthreads().values()))
        return 1
    known = getattr(client, "_max_workers", None)
    return known if isinstance(known, int) and known > 0 else os.cpu_count() or 1


class Lost(Exception):
    """A unit was lost with its worker."""


class _Engine:
    """Base class of engines: completed futures wait in a queue."""

    def __init__(self):
        self.ended = queue.SimpleQueue()

    def next(self, seconds):
        """A completed future, or none within the given seconds."""
        try:
            return self.ended.get(timeout=seconds)
        except queue.Empty:
            return None


class Executor(_Engine):
    """Engine for an executor; a broken one is replaced if a function creates it."""

    name = "the executor"

    def __init__(self, given, workers):
        super().__init__()
        self._make = None if hasattr(given, "submit") else given
        self._executor = self._make() if self._make else given
        self._slots = workers_of(self._executor, workers)

    def slots(self):
        """Number of units that run at a time."""
        return self._slots

    def submit(self, unit, elsewhere_than=None):
        """Start a unit; `None` if it cannot run on a different worker than another attempt."""
        try:
            future = self._executor.submit(_work.unit, *unit)
        except (concurrent.futures.BrokenExecutor, RuntimeError) as error:
            if self._make is None:
                raise DataError(
                    "the executor lost a process and takes no more units; what is done is in the ledger: run it again, or give a "
                    f"function that makes an executor ({error})"
                ) from error
            self._executor = self._make()
            future = self._executor.submit(_work.unit, *unit)
        future.add_done_callback(self.ended.put)
        return future

    def outcome(self, future):
        """Result of a unit; raises `Lost` if its worker was lost."""
        try:
            return future.result()
        except (concurrent.futures.BrokenExecutor, concurrent.futures.CancelledError) as error:
            raise Lost(str(error)) from error

    def look(self):
        """Futures that will not run."""
        return []

    def refuse(self, where, build, planned):
        """Reject a worker of another build."""
        raise SettingError(f"{where} has build {build} of vaglio, and this is {planned}", field="client")

    def end(self):
        """Shut down what this engine created."""
        if self._make:
            self._executor.shutdown(wait=False, cancel_futures=True)


class Dask(_Engine):
    """Engine for a Dask client; workers of another build get no unit."""

    def __init__(self, client, planned):
        super().__init__()
        if getattr(client, "asynchronous", False):
            raise SettingError("the client of Dask is asynchronous; give one that waits", field="client")
        self.name = client.scheduler.address if client.scheduler else "the scheduler"
        self._client, self._planned = client, planned
        self._builds, self._heard, self._threads, self._looked, self._only = {}, set(), {}, 0.0, {}
        self._number, self._alone_since = 0, time.monotonic()
        self.look()

    def _asked(self, what):
        """Ask the scheduler."""
        try:
            return what()
        except (OSError, TimeoutError, RuntimeError, AttributeError) as error:
            raise DataError(
                f"the scheduler of Dask at {self.name} was lost; what is done is in the ledger: run it again ({error})"
            ) from error

    def look(self):
        """Ask new workers for their build; return futures whose only possible workers are gone."""
        if time.monotonic() - self._looked < LOOK:
            return []
        self._threads = self._asked(self._client.nthreads)
        self._ask([worker for worker in self._threads if worker not in self._heard])
        self._looked = time.monotonic()
        if self._threads:
            self._alone_since = self._looked
        elif self._looked - self._alone_since > ALONE:
            self._alone_since = math.inf
            warnings.warn(f"no worker is connected to {self.name}; the run waits for one", RuntimeWarning, stacklevel=2)
        if self._threads and not self._good() and all(worker in self._builds for worker in self._threads):
            others = "; ".join(f"{worker} has {self._builds[worker]}" for worker in sorted(self._threads)[:3])
            raise SettingError(f"no worker has build {self._planned} of vaglio: {others}", field="client")
        alive = set(self._threads)
        stuck = [future for future, only in self._only.items() if only and not alive & only]
        return stuck

    def _ask(self, workers):
        """Ask workers for their build. Late answers count once they arrive."""

        def hear(worker):
            # A lost scheduler or worker is noticed by the next check.
            with contextlib.suppress(OSError, TimeoutError, RuntimeError, AttributeError):
                found = self._client.run(_work.build, workers=[worker], on_error="return")[worker]
                if not isinstance(found, OSError):
                    self._builds[worker] = _named(found)
                    return
            self._heard.discard(worker)

        self._heard.update(workers)
        asking = [threading.Thread(target=hear, args=(worker,), daemon=True) for worker in workers]
        for thread in asking:
            thread.start()
        until = time.monotonic() + ANSWER
        for thread in asking:
            thread.join(max(0.0, until - time.monotonic()))

    def _good(self):
        return [worker for worker in self._threads if self._builds.get(worker) == self._planned]

    def slots(self):
        """Number of units that run at a time; one without workers, which may start once there is work."""
        return max(1, sum(self._threads[worker] for worker in self._good()))

    def submit(self, unit, elsewhere_than=None):
        """Start a unit on a worker of the build; `None` if it cannot run on a different worker than another attempt."""
        good = set(self._good())
        only = good if len(good) < len(self._threads) else set()
        if elsewhere_than is not None:
            taken = self._asked(self._client.processing)
            here = {worker for worker, keys in taken.items() if elsewhere_than.key in map(str, keys)}
            only = good - here
            if not here or not only:
                return None
        self._number += 1
        key = f"vaglio-{unit[2]}-{unit[1]}-{self._number}"
        future = self._asked(
            lambda: self._client.submit(
                _work.unit, *unit, key=key, pure=False, workers=sorted(only) or None, allow_other_workers=False
            )
        )
        self._only[future] = only
        future.add_done_callback(self.ended.put)
        return future

    def outcome(self, future):
        """Result of a unit; raises `Lost` if its worker was lost."""
        self._only.pop(future, None)
        if future.status == "finished":
            return self._asked(lambda: _fetched(future))
        if self._client.status != "running" or future.status == "lost":
            self._asked(self._client.nthreads)
        error = None if future.status == "cancelled" else future.exception()
        raise Lost(type(error).__name__ if error else future.status) from error

    def refuse(self, where, build, planned):
        """Reject a worker of another build: it gets no more units."""
        self._builds[where] = build
        self._looked = 0.0

    def end(self):
        """Do nothing: the client belongs to the caller."""


def _fetched(future):
    """Result of a unit, fetched from its worker."""
    try:
        return future.result(ANSWER)
    except TimeoutError as error:
        raise Lost("it does not answer") from error


def _named(found):
    """A build, or the reason why it is unknown."""
    if isinstance(found, str):
        return found
    return "no package vaglio" if isinstance(found, ImportError) else f"an error: {found}"
