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


class Enough(Record):
    """Asks to stop after some steps of the search."""

    def on_fit_task_end(self, estimator, context):
        super().on_fit_task_end(estimator, context)
        return self.count("end", "step") >= 3


@pytest.mark.parametrize("by", ["callback", "function"])
def test_who_has_seen_enough_gets_what_there_is(by):
    X, y = data()
    selector = vaglio.LooSelector(400, choose="last", lambda_=1.0)
    if by == "callback":
        selector.set_callbacks(Enough())
    else:
        selector.set_params(progress=lambda what, done, of, loss: np.float64(done) >= 3)
    fitted = selector.fit(X, y)
    assert fitted.stop_reason_ == "interrupted"
    taken = len(fitted.selected_)
    assert 3 <= taken < 400 and taken == fitted.path_[-1]["size"]
    whole = vaglio.LooSelector(taken, choose="last", lambda_=1.0).fit(X, y)
    assert fitted.selected_ == whole.selected_ and np.array_equal(fitted.predict(X), whole.predict(X))


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
