"""Arrays that are read where they are, and sparse matrices that stay so."""

import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
from given import numbers
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import vaglio

PEAK = """
import resource, sys
import numpy as np, vaglio
from scipy import sparse

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

random = np.random.default_rng(0)
if sys.argv[1] == "fortran":
    X = random.normal(size=(400, 20_000)).T
    assert X.flags.f_contiguous
    y, size, dense = X[:, 7] + random.normal(size=len(X)), X.nbytes, X.nbytes
else:
    X = sparse.random(20_000, 2000, 0.002, format=sys.argv[1], rng=random)
    y, dense = 20 * X[:, [7]].toarray()[:, 0] + random.normal(size=20_000), 8 * 20_000 * 2000
criterion = sys.argv[2]
fit = vaglio.Selector(criterion, max_features=3, lambda_=1.0, choose="last").fit
fit(X[:200, :20], y[:200])
before = peak()
selected = fit(X, y).selected_
print((peak() - before) / dense, *selected)
"""


@pytest.mark.parametrize("kind, criterion", [("fortran", "loo"), ("csc", "loo"), ("csc", "kfold"), ("csr", "loo")])
def test_neither_doubles_in_fortran_order_nor_sparse_matrices_are_copied(kind, criterion):
    said = subprocess.check_output([sys.executable, "-c", PEAK, kind, criterion], text=True)
    share, *selected = said.split()
    assert "x7" in selected
    assert float(share) < 0.25, f"{share} of the dense table"


def test_an_array_is_held_for_as_long_as_it_is_read():
    class Owner(np.ndarray):
        pass

    X, y = numbers()
    held = np.asfortranarray(X).view(Owner)
    seen = weakref.ref(held)
    names = [f"x{index}" for index in range(X.shape[1])]
    table = vaglio._vaglio.Table.from_array(held, names)
    model = vaglio.LooSelector(3).fit(held, y).model_
    expected = np.frombuffer(model.predict(vaglio._vaglio.Table.from_array(X, names))[0])
    del held
    gc.collect()
    assert seen() is not None
    assert (np.frombuffer(model.predict(table)[0]) == expected).all()
    del table
    gc.collect()
    assert seen() is None


