"""Work of a worker: one index of a ledger, from beginning to end."""

import contextlib
import os
import socket
import sys
import threading
import time

from vaglio import _vaglio
from vaglio._errors import VaglioError

#: The driver's file in the ledger.
DRIVER = os.path.join("driver", "id")
#: Interval at which a worker checks whether its index is still wanted, in seconds.
LOOK = 1.0

_lock = threading.Lock()
_last = (None, None)


def place():
    """Address of this process's Dask worker, else host and process number."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        with contextlib.suppress(ValueError):
            return get_worker().address
    return f"{socket.gethostname()}, process {os.getpid()}"


def build():
    """Build of vaglio in this process."""
    return _vaglio.build()


def is_led_by(ledger, driver):
    """Whether the driver still runs the ledger."""
    try:
        with open(os.path.join(ledger, DRIVER), encoding="utf-8") as file:
            return file.read() == driver
    except FileNotFoundError:
        return False
    except OSError:
        # A file system that does not answer proves nothing.
        return True


def is_done(ledger, index):
    """Whether all units of an index are done."""
    return os.path.exists(os.path.join(ledger, "shards", f"{index}.jsonl"))


class _Left(Exception):
    """The index is no longer wanted."""


def _watch(ledger, index, driver):
    """Progress callback that raises `_Left` once an index is done elsewhere, or its driver has ended."""
    last = time.monotonic()

    def look(*_):
        nonlocal last
        now = time.monotonic()
        if now - last < LOOK:
            return
        last = now
        if is_done(ledger, index) or not is_led_by(ledger, driver):
            raise _Left

    return look


def _opened(ledger):
    """Open the ledger; the process keeps its data while it works on this one."""
    global _last
    plan = os.stat(os.path.join(ledger, "shards.json"))
    key = (ledger, plan.st_mtime_ns, plan.st_size)
    with _lock:
        if _last[0] != key:
            _last = (None, None)
            _last = (key, _vaglio.Shards.open(ledger))
        return _last[1]


def unit(ledger, index, driver, planned, threads):
    """Run the rest of an index; return a word for the outcome, its detail, and the place.

    It depends on the ledger only and may be called anywhere, any number of times. Words: ``done``, or ``waiting`` for
    the search, with seconds; ``left``, if no longer wanted; ``limit``; ``build``, with this process's build if it is
    not the planned one; ``blind``, if the ledger does not exist; ``error``, with the exception.
    """
    where, begun = place(), time.monotonic()
    try:
        if (own := build()) != planned:
            return "build", own, where
        if not os.path.exists(os.path.join(ledger, "shards.json")):
            return "blind", None, where
        if is_done(ledger, index):
            return "done", 0.0, where
        if not is_led_by(ledger, driver):
            return "left", None, where
        word = _opened(ledger).run(index, threads, _watch(ledger, index, driver))
        return word, time.monotonic() - begun, where
    except _Left:
        return "left", None, where
    except (VaglioError, OSError) as error:
        return "error", error, where
