"""Estimators among those of scikit-learn, errors, interruptions."""

import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from given import FILLED, mixed, numbers, program
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vaglio


def test_clones_and_pickles_predict_the_same_bits():
    X, y = numbers()
    fitted = vaglio.SelectorClassifier(search=vaglio.search.Floating(max_features=3), loss="zero_one").fit(X, y > 0)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    assert np.allclose(fitted.predict_proba(X).sum(axis=1), 1)
    assert again.classes_.tolist() == [False, True]
    cloned = clone(fitted)
    assert cloned.search == fitted.search and cloned.search is not fitted.search
    assert (cloned.fit(X, y > 0).decision_function(X) == fitted.decision_function(X)).all()
    assert vaglio._vaglio.Model.from_text(fitted.model_.text()).text() == fitted.model_.text()


def test_a_tie_is_called_the_more_frequent_class_and_then_the_first():
    X = np.zeros((12, 1))
    for labels, called in [(["a"] * 3 + ["b"] * 9, "b"), (["a"] * 9 + ["b"] * 3, "a"), (["a"] * 6 + ["b"] * 6, "a")]:
        fitted = vaglio.SelectorClassifier(learner=vaglio.learner.Crrr()).fit(X, labels)
        assert abs(fitted.decision_function(X)).max() < 1e-12
        assert set(fitted.predict(X)) == {called}


def test_grids_reach_into_parts_and_two_processes_give_the_same():
    X, y = numbers()
    selector = vaglio.Selector(search=vaglio.search.Greedy(), choose="last", lambda_=1.0)
    grid = {"search__max_features": [1, 3], "lambda_": [0.1, 10.0]}
    one, two = (GridSearchCV(selector, grid, cv=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.best_params_["search__max_features"] == 3
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()
    fits = joblib.Parallel(2)(joblib.delayed(vaglio.LooSelector(k, threads=1).fit)(X, y) for k in (1, 2, 3))
    assert [len(fit.selected_) for fit in fits] == [len(vaglio.LooSelector(k).fit(X, y).selected_) for k in (1, 2, 3)]


def test_weights_and_groups_reach_every_fit():
    X, y = numbers()
    random = np.random.default_rng(0)
    weights, groups = random.random(len(y)), random.integers(0, 8, len(y))
    selector = vaglio.Selector({"kind": "kfold", "by": "groups"}, lambda_=1.0, max_features=3, choose="last")
    params = {"sample_weight": weights, "groups": groups}
    folds = list(GroupKFold(3).split(X, y, groups))
    scores = cross_val_score(selector, X, y, cv=folds, params=params)
    for score, (train, test) in zip(scores, folds):
        own = clone(selector).fit(X[train], y[train], sample_weight=weights[train], groups=groups[train])
        assert own.score(X[test], y[test]) == score
    with sklearn.config_context(enable_metadata_routing=True):
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), clone(selector))
        piped.fit(X, y, sample_weight=weights, groups=groups)
        scaled = StandardScaler().fit(X, sample_weight=weights).transform(X)
        alone = clone(selector).fit(scaled, y, sample_weight=weights, groups=groups)
        assert (piped[-1].predict(scaled) == alone.predict(scaled)).all()
        routed = cross_val_score(clone(selector), X, y, cv=GroupKFold(3), params=params)
        assert len(routed) == 3


def test_it_stands_in_pipelines_and_sets_output():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    piped = make_pipeline(vaglio.LooSelector(3), LinearRegression()).set_output(transform="pandas").fit(frame, y)
    assert piped[:-1].transform(frame).columns.tolist() == ["a", "c", "f"]
    columns = ColumnTransformer([("few", vaglio.LooSelector(2), list("bcdef"))]).fit(frame, y)
    assert columns.get_feature_names_out().tolist() == ["few__c", "few__f"]
    fitted = vaglio.LooSelector(3).fit(frame, y)
    small = fitted.transform(frame)
    assert (small == X[:, [0, 2, 5]]).all()
    assert (np.flatnonzero(fitted.inverse_transform(small).any(axis=0)) == [0, 2, 5]).all()
    assert np.allclose(fitted.predict(frame), X @ fitted.coef_ + fitted.intercept_)
    assert np.flatnonzero(fitted.coef_).tolist() == [0, 2, 5]
    classes = vaglio.SelectorClassifier(max_features=3).fit(X, np.digitize(y, [-1, 1]))
    assert np.allclose(classes.decision_function(X), X @ classes.coef_.T + classes.intercept_)
    assert not hasattr(vaglio.Selector(preprocess=["standardize"]).fit(X, y), "coef_")
    several = vaglio.Selector(max_features=3).fit(X, np.column_stack([y, -y]))
    assert several.predict(X).shape == (len(y), 2)


def test_splits_of_scikit_learn_are_those_of_the_criterion():
    X, y = numbers()
    for cv in (4, KFold(4), list(KFold(4).split(X))):
        ours = vaglio.Selector(cv=cv, lambda_=1.0, max_features=3, choose="last").fit(X, y)
        expected = vaglio.Selector({"kind": "kfold", "folds": 4}, lambda_=1.0, max_features=3, choose="last").fit(X, y)
        assert ours.path_ == expected.path_
    (train, test), = ShuffleSplit(1, random_state=0).split(X)
    one = vaglio.Selector(cv=[(train, test)], lambda_=1e-9, max_features=3, choose="last").fit(X, y)
    chosen = one.path_[-1]["subset"]
    model = LinearRegression().fit(X[train][:, chosen], y[train])
    loss = np.mean((model.predict(X[test][:, chosen]) - y[test]) ** 2)
    assert np.isclose(one.path_[-1]["score"], loss, rtol=1e-6)
    for cv, words in ((RepeatedKFold(n_splits=3), "held out"), (TimeSeriesSplit(3), "forward")):
        with pytest.raises(vaglio.SettingError, match=words):
            vaglio.Selector(cv=cv).fit(X, y)


