"""Whole pipelines, run like the program does."""

import contextlib
import functools
import json
import os
import tempfile
from pathlib import Path

from vaglio import _parts, _progress, _vaglio
from vaglio._errors import SettingError, VaglioError
from vaglio._result import Run
from vaglio._settings import plain


class Pipeline:
    """Settings of a pipeline.

    Parameters
    ----------
    **settings
        Keys of a pipeline file: ``data``, ``preprocess``, ``learner``, ``criterion``, ``search``, … Values are words,
        dicts and parts such as ``vaglio.search.Greedy(max_features=5)``; ``data["train"]`` and ``data["test"]`` may be
        frames.

    Examples
    --------
    >>> import vaglio
    >>> pipeline = vaglio.Pipeline(search=vaglio.search.Greedy(max_features=5), preprocess=["standardize"])
    >>> again = vaglio.Pipeline.from_yaml(pipeline.to_yaml())
    >>> again.settings["search"]["max_features"]
    5
    """

    def __init__(self, **settings):
        self.settings = {"version": 1, **settings}

    @classmethod
    def from_yaml(cls, text, file="pipeline"):
        """Read a pipeline from the text of a pipeline file, with all defaults; errors call it `file`."""
        return cls(**json.loads(_vaglio.to_json(text, file)))

    def to_yaml(self):
        """Text of the pipeline file with all defaults; not for pipelines with frames."""
        return _vaglio.to_yaml(json.dumps(plain(self.settings)))

    def check(self):
        """Raise `SettingError` for invalid settings; return the pipeline."""
        settings = {key: value for key, value in self.settings.items() if key != "data"}
        _vaglio.check(json.dumps(plain(settings)))
        return self

    def run(self, out=None, **options):
        """Run the pipeline; see `vaglio.run`."""
        return run(self, out, **options)

    def plan(self):
        """Describe a run; see `vaglio.plan`."""
        return plan(self)

    def __repr__(self):
        inner = ", ".join(f"{key}={value!r}" for key, value in self.settings.items() if key != "version")
        return f"Pipeline({inner})"


class _Written:
    """Text of a pipeline, the folder of its paths, its file, and assignments. Frames are written to Arrow files, which
    are kept if `frames` names a folder."""

    def __init__(self, pipeline, set=None, frames=None):
        self._folder, self._frames, self.set = None, frames, _assignments(set)
        self._known, self.functions = contextlib.ExitStack(), None
        if isinstance(pipeline, (str, os.PathLike)):
            path = Path(pipeline)
            self.text, self.folder, self.file = _read(path), path.parent, str(path)
            return
        settings = dict(pipeline.settings if isinstance(pipeline, Pipeline) else {"version": 1, **pipeline})
        self._know(settings)
        if isinstance(settings.get("data"), dict):
            settings["data"] = {key: self._as_file(key, value) for key, value in settings["data"].items()}
        self.text, self.folder, self.file = json.dumps(plain(settings)), Path("."), None

    def _know(self, settings):
        """Register Python functions used as criterion or loss."""
        from vaglio._callbacks import function_or_none, known

        criterion = settings.get("criterion")
        of_criterion = criterion if isinstance(criterion, dict) else {}
        functions = function_or_none(criterion), function_or_none(of_criterion.get("loss"))
        if functions != (None, None):
            self.functions, parts = self._known.enter_context(known(*functions))
            loss = {"loss": parts["loss"]} if "loss" in parts else {}
            settings["criterion"] = parts.get("criterion") or {**of_criterion, **loss}

    def _as_file(self, key, value):
        if not hasattr(value, "__arrow_c_stream__"):
            return value
        if self._frames is not None:
            os.makedirs(self._frames, exist_ok=True)
            path = os.path.join(self._frames, f"{key}.arrow")
            _vaglio.write_arrow(value, f"{path}.part")
            os.replace(f"{path}.part", path)
            return path
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="vaglio-")
        path = os.path.join(self._folder.name, key)
        _vaglio.write_arrow(value, path)
        return path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self._folder is not None:
            self._folder.cleanup()
        if self._folder is not None and isinstance(error, VaglioError):
            # The name of a removed temporary file means nothing to the user.
            folder = self._folder.name + os.sep
            error.args = (error.args[0].replace(folder, "the frame "),)
            error.file = None if error.file is None else error.file.replace(folder, "the frame ")
        return self._known.__exit__(kind, error, trace)


