"""What workers do: an index of a ledger, from beginning to end."""

import contextlib
import os
import socket
import sys
import threading
import time

from vaglio import _vaglio
from vaglio._errors import VaglioError

#: The driver's file in the ledger: who gives out the indexes.
DRIVER = os.path.join("driver", "id")
#: How often a worker looks whether its index is still wanted, in seconds.
LOOK = 1.0

_lock = threading.Lock()
_last = (None, None)


def place():
    """Where this process runs: the address of its worker of Dask, else host and number of the process."""
    if "distributed" in sys.modules:
        from distributed import get_worker

        with contextlib.suppress(ValueError):
            return get_worker().address
    return f"{socket.gethostname()}, process {os.getpid()}"


def build():
    """Which build of vaglio this process has."""
    return _vaglio.build()


def is_led_by(ledger, driver):
    """Whether a driver still gives out the indexes of a ledger."""
    try:
        with open(os.path.join(ledger, DRIVER), encoding="utf-8") as file:
            return file.read() == driver
    except FileNotFoundError:
        return False
    except OSError:
        # A file system that does not answer says nothing.
        return True


def is_done(ledger, index):
    """Whether all units of an index are done."""
    return os.path.exists(os.path.join(ledger, "shards", f"{index}.jsonl"))


class _Left(Exception):
    """Nobody wants the index any more."""


def _watch(ledger, index, driver):
    """What raises `_Left` once an index is done elsewhere, or its driver has ended."""
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
    """The ledger, whose data the process reads once as long as it works on this one."""
    global _last
    plan = os.stat(os.path.join(ledger, "shards.json"))
    key = (ledger, plan.st_mtime_ns, plan.st_size)
    with _lock:
        if _last[0] != key:
            _last = (None, None)
            _last = (key, _vaglio.Shards.open(ledger))
        return _last[1]


def unit(ledger, index, driver, planned, threads):
    """Do what is left of an index; a word for how that ended, what there is to say of it, and where it was.

    It is a function of the ledger alone, so that it may be called wherever and as often as one likes. The words: ``done``, or
    ``waiting`` for the search, with seconds; ``left``, where nobody wants it any more; ``limit``; ``build``, with that of this
    process, where it is not the planned one; ``blind``, where there is no such ledger; ``error``, with the exception.
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
        word, _, _ = _opened(ledger).run(index, threads, _watch(ledger, index, driver))
        return word, time.monotonic() - begun, where
    except _Left:
        return "left", None, where
    except (VaglioError, OSError) as error:
        return "error", error, where