def test_any_estimator_predicts_from_the_chosen_columns():
    X, y = numbers()
    fitted = vaglio.Selector(max_features=3, choose="last", model=KNeighborsRegressor(3)).fit(X, y)
    chosen = fitted.get_support()
    own = KNeighborsRegressor(3).fit(X[:, chosen], y)
    assert (fitted.predict(X) == own.predict(X[:, chosen])).all()
    assert pickle.loads(pickle.dumps(fitted)).score(X, y) == fitted.score(X, y)
    assert len(cross_val_score(fitted, X, y, cv=3)) == 3
    classes = vaglio.SelectorClassifier(max_features=2, model=LogisticRegression()).fit(X, y > 0)
    own = LogisticRegression().fit(X[:, classes.get_support()], y > 0)
    assert (classes.predict_proba(X) == own.predict_proba(X[:, classes.get_support()])).all()
    by_word = vaglio.Selector(max_features=3, choose="last", model={"kind": "knn", "neighbours": 3}).fit(X, y)
    assert np.allclose(by_word.predict(X), fitted.predict(X))


def test_progress_is_shown(capfd):
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 400))
    seen = []
    vaglio.LooSelector(30, progress=lambda *state: seen.append(state)).fit(X, X[:, 0] + random.normal(size=3000))
    assert seen and all(0 <= done <= max(of, done) for _, done, of, _ in seen)
    # Of the search alone: beside the folds of a choice it takes a moment, in which nothing may be shown.
    vaglio.LooSelector(30, choose="last", progress=True).fit(X, X[:, 0] + random.normal(size=3000))
    assert " of 30" in capfd.readouterr().err or "tqdm" in sys.modules
    with pytest.raises(RuntimeError, match="enough"):
        vaglio.LooSelector(60, progress=lambda *state: exec('raise RuntimeError("enough")')).fit(X, X[:, 0])


def test_errors_name_the_place(tmp_path):
    X, y = numbers()
    with pytest.raises(vaglio.SettingError) as raised:
        vaglio.Selector(search={"kind": "gredy"}).fit(X, y)
    assert raised.value.suggestion == "greedy" and raised.value.line is None
    assert pickle.loads(pickle.dumps(raised.value)).suggestion == "greedy"
    with pytest.raises(ValueError, match="lambda"):
        vaglio.Selector(lambda_=-1.0).fit(X, y)
    (tmp_path / "bad.yaml").write_text("version: 1\ndata: {train: no.csv, target: y}\nserch: greedy\n")
    with pytest.raises(vaglio.SettingError) as raised:
        vaglio.run(tmp_path / "bad.yaml")
    assert (raised.value.file, raised.value.line) == (str(tmp_path / "bad.yaml"), 3)
    with pytest.raises(vaglio.DataError) as raised:
        vaglio.run({"data": {"train": tmp_path / "no.csv", "target": "y"}})
    assert raised.value.file == str(tmp_path / "no.csv")
    frame, _ = mixed()
    frame["noise"] = frame["noise"].where(frame["noise"].index != 7, np.inf)
    with pytest.raises(vaglio.DataError, match="the frame") as raised:
        vaglio.run({"data": {"train": frame, "target": "age"}, "preprocess": FILLED})
    assert (raised.value.row, raised.value.column) == (8, "noise")


def test_parts_are_those_that_are_linked_in():
    listed = {(part["role"], part["kind"]) for part in vaglio.list_parts()}
    assert {("search", "greedy"), ("search", "beam"), ("learner", "knn"), ("criterion", "nhsic")} <= listed
    greedy = vaglio.search.Greedy(max_features=3)
    assert repr(greedy) == "Greedy(max_features=3)" and greedy == vaglio.search.Greedy(3)
    assert "The largest subset" in vaglio.search.Greedy.__doc__
    with pytest.raises(TypeError, match="max_feature"):
        vaglio.search.Greedy(max_feature=3)
    with pytest.raises(ValueError, match="there are: max_features"):
        greedy.set_params(most=3)
    assert vaglio.learner.Rls(lambda_=2.0)._settings() == {"kind": "rls", "lambda": 2.0}
    assert vaglio.schema()["title"] == "vaglio pipeline"


def test_stubs_are_of_what_is_linked_in():
    from vaglio import _parts, _stubs

    for role, module in _parts.MODULES.items():
        written = Path(vaglio.__file__).with_name(f"{module}.pyi").read_text()
        assert written == _stubs.stub(role), f"make it anew: python -m vaglio._stubs FOLDER ({module})"


def test_the_program_is_there():
    assert program("--version")[1].split() == ["vaglio", vaglio.__version__]
    assert program("run")[0] == 2
    start = "import sys, time; t = time.perf_counter(); import vaglio; t = time.perf_counter() - t; "
    say = "print(t, [m for m in ('numpy', 'sklearn', 'pandas') if m in sys.modules])"
    seconds, loaded = subprocess.check_output([sys.executable, "-c", start + say], text=True).split(maxsplit=1)
    assert float(seconds) < 0.5 and loaded.strip() == "[]"
