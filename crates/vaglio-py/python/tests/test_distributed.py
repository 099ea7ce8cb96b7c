"""Runs on workers end as those of one process, whoever is killed on the way."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cluster import EVALUATE, KILLS, LONG, SLOW, cluster, done_units, end, ledger_of, local, spawn, timeless, until, write
from given import program

import vaglio
import vaglio.distributed
from vaglio.distributed import _drive, _engines

pytest.importorskip("distributed")

CELLS = {
    "greedy loo": "search: {kind: greedy, max_features: 3}",
    "floating loo": "search: {kind: floating, max_features: 3, choose: {folds: 3, repeats: 2}}\n"
    "learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10, points: 3}}}",
    "backward kfold": "criterion: {kind: kfold, folds: 3}\nsearch: {kind: backward, choose: {folds: 3}}\nlearner: {kind: rls, lambda: 1.0}",
    "exhaustive loo": "search: {kind: exhaustive, max_features: 3, choose: best}",
    "lars nhsic": "criterion: nhsic\nsearch: {kind: lars, max_features: 3, choose: {folds: 3}}",
    "rank mrmr": "criterion: mrmr\nsearch: {kind: greedy, max_features: 3, choose: {folds: 3}}",
    "greedy information": "criterion: information\nsearch: {kind: greedy, max_features: 3}",
    "two searches loo": "tune: {search: [{kind: greedy, max_features: 3, choose: {folds: 3}}, {kind: backward, choose: {folds: 3}}]}",
    "greedy elm": "learner: {kind: elm, units: 12, lambda: 0.1}\nsearch: {kind: greedy, max_features: 3, choose: {folds: 3}}",
    "greedy zero_one": "criterion: {kind: loo, loss: zero_one}\nsearch: {kind: greedy, max_features: 2, choose: {folds: 3}}",
}


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("dask")) as (made, client):
        yield made, client


@pytest.mark.parametrize("cell", CELLS)
def test_searches_and_criteria_give_the_result_of_one_process(tmp_path, dask, cell):
    path = write(tmp_path, f"{CELLS[cell]}\n{EVALUATE}", target="kind" if "zero_one" in cell else "y")
    result = vaglio.distributed.run(path, dask[1], ledger=ledger_of(path), out=tmp_path / "run")
    assert result.selection.status == "complete"
    assert timeless(tmp_path / "run") == local(path)


def test_the_commands_of_the_book(tmp_path):
    page = Path(__file__).resolve().parents[4] / "book" / "src" / "how-to" / "more-than-one-machine.md"
    blocks = page.read_text(encoding="utf-8").split("```sh\n")[1:]
    commands = next(block.split("```")[0] for block in blocks if "dask scheduler" in block)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    path = write(tmp_path, f"search: {{kind: greedy, max_features: 3}}\n{EVALUATE}").rename(tmp_path / "pipeline.yaml")
    script = "trap 'kill $(jobs -p)' EXIT\n" + commands.replace("8786", port)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stderr
    assert timeless(tmp_path / "runs" / "pipeline") == local(path)


def test_a_pipeline_file_names_the_engine(tmp_path, dask):
    path = write(tmp_path, f"search: {{kind: greedy, max_features: 3}}\n{EVALUATE}")
    expected = local(path)
    lines = path.read_text()
    path.write_text(lines + f"engine: {{kind: dask, scheduler: '{dask[0].address}', ledger: ledger}}\n")
    code, plan, errors = program("plan", "p.yaml", cwd=tmp_path)
    assert code == 0, errors
    assert "units       20: 1 search, 3 outer folds" in plan and "workers     2 workers of Dask at tcp://" in plan
    code, table, errors = program("run", "p.yaml", "--out", "run", cwd=tmp_path)
    assert code == 0 and "x0" in table, errors
    assert timeless(tmp_path / "run") == expected
    # What was written names the same ledger, in which it is a run of its own, since more of it is written out.
    assert "ledger: ../ledger" in (tmp_path / "run" / "resolved.yaml").read_text()
    again = vaglio.run(tmp_path / "run" / "resolved.yaml", tmp_path / "again")
    assert again.selection.chosen == vaglio.load(tmp_path / "run").selection.chosen
    assert (tmp_path / "again" / "model.json").read_bytes() == (tmp_path / "local" / "model.json").read_bytes()


def refused(path, engine, code=2, **environment):
    """Error message of a run whose engine cannot be used; the run leaves no result."""
    lines = path.read_text().split("engine:")[0]
    path.write_text(f"{lines}engine: {engine}\n")
    command = [sys.executable, "-m", "vaglio", "run", "p.yaml", "--out", "run"]
    done = subprocess.run(
        command, cwd=path.parent, capture_output=True, text=True, timeout=LONG, env={**os.environ, **environment}
    )
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert not (path.parent / "run" / "selection.json").exists()
    return done.stderr


def test_what_is_missing_is_said(tmp_path):
    path = write(tmp_path, "search: {kind: greedy, max_features: 2}")
    engine = "{kind: dask, scheduler: 'tcp://127.0.0.1:1', ledger: ledger}"
    vaglio.run(path, tmp_path / "run")
    assert "no scheduler of Dask answers at `tcp://127.0.0.1:1`" in refused(path, engine)
    assert (tmp_path / "run" / "selection.previous.json").exists()
    code, _, errors = program("plan", "p.yaml", cwd=tmp_path)
    assert code == 2 and "p.yaml:4:" in errors and "no scheduler of Dask answers" in errors, errors
    # A package that is not there is one whose finder is put out of the way.
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    text = "import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda n, *a: None if n in {!r} else find(n, *a)\n"
    (hidden / "sitecustomize.py").write_text(text.format(["distributed", "pyspark"]))
    assert "needs the package `distributed`" in refused(path, engine, PYTHONPATH=str(hidden))
    spark = "{kind: spark, master: 'spark://127.0.0.1:1', ledger: ledger}"
    assert "needs the package `pyspark`" in refused(path, spark, PYTHONPATH=str(hidden))
    with pytest.raises(vaglio.SettingError, match="no scheduler of Dask") as raised:
        vaglio.run(path, tmp_path / "run", set={"engine": {"kind": "dask", "scheduler": "tcp://127.0.0.1:1", "ledger": "l"}})
    assert raised.value.field == "engine.scheduler"
    with pytest.raises(vaglio.SettingError, match="a client of Dask or an executor"):
        vaglio.distributed.run(path, 3, ledger=tmp_path / "ledger")


def killing(made, client, is_over, rng):
    """Kill workers at random moments, each of which is replaced; how many were."""
    kills = 0
    while not is_over():
        time.sleep(rng.uniform(0.2, 1.0))
        if is_over():
            break
        end(made.workers.pop(rng.randrange(len(made.workers))))
        made.add()
        kills += 1
        until(lambda: is_over() or len(client.nthreads()) == 2, "another worker")
    return kills


def test_killed_workers_cost_nothing_but_time(tmp_path, dask):
    made, client = dask
    rng, kills, runs = random.Random(1), 0, 0
    path = write(tmp_path, SLOW, rows=400, columns=30)
    expected = local(path)
    while kills < KILLS:
        shutil.rmtree(ledger_of(path), ignore_errors=True)
        over = threading.Event()
        found = []
        killer = threading.Thread(target=lambda: found.append(killing(made, client, over.is_set, rng)))
        killer.start()
        try:
            vaglio.distributed.run(path, client, ledger=ledger_of(path), out=tmp_path / "run")
        finally:
            over.set()
            killer.join()
        kills, runs = kills + found[0], runs + 1
        assert timeless(tmp_path / "run") == expected, f"{kills} kills"
        assert sorted(item.name for item in ledger_of(path).glob("shards/*") if item.is_dir()) == []
    print(f"{kills} workers killed in {runs} runs")
    made.ready(client, 2)


def test_a_killed_driver_goes_on_from_the_ledger(tmp_path, dask):
    rng, kills, runs = random.Random(2), 0, 0
    path = write(tmp_path, SLOW + f"\nengine: {{kind: dask, scheduler: '{dask[0].address}', ledger: ledger}}", rows=400, columns=30)
    expected = local_of(path)
    while kills < KILLS:
        shutil.rmtree(ledger_of(path), ignore_errors=True)
        runs += 1
        for attempt in range(100):
            driver = spawn("-m", "vaglio.distributed", "run", path, "--out", tmp_path / "run", "--quiet")
            before = done_units(path)
            if kills < KILLS * 2 and attempt < 10:
                until(lambda: done_units(path) > before or driver.poll() is not None, "another unit")
                time.sleep(rng.uniform(0, 0.5))
                if driver.poll() is None:
                    end(driver)
                    kills += 1
                    assert done_units(path) > before
                    continue
            assert driver.wait(LONG) == 0
            break
        assert timeless(tmp_path / "run") == expected, f"{kills} kills"
    print(f"{kills} drivers killed in {runs} runs")


def local_of(path):
    """The run of one process of a pipeline that names an engine."""
    here = path.parent / "here"
    here.mkdir()
    (here / "p.yaml").write_text(path.read_text().split("engine:")[0].replace("train.csv", "../train.csv"))
    return local(here / "p.yaml")


def test_an_interrupted_driver_ends_its_units_and_goes_on(tmp_path, dask):
    path = write(tmp_path, SLOW + f"\nengine: {{kind: dask, scheduler: '{dask[0].address}', ledger: ledger}}", rows=400, columns=30)
    expected = local_of(path)
    command = ["-m", "vaglio", "run", "p.yaml", "--out", "run"]
    driver = spawn(*command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until(lambda: done_units(path) > 3, "units")
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=LONG)
    # `distributed` may log faults of its own, where the signal meets the start of a wait or of a message.
    own = [line for line in errors.splitlines() if "File " in line and "/vaglio/" in line]
    assert driver.returncode == 130 and not own, errors
    partial = json.loads((tmp_path / "run" / "selection.json").read_text())
    assert (partial["status"], partial["stop_reason"]) == ("partial", "interrupted")
    # No worker goes on with what nobody wants.
    until(lambda: not any(dask[1].processing().values()), "idle workers", 20)
    before = done_units(path)
    code, _, errors = program("run", "p.yaml", "--out", "run", cwd=tmp_path)
    assert code == 0, errors
    assert timeless(tmp_path / "run") == expected and done_units(path) > before


def test_one_driver_at_a_time_has_a_ledger(tmp_path, dask):
    path = write(tmp_path, SLOW, rows=400, columns=30)
    expected = local(path)
    with ThreadPoolExecutor(1) as beside:
        first = beside.submit(vaglio.distributed.run, path, dask[1], ledger=ledger_of(path), out=tmp_path / "run")
        until(lambda: done_units(path) > 1, "units")
        with pytest.raises(vaglio.DataError, match="another driver gives out the units of this ledger"):
            vaglio.distributed.run(path, dask[1], ledger=ledger_of(path), out=tmp_path / "other")
        # Where a file system has no locks, the file says who it is.
        first.result(LONG)
    assert timeless(tmp_path / "run") == expected
    with pytest.raises(vaglio.SettingError, match="another pipeline"):
        vaglio.distributed.run(path, dask[1], ledger=ledger_of(path), set={"seed": 5})


def test_a_driver_whose_ledger_was_taken_ends(tmp_path, dask):
    path = write(tmp_path, SLOW, rows=400, columns=30)
    with ThreadPoolExecutor(1) as beside:
        first = beside.submit(vaglio.distributed.run, path, dask[1], ledger=ledger_of(path))
        until(lambda: done_units(path) > 1, "units")
        (ledger_of(path) / "driver" / "id").write_text("another")
        with pytest.raises(vaglio.DataError, match="another driver gives out the units of this ledger now"):
            first.result(LONG)


def test_workers_of_another_build_get_no_unit(tmp_path, dask, capfd):
    made, client = dask
    other = tmp_path / "other"
    shutil.copytree(Path(vaglio.__file__).parent, other / "vaglio")
    library = next((other / "vaglio").glob("_vaglio*.so"))
    with open(library, "ab") as file:
        file.write(b"another")
    path = write(tmp_path, f"search: {{kind: greedy, max_features: 3}}\n{EVALUATE}")
    process = made.add(PYTHONPATH=str(other))
    try:
        made.ready(client, 3)
        own = client.run(vaglio._vaglio.build)
        assert len(set(own.values())) == 2, own
        stranger = next(worker for worker, build in own.items() if build != vaglio._vaglio.build())
        before = client.run(lambda dask_worker: dask_worker.state.executed_count, workers=[stranger])[stranger]
        vaglio.distributed.run(path, client, ledger=ledger_of(path), out=tmp_path / "run")
        assert client.run(lambda dask_worker: dask_worker.state.executed_count, workers=[stranger])[stranger] == before
        assert timeless(tmp_path / "run") == local(path)
    finally:
        made.workers.remove(process)
        end(process)
        made.ready(client, 2)
    with cluster(tmp_path, 0) as (alone, only):
        alone.add(PYTHONPATH=str(other))
        alone.ready(only, 1)
        with pytest.raises(vaglio.SettingError, match="no worker has build"):
            vaglio.distributed.run(path, only, ledger=tmp_path / "refused")


def test_executors_serve_as_well(tmp_path):
    loky = pytest.importorskip("loky")
    frame = write(tmp_path, "")
    data = {"train": pd.read_csv(frame.parent / "train.csv").drop(columns="kind"), "target": "y"}
    pipeline = {"data": data, "search": {"kind": "greedy", "max_features": 3}, "evaluate": {"nested": {"folds": 3}, "permutations": 8}}
    vaglio.run(pipeline, tmp_path / "local")
    makers = {"processes": lambda: ProcessPoolExecutor(2), "loky": lambda: loky.get_reusable_executor(2, timeout=30)}
    for name, maker in makers.items():
        with maker() as executor:
            result = vaglio.distributed.run(pipeline, executor, ledger=tmp_path / name, of=5)
        assert timeless(result.folder) == timeless(tmp_path / "local"), name


@pytest.mark.parametrize("makes_anew", [True, False])
def test_executors_that_lose_a_process(tmp_path, makes_anew):
    path = write(tmp_path, SLOW, rows=400, columns=30)
    made = []

    def maker():
        made.append(ProcessPoolExecutor(2))
        return made[-1]

    with ThreadPoolExecutor(1) as beside:
        given = maker if makes_anew else maker()
        running = beside.submit(vaglio.distributed.run, path, given, ledger=ledger_of(path), out=tmp_path / "run")
        until(lambda: done_units(path) > 2, "units")
        os.kill(next(iter(made[0]._processes)), signal.SIGKILL)
        if makes_anew:
            running.result(LONG)
            assert len(made) == 2
        else:
            with pytest.raises(vaglio.DataError, match="lost a process and takes no more units"):
                running.result(LONG)
            assert done_units(path) > 2
            vaglio.distributed.run(path, maker, ledger=ledger_of(path), out=tmp_path / "run")
    assert timeless(tmp_path / "run") == local(path)


def test_time_that_is_over_ends_the_run(tmp_path, dask):
    path = write(tmp_path, SLOW + "\nlimits: {time: 1s}", rows=400, columns=30)
    run = vaglio.distributed.run(path, dask[1], ledger=ledger_of(path), out=tmp_path / "run")
    assert (run.selection.status, run.selection.stop_reason) == ("partial", "limit")
    # With more time it is the same run.
    vaglio.distributed.run(path, dask[1], ledger=ledger_of(path), out=tmp_path / "run", set={"limits.time": "10m"})
    assert timeless(tmp_path / "run") == local_without_limit(path)


def local_without_limit(path):
    path.write_text(path.read_text().replace("time: 1s", "time: 10m"))
    return local(path)


def test_a_full_disk_loses_nothing(tmp_path, dask):
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=120k", "none", str(small)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small file system can be mounted by root on Linux alone")
    lines = "search: {kind: greedy, max_features: 3, choose: best}\nlearner: {kind: rls, lambda: 1.0}\nevaluate: {permutations: 60}"
    path = write(tmp_path, lines)
    try:
        with pytest.raises(vaglio.DataError, match="No space left on device"):
            vaglio.distributed.run(path, dask[1], ledger=small / "ledger", out=tmp_path / "run")
        kept = len(list(small.glob("ledger/shards/*.jsonl")))
        subprocess.run(["mount", "-o", "remount,size=32m", str(small)], check=True)
        vaglio.distributed.run(path, dask[1], ledger=small / "ledger", out=tmp_path / "run")
        assert kept > 0 and timeless(tmp_path / "run") == local(path)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_spark_gives_the_result_of_one_process(tmp_path):
    pytest.importorskip("pyspark")
    if not shutil.which("java"):
        pytest.skip("there is no Java")
    lines = f"criterion: nhsic\nsearch: {{kind: lars, max_features: 3}}\n{EVALUATE}"
    path = write(tmp_path, lines + "\nengine: {kind: spark, master: 'local[2]', ledger: ledger}")
    code, _, errors = program("run", "p.yaml", "--out", "run", cwd=tmp_path)
    assert code == 0, errors
    assert timeless(tmp_path / "run") == local_of(path)
    assert json.loads((tmp_path / "run" / "selection.json").read_text())["status"] == "complete"


def test_a_scheduler_without_workers_is_told():
    class Alone:
        asynchronous, scheduler = False, None

        def nthreads(self):
            return {}

    engine = _engines.Dask(Alone(), "build")
    engine._looked, engine._alone_since = -10.0, engine._alone_since - 10.0
    with pytest.warns(RuntimeWarning, match="no worker is connected"):
        engine.look()
    assert engine.slots() == 1
