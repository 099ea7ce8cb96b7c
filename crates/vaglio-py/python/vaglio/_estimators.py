"""General estimators for scikit-learn."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from vaglio import _tables
from vaglio._base import BaseSelector

_PARAMETERS = """
    Parameters
    ----------
    criterion : str, dict, part or callable, default "loo"
        Score of a subset: a word, such as ``"loo"`` or ``"kfold"``, its settings, a part of `vaglio.criterion`, or a
        function of columns, targets and, if rows have weights, ``sample_weight``. Lower is better. A function is called
        for every trial, one at a time.
    search : str, dict, part or a list of them, default "greedy"
        Search strategy; a list is a chain, each search continuing with the columns that the previous one chose. See
        `vaglio.search`.
    learner : str, dict or part, default "rls"
        Model that is fitted to a subset; see `vaglio.learner`.
    lambda_ : float, list, dict or "auto", optional
        The penalty, or values to choose from; for ``rls`` by default a grid fitted to the data.
    loss : str, dict, part or callable, optional
        Loss that the criterion averages; see `vaglio.loss`. A function of targets, predictions and, if rows have
        weights, ``sample_weight`` returns the mean loss, or one per row to be averaged with weights. For classes it
        gets labels and decision values. It is called for every trial, one at a time; `vaglio.testing.check_loss` checks
        its laws.
    choose : str, int or dict, optional
        Rule for the size: ``"best"``, ``"one_se"``, ``"last"``, a number of columns, or a dict. By default the whole
        search is cross-validated.
    max_features : int, optional
        Maximum subset size.
    preprocess : list of str, dict or part, default ()
        Maps of columns, fitted on training rows only; see `vaglio.maps`.
    target_map : str, dict or part, optional
        Map of the target; predictions are mapped back. See `vaglio.target_maps`.
    model : str, dict, part or estimator of scikit-learn, optional
        Final model, trained on the chosen columns to predict instead of the learner. A scikit-learn estimator is
        trained after the selection; ``cross_val_score`` of the selector evaluates both.
    cv : int, splitter or iterable of pairs of indices, optional
        Rows that the criterion holds out, as in scikit-learn; each row once, or one pair.
    limits : dict, optional
        Limits of a fit: ``{"time": "10m", "memory": "8GiB"}``.
    random_state : int, RandomState or None, default None
        Seed of all random choices; None is 0.
    threads : int, default 0
        Number of threads; 0 for all processors. The result does not depend on it.
    progress : bool or callable, default None
        Show the progress of a fit. A callable gets the stage, the amount done, the total and the loss; if it returns
        ``True``, the search ends with the result so far.

    Attributes
    ----------
    selected_ : list of str
        Chosen columns, after the maps, in order of entry.
    path_, steps_ : list of dict
        Best subset of each size with its score, and the steps of the search.
    chosen_ : dict
        How the size was chosen, with its λ, and the cross-validated loss with its standard error.
    criterion_score_, best_lambda_ : float
        Score of the chosen subset, and its λ.
    coef_, intercept_ : array of shape (n_features,) or (n_outputs, n_features), float or array
        Weights of all columns, 0 for those that were not chosen; only if the model is linear in the original columns.
    certificate_ : dict or None
        For a search with proofs: whether the subsets are proven best (``"optimal"``), and how many were ``"visited"``.
    model_ : vaglio._vaglio.Model
        Fitted model; ``model_.text()`` is a ``model.json`` for the program.
    warnings_ : list of str
        Warnings about the data and the result.
"""


class Selector(RegressorMixin, BaseSelector):
    __doc__ = f"""Select columns for a numeric target, and predict it from them.
{_PARAMETERS}
    Examples
    --------
    >>> import numpy as np
    >>> from vaglio import Selector
    >>> X = np.random.default_rng(0).normal(size=(80, 6))
    >>> y = 2 * X[:, 4] - X[:, 1] + 0.1 * X[:, 0]
    >>> selector = Selector(search="greedy", max_features=2, lambda_=[0.1, 1.0]).fit(X, y)
    >>> selector.selected_
    ['x4', 'x1']
    >>> selector.transform(X).shape
    (80, 2)
    >>> round(selector.score(X, y), 2)
    1.0
    """

    def predict(self, X):
        """Predictions in the unit of the target: shape (n_samples,) or (n_samples, n_outputs)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.predict(self._chosen(X))
        values = self._predicted(X)[0]
        return values[:, 0] if self._is_flat else values


class SelectorClassifier(ClassifierMixin, BaseSelector):
    __doc__ = f"""Select columns for a classification, and predict classes from them.

    Two classes form one output, ±1, with the larger positive; more form one output each.
{_PARAMETERS}
    classes_ : array of shape (n_classes,)
        The classes, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from vaglio import SelectorClassifier
    >>> X = np.random.default_rng(0).normal(size=(80, 6))
    >>> y = np.where(X[:, 4] > 0, "yes", "no")
    >>> selector = SelectorClassifier(max_features=1, loss="zero_one", lambda_=1.0).fit(X, y)
    >>> selector.selected_, selector.predict(X[:2]).tolist() == y[:2].tolist()
    (['x4'], True)
    """

    _is_classifier = True

    def decision_function(self, X):
        """Decision values. For two classes, positive for the second, shape (n_samples,); for more, shape (n_samples,
        n_classes)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.decision_function(self._chosen(X))
        values = self._predicted(X)[0]
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Predicted classes, shape (n_samples,)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.predict(self._chosen(X))
        predicted = self._predicted(X)[1]
        return self.classes_[self.model_.called(predicted)]

    def predict_proba(self, X):
        """Class probabilities, shape (n_samples, n_classes): Platt scaling of the decision values, fitted on held-out
        rows."""
        if hasattr(self, "estimator_"):
            return self.estimator_.predict_proba(self._chosen(X))
        values, data = self._predicted(X)
        probabilities = self.model_.probabilities(data)
        if probabilities is None:
            raise ValueError("there were no predictions of rows held out to learn probabilities from")
        return _tables.doubles(probabilities, len(values))

    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))