def some(rows=300, columns=12, seed=0):
    """A matrix most of whose entries are 0, and a target of three of its columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns)) * (random.random((rows, columns)) < 0.15)
    X[:, 3] = np.round(4 * np.abs(X[:, 3]))
    X[:, 4] = random.normal(size=rows)
    return X, X[:, 3] - 2 * X[:, 5] + 0.7 * X[:, 0] + 0.2 * random.normal(size=rows)


SETTINGS = [
    {},
    {"criterion": {"kind": "kfold", "folds": 5}, "lambda_": [0.1, 1.0, 10.0]},
    {"search": "floating", "lambda_": 1.0, "max_features": 4},
    {"preprocess": ["standardize"], "max_features": 4},
    {"criterion": "nhsic", "search": "lars", "max_features": 3},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("make", [sparse.csc_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_matrices_give_the_columns_and_scores_of_dense_ones(make, settings):
    X, y = some()
    for kind, target in ((vaglio.Selector, y), (vaglio.SelectorClassifier, y > 0)):
        expected = kind(**settings).fit(X, target)
        fitted = kind(**settings).fit(make(X), target)
        assert fitted.selected_ == expected.selected_ and fitted.best_lambda_ == expected.best_lambda_
        assert [entry["subset"] for entry in fitted.path_] == [entry["subset"] for entry in expected.path_]
        scores = [[entry["score"] for entry in one.path_] for one in (fitted, expected)]
        assert np.allclose(*scores, rtol=1e-10, atol=0)
        for rows in (make(X), X, np.asfortranarray(X)):
            assert np.allclose(fitted.predict(rows).astype(float), expected.predict(X).astype(float), rtol=1e-9)
        kept = fitted.transform(make(X))
        assert sparse.issparse(kept) and (kept.toarray() == expected.transform(X)).all()
        back = fitted.inverse_transform(kept)
        assert sparse.issparse(back) and (back.toarray() == expected.inverse_transform(expected.transform(X))).all()
        assert (pickle.loads(pickle.dumps(fitted)).predict(make(X)) == fitted.predict(make(X))).all()


def test_sparse_matrices_in_every_form_are_the_same():
    X, y = some()
    expected = vaglio.LooSelector(4, lambda_=1.0).fit(sparse.csc_array(X), y).path_
    entries = sparse.coo_array(X)
    again = np.concatenate([np.arange(entries.nnz), [0, 1]])
    values = entries.data[again].copy()
    values[[0, 1, -2, -1]] /= 2
    doubled = sparse.coo_array((values, (entries.row[again], entries.col[again])), shape=X.shape)
    large = sparse.csc_array(X)
    large.indices, large.indptr = large.indices.astype("i8"), large.indptr.astype("i8")
    turned = sparse.csc_array(X)
    for column in range(X.shape[1]):
        part = slice(*turned.indptr[column : column + 2])
        turned.indices[part], turned.data[part] = turned.indices[part][::-1].copy(), turned.data[part][::-1].copy()
    turned.has_sorted_indices = turned.has_canonical_format = False
    before = turned.indices.copy()
    for form in (doubled, large, turned, sparse.lil_array(X), sparse.csc_array(X).astype("f8")):
        assert vaglio.LooSelector(4, lambda_=1.0).fit(form, y).path_ == expected
    assert (turned.indices == before).all()
    whole = np.round(3 * np.abs(X))
    of_doubles = vaglio.LooSelector(4, lambda_=1.0).fit(sparse.csc_array(whole), y).path_
    for dtype in ("u1", "i4", "f4", "i8"):
        assert vaglio.LooSelector(4, lambda_=1.0).fit(sparse.csc_array(whole.astype(dtype)), y).path_ == of_doubles


def test_sparse_matrices_among_others_and_what_is_refused():
    X, y = some()
    matrix = sparse.csr_array(X)
    piped = make_pipeline(vaglio.LooSelector(3), Ridge())
    assert np.allclose(cross_val_score(piped, matrix, y), cross_val_score(piped, X, y))
    own = vaglio.Selector(max_features=3, choose="last", model=Ridge()).fit(matrix, y)
    assert np.allclose(own.predict(matrix), Ridge().fit(X[:, own.get_support()], y).predict(X[:, own.get_support()]))
    broken = sparse.csc_array(X)
    broken.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        vaglio.LooSelector(3).fit(broken, y)
    for infinite in (np.where(X == X[0, 4], np.inf, X), sparse.csc_array(np.where(X == X[0, 4], np.inf, X))):
        for settings in ({}, {"preprocess": ["impute"]}):
            with pytest.raises(ValueError, match="infinity"):
                vaglio.Selector(**settings).fit(infinite, y)
    # A cell that is there and missing is filled, as in a dense array.
    dense = broken.toarray()
    filled = {"preprocess": ["impute"], "max_features": 3, "lambda_": 1.0}
    expected = vaglio.Selector(**filled).fit(dense, y)
    assert vaglio.Selector(**filled).fit(broken, y).selected_ == expected.selected_
    assert np.allclose(vaglio.Selector(**filled).fit(broken, y).predict(broken), expected.predict(dense))
    table, names = vaglio._vaglio.Table, ["a", "b"]
    for rows, starts, words in (([1, 0], [0, 2, 2], "do not increase"), ([0, 3], [0, 2, 2], "not there")):
        with pytest.raises(ValueError, match=words):
            table.from_csc(np.ones(2), np.array(rows, dtype="i4"), starts, 3, names, [0, 1])
    with pytest.raises(ValueError, match="fewer entries"):
        table.from_csc(np.ones(2), np.zeros(2, dtype="i4"), [0, 1, 9], 3, names, [0, 1])
    with pytest.raises(ValueError, match="fewer columns"):
        table.from_csc(np.ones(1), np.zeros(1, dtype="i4"), [0, 1], 3, names, [0, 1])
