"""Converts scikit-learn splits to those of the criterion."""

import numpy as np
from sklearn.model_selection import check_cv

from vaglio._errors import SettingError

#: Name of the column of folds in the settings; no column of the data has it.
COLUMN = "the folds of cv"


def folds_of(cv, X, y, groups, is_classifier):
    """The criterion's settings for `cv`, and the fold of each row.

    `cv` is a number, a splitter or an iterable of index pairs, as in scikit-learn. Each row must be held out once, as
    by ``KFold`` and its variants. A single pair, as from ``ShuffleSplit(1)`` or a predefined split, gives training and
    validation rows.
    """
    rows = len(y)
    splits = list(check_cv(cv, y, classifier=is_classifier).split(X, y, groups))
    held_out = np.zeros(rows, dtype=np.int64)
    fold = np.zeros(rows, dtype=np.uint32)
    for number, (train, test) in enumerate(splits):
        train, test = np.arange(rows)[train], np.arange(rows)[test]
        held_out[test] += 1
        fold[test] = number
        if len(splits) > 1 and len(np.union1d(train, test)) < rows:
            raise SettingError(
                "cv: a fold leaves rows out of both training and validation, such as those of the future; use "
                "criterion={'kind': 'kfold', 'splits': {'kind': 'forward', 'folds': 5}}",
                field="cv",
            )
    if len(splits) == 1:
        train, test = splits[0]
        part = np.zeros(rows, dtype=np.uint32)
        part[test] = 1
        if len(np.union1d(train, test)) < rows:
            raise SettingError("cv: the only pair leaves rows out of both training and validation", field="cv")
        return {"splits": {"kind": "given", "column": COLUMN}}, part
    if not (held_out == 1).all():
        raise SettingError(
            f"cv: row {int(np.argmax(held_out != 1)) + 1} is held out {int(held_out[held_out != 1][0])} times, and each row "
            "has to be held out once; for repeats use "
            "criterion={'kind': 'kfold', 'splits': {'kind': 'repeated', 'folds': 5, 'repeats': 3}}",
            field="cv",
        )
    return {"assignment": COLUMN}, fold
