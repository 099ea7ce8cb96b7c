"""One search that several workers make together ends as that of one process, whoever is killed on the way."""

import json
from concurrent.futures import ProcessPoolExecutor

import pytest
from cluster import KILLS, LONG, cluster, end, ledger_of, local, spawn, timeless, until, write

import vaglio
import vaglio.distributed

pytest.importorskip("distributed")

SEARCHES = {
    "lars": "criterion: {kind: nhsic, kernel: {approximation: levels}}\nsearch: {kind: lars, max_features: 8, choose: last}",
    "greedy": "criterion: nhsic\nsearch: {kind: greedy, max_features: 6, choose: last}",
}
#: Long enough for a worker to be killed in the middle.
LONGER = "criterion: {kind: nhsic, kernel: {approximation: levels}}\nsearch: {kind: lars, max_features: 60, choose: last}"


@pytest.fixture(autouse=True)
def short_questions_are_parted_too(monkeypatch):
    monkeypatch.setenv("VAGLIO_JOURNAL", "every")


def parts(path):
    """The files of the parts that workers have made."""
    return sorted(ledger_of(path).glob("**/parts/*"))


@pytest.mark.parametrize("search", SEARCHES)
def test_two_workers_make_one_search(tmp_path, search):
    path = write(tmp_path, SEARCHES[search], rows=80, columns=40)
    with cluster(tmp_path) as (_, client):
        vaglio.distributed.run(path, client, ledger=ledger_of(path), out=tmp_path / "run")
    assert timeless(tmp_path / "run") == local(path)
    units = json.loads((ledger_of(path) / "shards.json").read_text())["units"]
    assert {"prefix": "part/", "count": 1} in units


def test_an_executor_makes_it_too(tmp_path):
    path = write(tmp_path, SEARCHES["greedy"], rows=80, columns=40)
    with ProcessPoolExecutor(3) as executor:
        vaglio.distributed.run(path, executor, ledger=ledger_of(path), out=tmp_path / "run")
    assert timeless(tmp_path / "run") == local(path)


@pytest.mark.parametrize("which", [0, 1] * KILLS)
def test_a_worker_that_is_killed_in_the_middle(tmp_path, which):
    path = write(tmp_path, LONGER, rows=3000, columns=400)
    with cluster(tmp_path) as (made, client):
        code = f"import sys, vaglio.distributed as d; from distributed import Client\nwith Client({made.address!r}) as client:\n"
        code += f"    d.run({str(path)!r}, client, ledger={str(ledger_of(path))!r}, out={str(tmp_path / 'run')!r})"
        driver = spawn("-c", code)
        until(lambda: len(parts(path)) == 2 and all(file.stat().st_size > 20_000 for file in parts(path)), "parts of two workers")
        end(made.workers[which])
        assert driver.wait(LONG) == 0
    assert timeless(tmp_path / "run") == local(path)
