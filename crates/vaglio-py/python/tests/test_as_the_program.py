"""Estimators and runs give the columns and bits of the program on the same table."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from given import FILLED, mixed, numbers, program

import vaglio

CASES = [
    ({}, {}),
    ({"search": {"kind": "floating", "max_features": 4}, "lambda_": 1.0}, {}),
    ({"criterion": {"kind": "kfold", "folds": 4}, "lambda_": [0.1, 1.0, 10.0], "choose": "one_se"}, {}),
    ({"preprocess": ["standardize"], "max_features": 3}, {}),
    ({"criterion": "nhsic", "search": "lars", "max_features": 3}, {}),
    ({"learner": {"kind": "elm", "units": 20}, "lambda_": 0.1, "max_features": 4, "choose": "last"}, {}),
    ({"max_features": 3}, {"weights": True}),
    ({"criterion": {"kind": "kfold", "by": "groups"}, "max_features": 3, "lambda_": 1.0}, {"groups": True}),
]


@pytest.mark.parametrize("kind", ["Selector", "SelectorClassifier"])
@pytest.mark.parametrize("settings, roles", CASES)
def test_fits_are_those_of_the_program(tmp_path, kind, settings, roles):
    X, y = numbers()
    random = np.random.default_rng(1)
    labels = y if kind == "Selector" else np.array(["low", "high"])[(y > 0).astype(int)]
    frame = pd.DataFrame(X, columns=[f"c{index}" for index in range(X.shape[1])])
    weights = random.integers(1, 4, len(y)) / 3 if "weights" in roles else None
    groups = random.integers(0, 12, len(y)) if "groups" in roles else None
    estimator = getattr(vaglio, kind)(random_state=7, **settings)
    estimator.fit(frame, labels, sample_weight=weights, groups=groups)

    data = {"train": "table.parquet", "target": "target"}
    table = frame.assign(target=labels)
    if weights is not None:
        table, data["weights"] = table.assign(weight=weights), "weight"
    if groups is not None:
        table, data["groups"] = table.assign(group=groups), "group"
    if kind == "SelectorClassifier":
        data["positive"] = "low"
    table.to_parquet(tmp_path / "table.parquet")
    pipeline = {**estimator.pipeline(), "data": data}
    (tmp_path / "pipeline.yaml").write_text(json.dumps(pipeline))
    code, out, errors = program("run", "pipeline.yaml", "--json", "--out", "run", cwd=tmp_path)
    assert code == 0, errors
    record = json.loads(out)
    assert [column["name"] for column in record["selected"]] == estimator.selected_
    assert [(e["size"], e["score"]) for e in record["path"]] == [(e["size"], e["score"]) for e in estimator.path_]
    assert record["chosen"]["lambda"] == estimator.chosen_["lambda"]
    if estimator.chosen_["cross_validated"]:
        assert record["chosen"]["cross_validated"] == estimator.chosen_["cross_validated"][0]
    run = vaglio.load(tmp_path / "run")
    expected = estimator.predict(frame)
    assert (run.model.predict(frame) == expected).all()
    code, out, errors = program("predict", "--model", "run/model.json", "--data", "table.parquet", cwd=tmp_path)
    assert code == 0, errors
    lines = [line.split(",") for line in out.splitlines()]
    if kind == "Selector":
        assert [float(line[-1]) for line in lines[1:]] == expected.tolist()
    else:
        assert sum(line[-1] == label for line, label in zip(lines[1:], expected)) == len(expected), lines[:2]


def test_orders_types_and_frames_change_no_bit():
    X, y = numbers()
    fitted = vaglio.LooSelector(4).fit(X, y)
    text = fitted.model_.text()
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.tolist()):
        assert vaglio.LooSelector(4).fit(other, y).model_.text() == text
    names = [f"x{index}" for index in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    arrow = pa.Table.from_pandas(frame)
    for other in (frame, pl.from_pandas(frame), arrow, pa.concat_tables([arrow.slice(0, 50), arrow.slice(50)])):
        again = vaglio.LooSelector(4).fit(other, y)
        assert again.model_.text() == text
        assert (again.predict(other) == fitted.predict(X)).all()
    whole = np.round(8 * np.abs(X)).astype(np.uint8)
    doubles = vaglio.LooSelector(4).fit(whole.astype(float), y).model_.text()
    for dtype in ("u1", "i4", "f4", "i8"):
        assert vaglio.LooSelector(4).fit(whole.astype(dtype), y).model_.text() == doubles


def test_text_dates_and_missing_cells_of_frames_are_mapped():
    frame, y = mixed()
    expected = None
    for other in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        fitted = vaglio.Selector(preprocess=FILLED, max_features=2).fit(other, y)
        assert set(fitted.selected_) == {"age", "city=Oslo"}
        assert fitted.get_feature_names_out().tolist() == ["age", "city"]
        expected = fitted.predict(frame) if expected is None else expected
        assert (fitted.predict(other) == expected).all()
        assert (fitted.predict(other[:5]) == expected[:5]).all()
        for kind in ("pandas", "polars"):
            kept = fitted.set_output(transform=kind).transform(other)
            assert list(kept.columns) == ["age", "city"] and "float" in str(kept["age"].dtype).lower()
    with pytest.raises(vaglio.DataError) as raised:
        vaglio.Selector(preprocess=["one_hot", "date_parts"]).fit(frame, y)
    assert (raised.value.row, raised.value.column) in [(1, "age"), (1, "city=Bern")]


def test_a_run_of_a_frame_is_that_of_its_file(tmp_path):
    frame, y = mixed()
    frame["y"] = y
    frame.to_parquet(tmp_path / "table.parquet")
    settings = {"preprocess": FILLED, "evaluate": {"nested": {"folds": 3}}}
    of_file = vaglio.run({**settings, "data": {"train": tmp_path / "table.parquet", "target": "y"}}, tmp_path / "file")
    of_frame = vaglio.run({**settings, "data": {"train": pl.from_pandas(frame), "target": "y"}}, threads=1)
    for name in ("selected", "path", "chosen", "nested"):
        assert getattr(of_frame.selection, name) == getattr(of_file.selection, name)
    assert (of_frame.model.predict(frame) == of_file.model.predict(pa.Table.from_pandas(frame))).all()
    assert of_file.selection.nested.folds == 3 and len(of_file.path) == len(of_file.selection.path)
    assert "<iframe" in of_file._repr_html_() and of_file.report(open=False).is_file()
    assert "nested error " in repr(of_file) and "RMSE " in repr(of_file)
    assert "age" in vaglio.explain(of_file, "age")
    assert "SELECT" in vaglio.export(of_file, "sql").upper()
    assert vaglio.compare(of_file, of_frame, out=tmp_path / "both.html").count("\n") > 3
    assert (tmp_path / "both.html").read_text().startswith("<!")


def test_init_of_a_frame_runs_as_it_stands():
    frame, y = mixed()
    frame["y"] = y
    pipeline = vaglio.init(frame, "y")
    assert pipeline.fault is None and any("missing" in note for note in pipeline.notes)
    assert "candidate columns" in pipeline.plan()
    result = pipeline.run()
    assert "age" in [column.name for column in result.selection.selected]
    assert len(result.model.predict(frame)) == len(frame)
