"""The checks of scikit-learn for its own estimators."""

import warnings

from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import vaglio

# Best subsets of all sizes, at every λ, in every fold take longer than all others together.
FEW = {"BestSubset": {"max_features": 2, "lambda_": 1.0}, "BestSubsetClassifier": {"max_features": 2, "lambda_": 1.0}}
NAMES = [name for module in ("_estimators", "_short") for name in vaglio._LAZY[module]]
ESTIMATORS = [getattr(vaglio, name)(**FEW.get(name, {})) for name in NAMES]


def expected_failures(estimator):
    """Checks that may fail, with why: two of regressors, three of classifiers, for two reasons."""
    why = (
        "a row of weight 2 is held out as a whole, in leave-one-out and in folds, and of a row that is given twice one stays "
        "behind: so vaglio counts weights, and says so"
    )
    expected = {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
    if isinstance(estimator, ClassifierMixin):
        expected["check_classifiers_train"] = (
            "labels are those of the program, by the sign of the decision value or the largest of them; probabilities are "
            "Platt's, fitted on rows held out, whose half lies elsewhere, as that of SVC(probability=True) did"
        )
    return expected


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_only_these_checks_are_expected_to_fail():
    weights = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    for estimator in ESTIMATORS:
        expected = expected_failures(estimator)
        own = {"check_classifiers_train"} if isinstance(estimator, ClassifierMixin) else set()
        assert set(expected) == weights | own and all(len(reason) > 40 for reason in expected.values())


def test_sparse_matrices_are_checked():
    assert all(get_tags(estimator).input_tags.sparse for estimator in ESTIMATORS)
