"""Estimators of scikit-learn, by what they do."""

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from vaglio import _tables
from vaglio._base import BaseSelector

_PARAMETERS = """
    Parameters
    ----------
    criterion : str, dict, part or callable, default "loo"
        What scores subsets: a word, such as ``"loo"`` and ``"kfold"``, its settings, a part of `vaglio.criterion`, or a
        function of columns, targets and, where rows have weights, ``sample_weight``, whose lowest value is best.
        It is called for every trial, one at a time.
    search : str, dict, part or a list of them, default "greedy"
        What walks subsets; a list is a chain, each searching what the one before chose. See `vaglio.search`.
    learner : str, dict or part, default "rls"
        What gives a subset its meaning; see `vaglio.learner`.
    lambda_ : float, list, dict or "auto", optional
        The penalty, or those to choose from; by default of ``rls`` a grid that is fitted to the data.
    loss : str, dict, part or callable, optional
        The loss that the criterion is a mean of; see `vaglio.loss`. A function of targets, predictions and, where rows have
        weights, ``sample_weight`` gives the mean loss, or that of each row, which are then weighed. Of classes it is given labels
        and decision values. It is called for every trial, one at a time; `vaglio.testing.check_loss` checks its laws.
    choose : str, int or dict, optional
        Which size is taken: ``"best"``, ``"one_se"``, ``"last"``, a number of columns, or more. By default the whole
        search is cross-validated.
    max_features : int, optional
        The largest subset.
    preprocess : list of str, dict or part, default ()
        Maps of the columns, fitted on training rows only; see `vaglio.maps`.
    target_map : str, dict or part, optional
        A map of the target, back from which predictions come; see `vaglio.target_maps`.
    model : str, dict, part or estimator of scikit-learn, optional
        What is trained on the chosen columns and predicts in place of the learner. An estimator of scikit-learn is trained after
        the selection; ``cross_val_score`` of the whole judges both.
    cv : int, splitter or iterable of pairs of indices, optional
        Which rows the criterion holds out, as scikit-learn has it; each row once, or one pair.
    limits : dict, optional
        ``{"time": "10m", "memory": "8GiB"}``: what a fit may take.
    random_state : int, RandomState or None, default None
        From which every random choice follows; None is 0.
    threads : int, default 0
        Threads to compute on; 0 for as many as there are processors. The result does not depend on it.
    progress : bool or callable, default None
        Show how far a fit is; a callable is given what is done, how much of it, of how much, and the loss, and
        ends the search with what there is where it gives ``True``.

    Attributes
    ----------
    selected_ : list of str
        The chosen columns, as maps make them, in order of entry.
    path_, steps_ : list of dict
        The best subset of each size with its score, and the steps of the search.
    chosen_ : dict
        By what the size was chosen, its λ, and the cross-validated loss with its standard error.
    criterion_score_, best_lambda_ : float
        The criterion's value of the chosen subset, and its λ.
    coef_, intercept_ : array of shape (n_features,) or (n_outputs, n_features), float or array
        The weights of all columns, 0 of those that were not chosen; where the model is linear in the columns as they are.
    certificate_ : dict or None
        Of a search that proves its subsets the best: whether it did (``"optimal"``), and how many it ``"visited"``.
    model_ : vaglio._vaglio.Model
        What predicts; ``model_.text()`` is the ``model.json`` that the program reads too.
    warnings_ : list of str
        What is not to be trusted.
"""


class Selector(RegressorMixin, BaseSelector):
    __doc__ = f"""Choose columns for a target of numbers, and predict it from them.
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
        """Predictions of rows, in the unit of the target: shape (n_samples,), or (n_samples, n_outputs)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.predict(self._chosen(X))
        values = self._predicted(X)[0]
        return values[:, 0] if self._is_flat else values


class SelectorClassifier(ClassifierMixin, BaseSelector):
    __doc__ = f"""Choose columns for classes, and predict these from them.

    Two classes are one output, ±1, of which the larger is positive; more are one output each.
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
        """How far each row is on the side of a class: of two classes positive for the second, shape (n_samples,); of more,
        shape (n_samples, n_classes)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.decision_function(self._chosen(X))
        values = self._predicted(X)[0]
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Classes of rows, shape (n_samples,)."""
        if hasattr(self, "estimator_"):
            return self.estimator_.predict(self._chosen(X))
        predicted = self._predicted(X)[1]
        return self.classes_[self.model_.called(predicted)]

    def predict_proba(self, X):
        """Probabilities of classes, shape (n_samples, n_classes): a logistic map of the decision values (Platt's), fitted on
        rows held out."""
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
