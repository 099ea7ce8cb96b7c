"""Criteria and losses that are functions of Python, and interruptions of them."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from given import numbers
from sklearn.metrics import mean_absolute_error, mean_pinball_loss

import vaglio


def error(X, y, sample_weight=None):
    """The mean squared error of least squares without intercept."""
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    root = np.sqrt(weights)
    left = y - X @ np.linalg.lstsq(X * root[:, None], y * root, rcond=None)[0] if X.shape[1] else y
    return float(np.average(left**2, weights=weights))


def test_a_function_is_a_criterion():
    vaglio.testing.check_criterion(error)
    X, y = numbers()
    fitted = vaglio.Selector(error, max_features=3, choose="last").fit(X, y)
    left, expected = list(range(X.shape[1])), []
    for _ in range(3):
        expected.append(min(left, key=lambda column: error(X[:, [*expected, column]], y)))
        left.remove(expected[-1])
    assert fitted.path_[-1]["subset"] == expected
    assert fitted.path_[-1]["score"] == error(X[:, expected], y)
    weights = np.random.default_rng(0).random(len(y))
    weighed = vaglio.Selector(error, max_features=2, choose="last").fit(X, y, sample_weight=weights)
    assert np.isclose(weighed.path_[0]["score"], error(X[:, weighed.path_[0]["subset"]], y, weights), rtol=1e-12)
    seen = set()
    vaglio.SelectorClassifier(lambda X, y: seen.update(y) or X.sum(), max_features=1, choose="last").fit(X, y > 0)
    assert seen == {False, True}

    def broken(X, y):
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        vaglio.Selector(broken).fit(X, y)
    with pytest.raises(AssertionError, match="not a number"):
        vaglio.testing.check_criterion(lambda X, y: float("nan"))
    with pytest.raises(AssertionError, match="second time"):
        vaglio.testing.check_criterion(lambda X, y, state=[0]: state.append(0) or float(len(state)))


def absolute(y, p):
    """Absolute errors, one for each row."""
    return np.abs(y - p)


@pytest.mark.parametrize("criterion", ["loo", {"kind": "kfold", "folds": 4}])
def test_a_function_is_a_loss_with_the_columns_and_scores_of_the_one_that_is_built_in(criterion):
    X, y = numbers(rows=60)
    weights = np.random.default_rng(0).random(len(y))
    settings = {"max_features": 3, "lambda_": [0.1, 10.0]}
    for given in (None, weights):
        expected = vaglio.Selector(criterion, loss="absolute", **settings).fit(X, y, sample_weight=given)
        for loss in (absolute, mean_absolute_error):
            own = vaglio.Selector(criterion, loss=loss, **settings).fit(X, y, sample_weight=given)
            assert own.selected_ == expected.selected_ and own.best_lambda_ == expected.best_lambda_
            scores = [[entry["score"] for entry in fitted.path_] for fitted in (own, expected)]
            assert np.allclose(*scores, rtol=1e-12, atol=0)
            assert np.allclose(own.predict(X), expected.predict(X), rtol=1e-12)


def test_losses_of_classes_are_given_labels_and_decision_values():
    X, y = numbers(rows=60)

    def wrong(labels, decisions):
        assert set(labels) <= {"high", "low"} and decisions.ndim == 1
        return np.where(labels == "low", decisions, -decisions) <= 0

    labels = np.where(y > 0, "low", "high")
    settings = {"criterion": {"kind": "kfold", "folds": 3}, "max_features": 2, "lambda_": 1.0}
    own, expected = (vaglio.SelectorClassifier(loss=loss, **settings).fit(X, labels) for loss in (wrong, "zero_one"))
    assert [entry["score"] for entry in own.path_] == [entry["score"] for entry in expected.path_]
    assert (own.predict(X) == expected.predict(X)).all()
    shapes = set()

    def hinge(labels, decisions):
        shapes.add(decisions.shape[1:])
        return np.maximum(0, 1 - decisions[np.arange(len(labels)), labels]).mean()

    vaglio.SelectorClassifier(loss=hinge, max_features=2, lambda_=1.0).fit(X, np.digitize(y, [-1, 1]))
    assert shapes == {(3,)}


def test_losses_keep_laws_or_are_told_which_they_break():
    vaglio.testing.check_loss(absolute)
    vaglio.testing.check_loss(lambda y, p, sample_weight=None: mean_pinball_loss(y, p, sample_weight=sample_weight))
    margins = lambda labels, decisions: np.log1p(np.exp(-np.where(labels == "b", decisions, -decisions)))  # noqa: E731
    vaglio.testing.check_loss(margins, classes=["a", "b"])
    broken = {
        "not a number": lambda y, p: np.nan,
        "changed what it was given": lambda y, p: np.abs(np.subtract(y, p, out=y if y.flags.writeable else y.copy())),
        "second time": lambda y, p, state=[]: state.append(0) or float(len(state)),
        "another order": lambda y, p: float(np.abs(y - p)[0]),
        "weights from 1 to 3": lambda y, p, sample_weight=None: float(np.abs(y - p).mean()),
        "lower loss than none": lambda y, p: -np.abs(y - p),
    }
    for law, loss in broken.items():
        with pytest.raises(AssertionError, match=law):
            vaglio.testing.check_loss(loss)
    X, y = numbers(rows=40)
    with pytest.raises(ValueError, match="one for each of 40 rows"):
        vaglio.Selector(loss=lambda y, p: np.ones(3), max_features=1, choose="last").fit(X, y)
    with pytest.raises(TypeError, match="takes no `sample_weight`"):
        vaglio.Selector(loss=lambda y, p: 1.0).fit(X, y, sample_weight=np.arange(1.0, 41.0))

    def lost(y, p):
        raise KeyError("lost")

    for criterion in ("loo", "kfold"):
        with pytest.raises(KeyError, match="lost"):
            vaglio.Selector(criterion, loss=lost).fit(X, y)


def test_runs_take_functions_and_plans_say_that_they_are_slow(tmp_path):
    X, y = numbers(rows=60)
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    settings = {"data": {"train": frame, "target": "y"}, "learner": {"kind": "rls", "lambda": 1.0}}
    of_loss = {**settings, "criterion": {"kind": "loo", "loss": absolute}, "search": {"kind": "greedy", "max_features": 2}}
    assert "function `absolute` of Python is called for every trial" in vaglio.plan(of_loss)
    own = vaglio.run(of_loss)
    expected = vaglio.run({**of_loss, "criterion": {"kind": "loo", "loss": "absolute"}})
    assert [column.name for column in own.selection.selected] == [column.name for column in expected.selection.selected]
    of_criterion = {**settings, "criterion": error, "search": {"kind": "greedy", "max_features": 2, "choose": "last"}}
    assert "scored by a function of Python, one at a time" in vaglio.plan(of_criterion)
    assert {column.name for column in vaglio.run(of_criterion).selection.selected} == {"c", "f"}
    with pytest.raises(vaglio.SettingError, match="no function of Python is known as `absolute`"):
        vaglio.run({**of_loss, "criterion": {"kind": "loo", "loss": {"kind": "python", "name": "absolute"}}})


def interrupted(fit, after=0.5):
    """Seconds from an interruption until it is raised."""
    # What a shell starts in the background ignores interruptions.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fit()
        time.sleep(5)
    return time.monotonic() - start - after


def test_an_interruption_ends_a_fit_within_a_second(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 300))
    y = X[:, 0] + random.normal(size=2000)
    assert interrupted(lambda: vaglio.BestSubset(12, lambda_=1.0, choose="last").fit(X, y)) < 1.5
    threads = threading.active_count()
    slow = vaglio.Selector(lambda X, y: time.sleep(30) or 0.0, max_features=2)
    assert interrupted(lambda: slow.fit(X[:, :5], y)) < 1.5
    slow = vaglio.Selector(loss=lambda y, p: time.sleep(30) or 0.0, max_features=2)
    assert interrupted(lambda: slow.fit(X[:, :5], y)) < 1.5
    settings = {"criterion": lambda X, y: time.sleep(30) or 0.0, "search": {"kind": "greedy", "choose": "last"}}
    frame = pd.DataFrame(X[:50, :4], columns=list("abcd")).assign(y=y[:50])
    run = {"data": {"train": frame, "target": "y"}, **settings}
    assert interrupted(lambda: vaglio.run(run, tmp_path / "run")) < 2.5
    assert threading.active_count() == threads


ENDS = """
import os, signal, sys, threading, time
import numpy, vaglio

def slow(*given, **weights):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        time.sleep(0.01) if sys.argv[1] == "sleeps" else sum(range(1000))
    return 0.0

X = numpy.asfortranarray(numpy.random.default_rng(0).normal(size=(60, 6)))
try:
    vaglio.Selector(**{sys.argv[2]: slow}, max_features=2).fit(X, X[:, 0])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("part", ["criterion", "loss"])
@pytest.mark.parametrize("does", ["sleeps", "computes"])
def test_a_process_ends_well_after_an_interrupted_function(does, part):
    done = subprocess.run([sys.executable, "-c", ENDS, does, part], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