def _read(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingError(f"{path}: {error.strerror}", file=str(path)) from error


def _assignments(settings):
    if isinstance(settings, list):
        return settings
    return [f"{path}={json.dumps(plain(value))}" for path, value in (settings or {}).items()]


def run(pipeline, out=None, *, set=None, resume=False, verify=None, threads=None, progress=None):
    """Run a pipeline: select, fit, evaluate, and write the files of the run; on workers if its ``engine`` names some.

    Parameters
    ----------
    pipeline : path, dict or Pipeline
        A pipeline file or its content. In a dict, ``data["train"]`` and ``data["test"]`` may be frames of polars,
        pandas, pyarrow or duckdb, stored in a temporary Arrow file during the run. The criterion or its loss may be a
        function, as in `vaglio.Selector`; it gets classes as ±1.
    out : path, optional
        Output folder; by default ``runs/NAME`` for a file, and a temporary folder for a dict, kept as long as the
        result is used.
    set : dict, optional
        Settings by path that override the pipeline's, such as ``{"search.max_features": 5}``.
    resume : bool
        Resume from the journal in `out`.
    verify : int, optional
        Number of steps to recompute by plain retraining.
    threads : int, optional
        Overrides ``engine.threads``.
    progress : bool or callable, optional
        As in `vaglio.Selector`.

    Returns
    -------
    Run
        With `selection`, `path`, `model` and `report`. A notebook shows its report.

    Raises
    ------
    SettingError, DataError, NumericalError
        With the location of the fault.
    KeyboardInterrupt
        If interrupted; the result so far is in `out`.

    Examples
    --------
    >>> import pandas, vaglio
    >>> frame = pandas.DataFrame({"a": range(40), "b": [i % 7 for i in range(40)]})
    >>> frame["y"] = frame.a + 3 * frame.b
    >>> result = vaglio.run({"data": {"train": frame, "target": "y"}, "search": "greedy"})
    >>> sorted(column.name for column in result.selection.selected)
    ['a', 'b']
    >>> [round(y) for y in result.model.predict(frame)[:2]]
    [0, 4]
    """
    kept = None
    if out is None:
        is_file = isinstance(pipeline, (str, os.PathLike))
        kept = None if is_file else tempfile.TemporaryDirectory(prefix="vaglio-run-")
        out = Path("runs", Path(pipeline).stem) if is_file else Path(kept.name, "run")
    with _Written(pipeline, set) as written, _progress.of_run(progress) as show:
        engine = _vaglio.cluster(written)
        if engine is not None:
            from vaglio import distributed

            # On workers, a run always resumes from the ledger.
            how = {"set": set, "threads": threads, "progress": progress}
            compute = functools.partial(distributed.by_engine, pipeline, json.loads(engine), written.folder, **how)
            return distributed.completed(pipeline, out, compute, verify, progress)
        _vaglio.run(written, out, resume=resume, verify=verify, threads=threads, progress=show)
    return Run(out, _kept=kept)


def load(folder):
    """Load the result of a run from its folder."""
    return Run(folder)


def plan(pipeline, *, set=None):
    """Describe a run without running it: engine with reason, subsets, work, memory, time, λ, folds, inferred column
    types."""
    with _Written(pipeline, set) as written:
        return _Text(_vaglio.plan(written))


class _Text(str):
    """Text that a notebook shows without quotes."""

    def __repr__(self):
        return str(self)


def init(table, target=None, *, task=None, test=None, groups=None, time=None):
    """Draft a pipeline for a table: detects types, identifiers, groups, missing cells and test rows.

    Parameters
    ----------
    table : frame or path
        The data.
    target : str or list of str, optional
        Target columns; guessed by default.
    task : {"regression", "classification"}, optional
        Type of the target; detected by default.
    test : float or path, optional
        Share of the rows to split off, 0 for none, or another table.
    groups, time : str, optional
        Columns of groups and of time; detected by default.

    Returns
    -------
    Pipeline
        Ready to run, with the decisions in ``.notes`` and the commented file in ``.text``. If it does not run,
        ``.fault`` is the reason.

    Examples
    --------
    >>> import pandas, vaglio
    >>> frame = pandas.DataFrame({"a": range(40), "b": [i % 7 for i in range(40)]})
    >>> frame["y"] = frame.a + 3 * frame.b
    >>> vaglio.init(frame, "y").settings["data"]["target"]
    'y'
    """
    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    is_share = isinstance(test, (int, float)) or test is None
    share, other = (test, None) if is_share else (None, os.fspath(test))
    with tempfile.TemporaryDirectory(prefix="vaglio-") as folder:
        is_frame = hasattr(table, "__arrow_c_stream__")
        path = Path(folder, "frame.arrow") if is_frame else Path(table)
        if is_frame:
            _vaglio.write_arrow(table, path)
        where = folder if is_frame else "."
        text, notes, fault = _vaglio.init(path, where, targets, task, share, other, groups, time)
    made = Pipeline.from_yaml(text)
    if is_frame:
        made.settings["data"]["train"] = table
    made.text, made.notes, made.fault = text, notes, fault
    return made


def compare(*runs, out=None):
    """Compare runs as text; a page with curves and shared columns is written to `out`.

    Parameters
    ----------
    *runs : Run or path
        Two or more.
    out : path, optional
        An HTML file.
    """
    table, page = _vaglio.compare([getattr(run, "folder", run) for run in runs])
    if out is not None:
        Path(out).write_text(page, encoding="utf-8")
    return _Text(table)


def explain(run, *columns):
    """Explain columns of a run, chosen or not, as text; by default all chosen ones."""
    return _Text(_vaglio.explain(getattr(run, "folder", run), list(columns)))


def export(run, to, out=None):
    """Export the model of a run to a language: ``"sql"``, ``"python"``, ``"r"``, ``"excel"``, ``"onnx"``, ``"pmml"`` or
    ``"json"``; or describe its ``"methods"``. Returns text, or bytes for ``"onnx"``; also written to `out`."""
    data = bytes(_vaglio.export(getattr(run, "folder", run), to))
    if out is not None:
        Path(out).write_bytes(data)
    return data if to == "onnx" else _Text(data.decode("utf-8"))


def schema():
    """JSON Schema of the pipeline file, with exactly the parts of this build."""
    return json.loads(_vaglio.schema())


def list_parts(role=None):
    """All parts of this build, or those of a role, as dicts: role, kind, summary, example and fields."""
    return [part for part in _parts.parts() if role in (None, part["role"])]
