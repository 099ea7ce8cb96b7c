"""Base class of all estimators, for scikit-learn."""

import json

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data
from sklearn.utils.validation import _check_y as check_y

from vaglio import _callbacks, _stages, _tables, _vaglio
from vaglio._callbacks import function_or_none
from vaglio._errors import SettingError
from vaglio._folds import folds_of
from vaglio._settings import component, penalty, plain, text


class BaseSelector(_stages.CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """Base class of selectors for numbers and for classes."""

    # Weights and groups also reach the estimator inside a Pipeline, by metadata routing.
    __metadata_request__fit = {"sample_weight": True, "groups": True}
    __metadata_request__score = {"sample_weight": True}

    _is_classifier = False

    # Settings that some subclasses do not take.
    criterion, learner = "loo", "rls"
    choose = max_features = target_map = model = cv = limits = random_state = None

    def __init__(
        self,
        criterion="loo",
        search="greedy",
        learner="rls",
        *,
        lambda_=None,
        loss=None,
        choose=None,
        max_features=None,
        preprocess=(),
        target_map=None,
        model=None,
        cv=None,
        limits=None,
        random_state=None,
        threads=0,
        progress=None,
    ):
        self.criterion = criterion
        self.search = search
        self.learner = learner
        self.lambda_ = lambda_
        self.loss = loss
        self.choose = choose
        self.max_features = max_features
        self.preprocess = preprocess
        self.target_map = target_map
        self.model = model
        self.cv = cv
        self.limits = limits
        self.random_state = random_state
        self.threads = threads
        self.progress = progress

    # Settings

    def pipeline(self):
        """Settings of the pipeline that `fit` fits, as a dict: the content of a pipeline file without its data."""
        parts = (self.criterion, self.loss)
        criterion, loss = ({"kind": "python"} if function_or_none(part) else part for part in parts)
        return self._pipeline(component(criterion), loss)

    def _pipeline(self, criterion, loss):
        settings = {"version": 1, "seed": self._seed()}
        settings["criterion"] = criterion if loss is None else {**criterion, "loss": plain(loss)}
        search = plain(self.search)
        # In a chain, the settings apply to the last search.
        last = component(search[-1] if isinstance(search, list) else search)
        for name in ("choose", "max_features"):
            if getattr(self, name) is not None:
                last[name] = plain(getattr(self, name))
        settings["search"] = [*search[:-1], last] if isinstance(search, list) else last
        # By default, λ is chosen from a grid fitted to the data.
        if self.learner != "rls" or self.lambda_ is not None:
            learner = component(self.learner)
            if self.lambda_ is not None:
                learner["lambda"] = penalty(self.lambda_)
            settings["learner"] = learner
        for name in ("preprocess", "target_map", "limits"):
            if getattr(self, name):
                settings[name] = plain(getattr(self, name))
        if self.model is not None and not hasattr(self.model, "fit"):
            settings["model"] = plain(self.model)
        return settings

    def _seed(self):
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fills(self):
        """Whether a map fills missing cells."""
        return any(component(step).get("kind") == "impute" for step in self.preprocess or ())

    # Fitting

    @_stages.with_callbacks
    def fit(self, X, y, sample_weight=None, groups=None):
        """Select columns and train on them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Candidate columns. Doubles in Fortran order are read in place and must not change meanwhile; others are
            copied once. A sparse matrix is read by columns (CSC) and stays sparse. A frame (polars, pandas, pyarrow,
            duckdb) may hold text, classes and dates, for which `preprocess` has maps. A missing cell is NaN or null;
            `impute` fills it.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Target.
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 counts like the row given twice in one fold, 0 like its absence.
        groups : array of shape (n_samples,), optional
            Rows of one group are held out together, in the folds of `choose` and of ``kfold`` by groups.

        Returns
        -------
        self

        Raises
        ------
        vaglio.SettingError, vaglio.DataError, vaglio.NumericalError
            With the location of the fault.
        """
        given, (table, y) = X, self._training(X, y)
        targets, names, labels = self._targets(y)
        known = {"targets": targets, "names": names, "labels": labels, "weights": None, "groups": None, "folds": None}
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, targets, dtype=np.float64, ensure_non_negative=True)
            known["weights"] = weights.reshape(-1, 1)
        if labels is not None:
            counting = targets if sample_weight is None else targets[weights > 0]
            if (counting == counting[:1]).all():
                raise SettingError("there is a single class; two are needed", field="targets")
        if groups is not None:
            groups = column_or_1d(groups)
            known["groups"] = np.unique(groups, return_inverse=True)[1].tolist()
        functions = [function_or_none(part) for part in (self.criterion, self.loss)]
        criterion = {} if functions[0] else component(self.criterion)
        if self.cv is not None and not functions[0]:
            of_cv, folds = folds_of(self.cv, np.zeros((len(targets), 1)), y, groups, self._is_classifier)
            criterion = {**({"kind": "kfold"} if criterion["kind"] == "loo" else criterion), **of_cv}
            known["folds"] = folds.tolist()
        with (
            _callbacks.known(*functions, getattr(self, "classes_", None)) as (functions, settings),
            _stages.shown(self, given, y) as show,
        ):
            pipeline = self._pipeline(settings.get("criterion", criterion), settings.get("loss", self.loss))
            self._fit(pipeline, table, known, show, functions)
        return self._fit_model(given, y, sample_weight)

    def _fit_model(self, X, y, sample_weight):
        """Train a scikit-learn estimator on the chosen columns, to predict instead of the learner."""
        vars(self).pop("estimator_", None)
        if hasattr(self.model, "fit") and self.selected_:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.estimator_ = clone(self.model).fit(self._chosen(X), y, **weights)
        return self

    def _chosen(self, X):
        """The chosen columns of X, for an estimator on arrays."""
        if _tables.is_frame(X):
            raise SettingError("columns of text and dates are not those of an estimator of scikit-learn", field="model")
        X = validate_data(self, X, reset=False, **self._accepted(X, rows=1))
        return X[:, self._get_support_mask().nonzero()[0]]

    def _fit(self, settings, table, known, show, functions):
        if not self.preprocess and self.learner == "rls" and (self.max_features or 0) > self.n_features_in_:
            message = f"max_features={self.max_features}, and the data have n_features = {self.n_features_in_}"
            raise SettingError(message, field="search.max_features")
        model, found = _vaglio.fit(text(settings), table, known, self.threads, show, functions)
        self.model_ = model
        found = json.loads(found)
        names, indices = model.selected()
        self.selected_ = names
        self.path_ = found["path"]
        self.steps_ = found["steps"]
        self.chosen_ = found["chosen"]
        self.candidates_ = found["candidates"]
        self.warnings_ = [warning["message"] for warning in found["warnings"]]
        self.stop_reason_ = found["stop_reason"]
        self.certificate_ = found["certificate"]
        self.seconds_ = found["seconds"]
        of_size = [entry for entry in self.path_ if sorted(entry["subset"]) == sorted(indices)]
        self.criterion_score_ = of_size[0]["score"] if of_size else found["empty_score"]
        self.best_lambda_ = self.chosen_["lambda"]
        self._set_coefficients(found["coefficients"], indices)

    def _set_coefficients(self, coefficients, chosen):
        """Set the weights of all columns if the model is linear in them; 0 for columns that were not chosen."""
        vars(self).pop("coef_", None), vars(self).pop("intercept_", None)
        is_of_columns = not self.preprocess and not self.target_map and self.candidates_ == self._names()
        if coefficients is None or not is_of_columns or hasattr(self.model, "fit"):
            return
        weights = np.zeros((len(coefficients["intercept"]), self.n_features_in_))
        weights[:, chosen] = np.reshape(coefficients["weights"], (len(chosen), len(weights))).T
        self.coef_, self.intercept_ = weights, np.array(coefficients["intercept"])
        if not self._is_classifier and self._is_flat:
            self.coef_, self.intercept_ = weights[0], float(self.intercept_[0])

    def _training(self, X, y):
        """The table of X, and y."""
        numeric = not self._is_classifier
        if _tables.is_frame(X):
            validate_data(self, X, skip_check_array=True)
            y = check_y(y, multi_output=numeric, y_numeric=numeric, estimator=self)
            return _vaglio.Table.from_frame(_tables.of_frame(X, self._names())), y
        X, y = validate_data(self, X, y, multi_output=numeric, y_numeric=numeric, **self._accepted(X, rows=2))
        return _tables.of_array(X, self._names()), y

    def _accepted(self, X, rows):
        """Validate X: minimum number of rows, and at most one copy to convert to numbers."""
        return {
            "dtype": _tables.READ,
            "accept_sparse": "csc",
            "order": None if getattr(X, "dtype", None) in _tables.READ else "F",
            "ensure_all_finite": "allow-nan" if self._fills() else True,
            "ensure_min_samples": rows,
        }

    def _names(self):
        """Column names, or x0, x1, …, as in scikit-learn."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{index}" for index in range(self.n_features_in_)] if names is None else [str(n) for n in names]

    def _targets(self, y):
        """Targets, rows × outputs as doubles, with their names and the class labels."""
        if self._is_classifier:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            labels = [_label(value) for value in self.classes_]
            # Two classes have one output, ±1; more have one each.
            outputs = np.arange(len(labels))[int(len(labels) == 2) :]
            return np.where(np.reshape(codes, (-1, 1)) == outputs, 1.0, -1.0), ["target"], labels
        y = np.asarray(y, dtype="f8")
        self._is_flat = y.ndim == 1
        names = ["target"] if self._is_flat else [f"target-{output}" for output in range(y.shape[1])]
        return np.asfortranarray(y.reshape(len(y), -1)), names, None

    # What was fitted

    def __sklearn_is_fitted__(self):
        return hasattr(self, "model_")

    def _predicted(self, X):
        """Decision values, rows × outputs, and their bytes."""
        check_is_fitted(self)
        if _tables.is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=False)
            rows = len(X) if hasattr(X, "__len__") else X.num_rows
            data, predicted = self.model_.predict_frame(_tables.of_frame(X, self._names()))
        else:
            X = validate_data(self, X, reset=False, **self._accepted(X, rows=1))
            rows, names = X.shape[0], self._names()
            places = {name: place for place, name in enumerate(names)}
            # If no column is read, one is needed for the number of rows.
            read = self.model_.sources() or names[:1]
            data, predicted = self.model_.predict(_tables.of_array(X, read, [places[name] for name in read]))
        if len(predicted) != rows:
            raise ValueError("maps of the pipeline drop rows, which an estimator cannot follow; use vaglio.run")
        return _tables.doubles(data, rows), data

    def transform(self, X):
        """The columns that the model reads, unchanged, in the order of `X`: shape (n_samples, n_selected).

        For a frame with text or dates, an array of objects, or with `set_output` a frame with the original column
        types.
        """
        kind = _get_output_config("transform", self)["dense"]
        if kind == "default" or not _tables.is_frame(X):
            return super().transform(X)
        check_is_fitted(self)
        validate_data(self, X, skip_check_array=True, reset=False)
        return _tables.chosen(X, self._get_support_mask().nonzero()[0], kind)

    def _get_support_mask(self):
        check_is_fitted(self)
        wanted = set(self.model_.sources())
        return np.array([name in wanted for name in self._names()])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = not self._is_classifier
        tags.input_tags.allow_nan = self._fills()
        tags.input_tags.sparse = True
        return tags


def _label(value):
    """A class label as the program writes it: whole numbers without a point."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
