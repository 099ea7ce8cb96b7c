"""Results of a run: its files as objects."""

import dataclasses
import functools
import json
import webbrowser
from pathlib import Path

from vaglio import _vaglio


class _Record:
    """Base class for records of ``selection.json``; unknown keys are in `more`."""

    @classmethod
    def _of(cls, value):
        if value is None:
            return None
        fields = {field.name for field in dataclasses.fields(cls)} - {"more"}
        known = {key: cls._read(key, item) for key, item in value.items() if key in fields}
        return cls(**known, more={key: item for key, item in value.items() if key not in fields})

    @classmethod
    def _read(cls, key, value):
        kind = cls._kinds.get(key)
        if kind is None:
            return value
        return [kind._of(item) for item in value or []] if isinstance(value, list) else kind._of(value)

    _kinds = {}


@dataclasses.dataclass(frozen=True)
class Step(_Record):
    """A step of the search."""

    step: int
    action: str
    index: int
    name: str
    score: float
    size: int
    standard_error: float | None = None
    lambda_: float | None = None
    tied: list = dataclasses.field(default_factory=list)
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Entry(_Record):
    """The best subset of a size."""

    size: int
    score: float
    step: int | None = None
    standard_error: float | None = None
    lambda_: float | None = None
    cross_validated: float | None = None
    cross_validated_error: float | None = None
    train: float | None = None
    test: float | None = None
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Chosen(_Record):
    """How the result was chosen."""

    by: str
    size: int
    rule: str | None = None
    lambda_: float | None = None
    cross_validated: float | None = None
    standard_error: float | None = None
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Selected(_Record):
    """A chosen column: its weights, the score without it, and replacements."""

    index: int
    name: str
    weight: float | list | None = None
    original_weight: float | list | None = None
    without: float | None = None
    substitutes: list = dataclasses.field(default_factory=list)
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Figures(_Record):
    """Figures on test rows."""

    rows: int | None = None
    loss: float | None = None
    empty_loss: float | None = None
    mse: float | None = None
    r2: float | None = None
    error_rate: float | None = None
    auc: float | None = None
    standard_error: float | None = None
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Nested(_Record):
    """Nested cross-validation of the whole selection."""

    folds: int
    loss: float
    repeats: int = 1
    standard_error: float | None = None
    empty_loss: float | None = None
    per_fold: list = dataclasses.field(default_factory=list)
    frequency: list = dataclasses.field(default_factory=list)
    jaccard: float | None = None
    more: dict = dataclasses.field(default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Selection(_Record):
    """The content of ``selection.json``."""

    status: str
    stop_reason: str
    seed: int
    pipeline: dict
    data: dict
    candidates: list
    steps: list
    path: list
    chosen: Chosen
    selected: list
    score: float | None = None
    lambda_: float | None = None
    intercept: float | list | None = None
    empty_score: float | None = None
    excluded: list = dataclasses.field(default_factory=list)
    test: Figures | None = None
    nested: Nested | None = None
    warnings: list = dataclasses.field(default_factory=list)
    seconds: dict = dataclasses.field(default_factory=dict)
    peak_memory_bytes: int | None = None
    more: dict = dataclasses.field(default_factory=dict, repr=False)

    _kinds = {"steps": Step, "path": Entry, "chosen": Chosen, "selected": Selected, "test": Figures, "nested": Nested}

    @classmethod
    def of_text(cls, text):
        """Read the text of a ``selection.json``."""
        return cls._of(json.loads(text, object_pairs_hook=_named))


def _named(pairs):
    return {f"{key}_" if key == "lambda" else key: value for key, value in pairs}


class Model:
    """A saved model: the content of a ``model.json``.

    Parameters
    ----------
    path : path
        The file.
    """

    def __init__(self, path):
        self.path = Path(path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            from vaglio._errors import DataError

            raise DataError(f"{path}: {error.strerror}", file=str(path)) from error
        self._model = _vaglio.Model.from_text(text, str(path))

    @property
    def columns(self):
        """Columns that the model reads."""
        return self._model.sources()

    @property
    def classes(self):
        """Class labels in the order of their probabilities; None for numbers."""
        return self._model.labels()

    def _values(self, frame):
        import numpy as np

        if not hasattr(frame, "__arrow_c_stream__"):
            raise TypeError("expected a frame of polars, pandas, pyarrow or duckdb, whose columns have names")
        data, _ = self._model.predict_frame(frame)
        return data, np.frombuffer(data, dtype="f8").reshape(len(self._model.outputs()), -1)

    def decision_values(self, frame):
        """Predicted numbers or decision values: rows × outputs."""
        return self._values(frame)[1].T.copy()

    def predict(self, frame):
        """Predict the rows of a frame, with columns matched by name: numbers in the unit of the target, or labels.

        Rows that maps drop, such as the first of a series with lags, have no prediction.
        """
        import numpy as np

        data, values = self._values(frame)
        if self.classes is None:
            return values[0].copy() if len(values) == 1 else values.T.copy()
        return np.asarray(self.classes)[self._model.called(data)]

    def predict_proba(self, frame):
        """Probabilities of `classes`, rows × classes; `None` for a model without calibration."""
        from vaglio import _tables

        data, values = self._values(frame)
        probabilities = self._model.probabilities(data)
        return None if probabilities is None else _tables.doubles(probabilities, values.shape[1])


class Run:
    """The result of a run.

    Parameters
    ----------
    folder : path
        Folder of its files.
    """

    def __init__(self, folder, _kept=None):
        self.folder = Path(folder)
        self._kept = _kept

    @functools.cached_property
    def selection(self):
        """The content of ``selection.json``."""
        return Selection.of_text((self.folder / "selection.json").read_text(encoding="utf-8"))

    @functools.cached_property
    def model(self):
        """The saved model."""
        return Model(self.folder / "model.json")

    @property
    def path(self):
        """Best subset of each size, one per row: a frame of pandas or polars if installed, else dicts."""
        rows = [dataclasses.asdict(entry) for entry in self.selection.path]
        rows = [{key: value for key, value in row.items() if key != "more"} for row in rows]
        for module in ("pandas", "polars"):
            try:
                return __import__(module).DataFrame(rows)
            except ImportError:
                continue
        return rows

    def report(self, open=True):
        """Path of the report; opens it in a browser unless `open` is false."""
        page = (self.folder / "report.html").resolve()
        if open:
            webbrowser.open(page.as_uri())
        return page

    def _repr_html_(self):
        import html

        page = html.escape((self.folder / "report.html").read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="700" frameborder="0"></iframe>'

    def __repr__(self):
        chosen = self.selection.chosen
        names = ", ".join(column.name for column in self.selection.selected[:8])
        more = ", …" if len(self.selection.selected) > 8 else ""
        line = _vaglio.error_line(self.folder / "selection.json")
        error = f", {line}" if line else ""
        return f"<vaglio run in {self.folder}: {chosen.size} columns ({names}{more}){error}>"
