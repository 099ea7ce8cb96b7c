"""Workers that hang hold nothing up."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster import EVALUATE, LONG, SLOW, cluster, done_units, ledger_of, local, timeless, until, write

import vaglio
import vaglio.distributed
from vaglio.distributed import _drive, _engines

pytest.importorskip("distributed")


def test_a_worker_that_hangs_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.setattr(_drive, "SLOW_SECONDS", 1.0)
    path = write(tmp_path, SLOW, rows=400, columns=30)
    with cluster(tmp_path) as (made, client), ThreadPoolExecutor(1) as beside:
        running = beside.submit(vaglio.distributed.run, path, client, ledger=ledger_of(path), out=tmp_path / "run")
        until(lambda: done_units(path) > 5, "units")
        made.workers[0].send_signal(signal.SIGSTOP)
        try:
            running.result(LONG)
        finally:
            made.workers[0].send_signal(signal.SIGCONT)
    assert timeless(tmp_path / "run") == local(path)


def test_what_a_hung_worker_keeps_is_in_the_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(_drive, "SLOW_SECONDS", 1.0)
    monkeypatch.setattr(_engines, "ANSWER", 1.0)
    path = write(tmp_path, SLOW, rows=400, columns=30)
    hung = []
    with cluster(tmp_path) as (_, client):
        numbers = client.run(os.getpid)
        outcome = _engines.Dask.outcome

        def hanging(engine, future):
            """The worker of the first unit that was done hangs before its answer is fetched."""
            if not hung and future.status == "finished":
                hung.append(numbers[client.who_has([future])[future.key][0]])
                os.kill(hung[0], signal.SIGSTOP)
            return outcome(engine, future)

        monkeypatch.setattr(_engines.Dask, "outcome", hanging)
        try:
            vaglio.distributed.run(path, client, ledger=ledger_of(path), out=tmp_path / "run")
        finally:
            os.kill(hung[0], signal.SIGCONT)
    assert timeless(tmp_path / "run") == local(path)


def test_a_worker_that_never_answers_gets_no_unit(tmp_path, monkeypatch):
    monkeypatch.setattr(_engines, "ANSWER", 1.0)
    path = write(tmp_path, f"search: {{kind: greedy, max_features: 3}}\n{EVALUATE}")
    with cluster(tmp_path) as (made, client):
        made.workers[0].send_signal(signal.SIGSTOP)
        try:
            vaglio.distributed.run(path, client, ledger=ledger_of(path), out=tmp_path / "run")
        finally:
            made.workers[0].send_signal(signal.SIGCONT)
    assert timeless(tmp_path / "run") == local(path)
