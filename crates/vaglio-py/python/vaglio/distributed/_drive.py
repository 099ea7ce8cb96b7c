"""Driver: distributes the indexes of a ledger to workers until all are done."""

import contextlib
import os
import statistics
import sys
import time
import uuid
from collections import deque

from vaglio._errors import DataError, NumericalError, SettingError
from vaglio.distributed import _work
from vaglio.distributed._engines import Lost

#: An index is rerun elsewhere at the end if it takes this many times as long as others, and at least this many seconds.
SLOW, SLOW_SECONDS = 3.0, 10.0
#: Wait of an interruption for units to end, and of a failed unit for its next try, in seconds.
PATIENCE, PAUSE = 10.0, 1.0


@contextlib.contextmanager
def led(shards):
    """Yield the driver's name while it holds the ledger; workers check for its file."""
    shards.lead()
    path = os.path.join(shards.folder(), _work.DRIVER)
    driver = uuid.uuid4().hex[:12]
    try:
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(driver)
        os.replace(path + ".part", path)
    except OSError as error:
        shards.leave()
        raise DataError(f"{path}: cannot be written: {error.strerror}", file=path) from error
    try:
        yield driver
    finally:
        if _work.is_led_by(shards.folder(), driver):
            with contextlib.suppress(OSError):
                os.remove(path)
        shards.leave()


