"""Callbacks of scikit-learn from 1.9 on receive the stages of a fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vaglio

callback = pytest.importorskip("sklearn.callback", reason="this version of scikit-learn has no callbacks")


class Record:
    """Remembers the tasks that began and ended."""

    max_propagation_depth = None

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", type(estimator).__name__, context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", type(estimator).__name__, context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        assert X is not None and len(y) == len(X)
        self.events.append(("begin", type(estimator).__name__, context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", type(estimator).__name__, context.task_name))

    def count(self, event, task):
        return sum(seen[0] == event and seen[2] == task for seen in self.events)


def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 400))
    return X, X[:, 0] + random.normal(size=3000)


def test_stages_are_tasks_and_steps_are_theirs():
    X, y = data()
    record = Record()
    fitted = vaglio.LooSelector(30, choose="last").set_callbacks(record).fit(X, y)
    assert record.events[0][0] == "setup" and record.events[1] == ("begin", "LooSelector", "fit")
    assert record.events[-2:] == [("end", "LooSelector", "fit"), ("teardown", "LooSelector", "fit")]
    assert record.count("begin", "search") == record.count("end", "search") == 1
    assert 1 <= record.count("begin", "step") == record.count("end", "step") <= 30
    assert fitted.selected_ == vaglio.LooSelector(30, choose="last").fit(X, y).selected_
    with pytest.raises(TypeError, match="FitCallback"):
        vaglio.LooSelector().set_callbacks(print)


def test_callbacks_are_torn_down_after_errors_and_go_with_clones_and_pipelines():
    X, y = data()
    record = Record()
    with pytest.raises(vaglio.SettingError):
        vaglio.Selector(search={"kind": "gredy"}).set_callbacks(record).fit(X, y)
    assert [event for event, *_ in record.events] == ["setup", "begin", "teardown"]
    of_clone = Record()
    clone(vaglio.LooSelector(2, lambda_=1.0).set_callbacks(of_clone)).fit(X[:50, :5], y[:50])
    assert of_clone.count("begin", "fit") == 1
    piped = Record()
    make_pipeline(StandardScaler(), vaglio.LooSelector(3, lambda_=1.0)).set_callbacks(piped).fit(X[:50, :5], y[:50])
    assert ("begin", "LooSelector", "fit") in piped.events and piped.events[-1][:2] == ("teardown", "Pipeline")


def test_progress_bars_of_scikit_learn_are_shown(capsys):
    pytest.importorskip("rich")
    X, y = data()
    vaglio.LooSelector(30, choose="last").set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "LooSelector" in capsys.readouterr().out
