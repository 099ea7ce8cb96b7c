"""Programs as processes of their own: what they print, how long they take, how much memory they have at their peak."""
import json
import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Finished:
    """A process that has ended: seconds of the clock and of the processor, bytes at the peak."""

    code: int
    out: str
    err: str
    seconds: float
    cpu: float
    peak: int


def variables(threads):
    """The environment of every process: so many threads for whatever linear algebra it brings along."""
    names = ["OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "VECLIB_MAXIMUM", "RAYON"]
    return {**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in names}}


def run(command, threads=1, limit=None):
    """Runs a program to its end, or kills it after `limit` seconds, which is an error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, env=variables(threads))
        timer = threading.Timer(limit, process.kill) if limit else None
        if timer:
            timer.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if timer:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        peak = used.ru_maxrss * 1024
        return Finished(process.returncode, *texts, seconds, used.ru_utime + used.ru_stime, peak)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def answer(finished):
    """The JSON that a program prints in its last line; a RuntimeError says why there is none."""
    if finished.code != 0:
        what = last_line(finished.err) or last_line(finished.out)
        raise RuntimeError(f"ended with {finished.code}: {what[:300]}")
    return json.loads(last_line(finished.out))


def build():
    """The release binary of this workspace, built where it is not up to date."""
    command = ["cargo", "build", "--release", "--locked", "-p", "vaglio-cli", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    return Path([m["executable"] for m in messages if m.get("executable")][-1])


class Vaglio:
    """The program under test; pipelines, results and tables lie in the folder `cache`."""

    def __init__(self, program, cache, threads):
        self.program, self.cache, self.threads = program, cache, threads

    def version(self):
        return last_line(run([self.program, "--version"]).out)

    def run(self, name, pipeline, limit=None):
        """One run: its process and `selection.json`. YAML reads JSON, so pipelines are written as that."""
        path = self.cache / f"{name}.yaml"
        path.write_text(json.dumps({"version": 1, **pipeline}, indent=1))
        folder = self.cache / "runs" / name
        command = [self.program, "run", path, "--out", folder, "--threads", self.threads, "--quiet", "--json"]
        finished = run(command, self.threads, limit)
        if finished.code != 0:
            raise RuntimeError(f"vaglio ended with {finished.code}: {finished.err.strip()[:600]}")
        return finished, json.loads(finished.out)

    def model(self, name):
        """The model of the last run of that name."""
        return json.loads((self.cache / "runs" / name / "model.json").read_text())
