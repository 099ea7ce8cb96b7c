"""Started by the program for ``engine: {kind: dask, …}``: ``python -m vaglio.distributed run PIPELINE --out DIR``."""

import argparse
import json
import os
import signal
import sys

from vaglio import _pipeline, _vaglio
from vaglio._errors import DataError, NumericalError, SettingError
from vaglio.distributed import _named, set_aside_unless_done
from vaglio.distributed._named import by_engine


def _arguments(arguments):
    parser = argparse.ArgumentParser(prog="python -m vaglio.distributed", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a pipeline on the engine that it names")
    workers = commands.add_parser("workers", help="say who would compute, as JSON")
    for command in (run, workers):
        command.add_argument("pipeline")
        command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    run.add_argument("--out", required=True)
    run.add_argument("--threads", type=int)
    run.add_argument("--verify", type=int)
    run.add_argument("--quiet", action="store_true")
    run.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _engine(given):
    engine = _vaglio.cluster(_pipeline._Written(given.pipeline, given.set))
    if engine is None:
        raise SettingError("`engine.kind`: the pipeline names this machine; `vaglio run` runs it", field="engine.kind")
    return json.loads(engine)


def _run(given):
    """Run the units and merge them; return the exit code."""
    with set_aside_unless_done(given.out, given.pipeline):
        engine, show = _engine(given), not given.quiet and sys.stderr.isatty()
        folder = os.path.dirname(given.pipeline)
        shards, stopped = by_engine(given.pipeline, engine, folder, set=given.set, threads=given.threads, progress=show)
    command = ["vaglio", "shard", "merge", shards.folder(), "--out", given.out, "--threads", "0"]
    command += [f"--partial={stopped}"] if stopped else []
    command += [] if given.verify is None else ["--verify", str(given.verify)]
    return _vaglio.main(command + ["--quiet"] * given.quiet + ["--json"] * given.json)


def _workers(given):
    try:
        print(json.dumps({"workers": _named.workers(_engine(given))}))
    except SettingError as error:
        message = str(error).removeprefix(f"`{error.field}`: ")
        print(json.dumps({"error": message, "setting": error.field or "engine"}))
    return 0


def _said(error):
    """A message with control characters escaped and limited length."""
    text = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in str(error))
    return text if len(text) <= 1900 else text[:1900] + "…"


def main(arguments):
    """Run with these arguments; return the exit code."""
    given = _arguments(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _run(given) if given.command == "run" else _workers(given)
    except KeyboardInterrupt:
        print("error: the run was interrupted; what was done is in the ledger, and the same command goes on", file=sys.stderr)
        return 130
    except (SettingError, DataError, NumericalError) as error:
        print(f"error: {_said(error)}", file=sys.stderr)
        codes = {SettingError: 2, DataError: 3, NumericalError: 4}
        return next(code for kind, code in codes.items() if isinstance(error, kind))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.exit(code)
