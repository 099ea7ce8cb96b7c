"""Criteria that are functions of Python, and progress."""

import contextlib
import inspect
import sys
import uuid

import numpy as np

from vaglio import _tables, _vaglio
from vaglio._errors import NumericalError


def scorer(function, raised, classes=None):
    """The function as the extension calls it: with the bytes of columns, targets and weights. What it raises is kept."""
    parameters = inspect.signature(function).parameters
    takes_weights = "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    def score(columns, targets, weights, shape, names):
        rows, outputs = shape
        X = np.frombuffer(columns, dtype="f8").reshape(len(names), rows).T
        y = np.frombuffer(targets, dtype="f8").reshape(outputs, rows)
        if classes is None:
            y = y[0] if outputs == 1 else y.T
        else:
            y = np.asarray(classes)[_tables.class_places(y.T)]
        try:
            if weights is None:
                return float(function(X, y))
            if not takes_weights:
                raise TypeError("the criterion takes no `sample_weight`, and rows have weights")
            return float(function(X, y, sample_weight=np.frombuffer(weights, dtype="f8")))
        except Exception as error:
            raised.append(error)
            raise

    return score


@contextlib.contextmanager
def registered(function, classes=None):
    """The settings of a criterion that is the function, for as long as it is known. What the function raises comes out of here
    in place of the error that it makes."""
    name = f"{getattr(function, '__name__', 'function')}-{uuid.uuid4().hex[:12]}"
    raised = []
    _vaglio.register(name, scorer(function, raised, classes))
    try:
        yield {"kind": "python", "name": name}
    except NumericalError as error:
        if raised:
            raise raised[0] from error
        raise
    finally:
        _vaglio.forget(name)


@contextlib.contextmanager
def shown(progress):
    """What shows progress: a callable as it is; ``True`` is a bar of tqdm where it is installed, else a line on standard error."""
    if progress is None or progress is False or callable(progress):
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line
        print(file=sys.stderr)
        return
    with tqdm() as bar:

        def show(what, done, of, loss):
            bar.total, bar.n = of, done
            bar.set_description(what, refresh=False)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.6g}", refresh=False)
            bar.refresh()

        yield show


def _line(what, done, of, loss):
    of_loss = "" if loss is None else f", loss {loss:.6g}"
    print(f"\r{what}: {done:.0f} of {of:.0f}{of_loss}   ", end="", file=sys.stderr, flush=True)