class Drive:
    """Scheduler of a run's indexes."""

    def __init__(self, shards, engine, driver, threads, retries, show):
        self.shards, self.ledger, self.engine, self.driver = shards, shards.folder(), engine, driver
        self.threads, self.retries, self.show = threads, retries, show
        self.planned, self.begun, self.is_over = shards.build(), time.monotonic(), False
        far = self.shards.progress()
        self.units = [units for _, units, _ in far]
        self.done = {index for index, (word, _, _) in enumerate(far) if word == "done"}
        # Indexes that only assist the search come last.
        left = sorted((index for index in range(len(far)) if index not in self.done), key=self.shards.helps)
        is_searched = 0 in self.done
        self.ready = deque(index for index in left if is_searched or not self.shards.waits(index))
        self.waiting = [] if is_searched else [index for index in left if self.shards.waits(index)]
        self.flying, self.looked = {}, 0.0
        self.tries, self.losses, self.seconds, self.later = {}, {}, [], []
        self.notes = set()

    def run(self):
        """Run until all are done; otherwise return the reason, ``limit`` or ``interrupted``."""
        self._shown()
        try:
            while len(self.done) < len(self.units):
                if self._is_over():
                    self._stop()
                    return "limit"
                self._give()
                self._again()
                future = self.engine.next(0.2)
                for stuck in self.engine.look():
                    self._back(stuck)
                if future is not None and future in self.flying:
                    self._taken(future)
        except KeyboardInterrupt:
            self._stop()
            return "interrupted"
        except BaseException:
            self._stop()
            raise
        self._stop(0.0)
        return None

    def _shown(self):
        if self.show:
            done = sum(self.units[index] for index in self.done)
            self.show("units", float(done), float(sum(self.units)), None)

    def _note(self, text):
        """Report something once, without ending the run."""
        if text not in self.notes:
            self.notes.add(text)
            print(f"vaglio: {text}", file=sys.stderr)

    def _is_over(self):
        most = self.shards.seconds()
        return self.is_over or (most is not None and time.monotonic() - self.begun > most)

    def _give(self):
        """Keep workers busy, each with one unit running and one waiting."""
        now = time.monotonic()
        self.ready.extend(index for index, since in self.later if now - since > PAUSE)
        self.later = [(index, since) for index, since in self.later if now - since <= PAUSE]
        while self.ready and len(self.flying) < 2 * self.engine.slots():
            index = self.ready.popleft()
            if index in self.done:
                continue
            self._start(index)

    def _start(self, index, elsewhere_than=None):
        unit = (self.ledger, index, self.driver, self.planned, self.threads)
        future = self.engine.submit(unit, elsewhere_than)
        if future is not None:
            self.flying[future] = (index, time.monotonic())

    def _again(self):
        """When nothing is left to submit, rerun elsewhere indexes that take much longer than others did."""
        now = time.monotonic()
        if self.ready or self.later or now - self.looked < PAUSE:
            return
        self.looked = now
        usual = statistics.median(self.seconds) if self.seconds else 0.0
        indexes = [index for index, _ in self.flying.values()]
        for future, (index, since) in list(self.flying.items()):
            if now - since > max(SLOW * usual, SLOW_SECONDS) and indexes.count(index) == 1:
                self._start(index, elsewhere_than=future)

    def _back(self, future):
        """Take back an index whose future will not run."""
        if future in self.flying:
            index, _ = self.flying.pop(future)
            future.cancel()
            self.ready.appendleft(index)

    def _taken(self, future):
        """Handle the outcome of an index."""
        index, _ = self.flying.pop(future)
        try:
            word, what, where = self.engine.outcome(future)
        except Lost as lost:
            return self._lost(index, lost)
        if index in self.done:
            return None
        if word == "done" or (word == "left" and _work.is_done(self.ledger, index)):
            return self._finished(index, what)
        if word == "waiting":
            return self.ready.append(index) if 0 in self.done else self.waiting.append(index)
        if word == "left":
            if not _work.is_led_by(self.ledger, self.driver):
                raise DataError(f"{self.ledger}: another driver gives out the units of this ledger now", file=self.ledger)
            # The file system may show the driver's file later.
            return self.later.append((index, time.monotonic()))
        if word == "limit":
            # A memory limit concerns one worker.
            self._note(f"the time or the memory that a unit may take was over on {where}")
            self.is_over = True
            return None
        if word == "build":
            self._note(f"{where} has build {what} of vaglio, and not {self.planned}: it gets no unit")
            self.engine.refuse(where, what, self.planned)
            return self.ready.appendleft(index)
        if word == "blind":
            what = DataError(f"{where} sees no ledger at {self.ledger}; all workers need it under the same path", file=self.ledger)
        return self._failed(index, what, where)

    def _finished(self, index, seconds):
        self.done.add(index)
        if seconds:
            self.seconds.append(seconds)
        if index == 0:
            self.ready.extend(self.waiting)
            self.waiting = []
        self._shown()

    def _lost(self, index, lost):
        if index in self.done:
            return
        if _work.is_done(self.ledger, index):
            self._finished(index, None)
            return
        self.losses[index] = self.losses.get(index, 0) + 1
        if self.losses[index] > self.retries:
            raise DataError(
                f"index {index} was lost {self.losses[index]} times with its worker ({lost}); what is done is in the ledger. Where "
                "the system ends workers for their memory, give them more, or run fewer beside each other"
            ) from lost
        self.ready.append(index)

    def _failed(self, index, error, where):
        """Handle a failed index: settings and arithmetic fail everywhere, a disk error may not."""
        self.tries[index] = self.tries.get(index, 0) + 1
        if isinstance(error, (SettingError, NumericalError)) or self.tries[index] > min(self.retries, 3):
            if hasattr(error, "add_note"):
                error.add_note(f"index {index}, on {where}")
            if isinstance(error, OSError):
                raise DataError(f"{error} (on {where})", file=error.filename) from error
            raise error
        self.later.append((index, time.monotonic()))

    def _stop(self, patience=PATIENCE):
        """Release running units: without the driver's file, workers abandon them."""
        if _work.is_led_by(self.ledger, self.driver):
            with contextlib.suppress(OSError):
                os.remove(os.path.join(self.ledger, _work.DRIVER))
        for future in self.flying:
            with contextlib.suppress(Exception):
                future.cancel()
        until = time.monotonic() + patience
        with contextlib.suppress(Exception):
            while time.monotonic() < until and any(not future.done() for future in self.flying):
                time.sleep(0.05)
