"""Criteria and losses as Python functions."""

import contextlib
import inspect

import numpy as np

from vaglio import _tables, _vaglio
from vaglio._errors import NumericalError


def function_or_none(part):
    """The part if it is a function, else None for the settings of a built-in part."""
    return part if callable(part) and not isinstance(part, type) else None


def _takes_weights(function):
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return False
    return "sample_weight" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _called(function, weights, *arguments):
    """Call the function with its arguments, and with weights if there are any and it accepts them."""
    if weights is None or not _takes_weights(function):
        return function(*arguments)
    return function(*arguments, sample_weight=weights[0])


def _rows(values, classes=None):
    """Targets or predictions for a function: flat for one output, classes as labels."""
    if classes is None:
        return values[0] if len(values) == 1 else values.T
    return np.asarray(classes)[_tables.class_places(values.T)]


def scorer(function, classes=None):
    """Wrap a criterion for the extension, which passes the columns of a subset, targets and weights."""

    def score(columns, targets, weights, names):
        if weights is not None and not _takes_weights(function):
            raise TypeError("the criterion takes no `sample_weight`, and rows have weights")
        return float(_called(function, weights, columns.T, _rows(targets, classes)))

    return score


def rater(function, classes=None):
    """Wrap a loss for the extension, which passes targets, predictions and weights. Losses of rows are averaged."""

    def rate(targets, predictions, weights, names):
        rows = targets.shape[1]
        if rows == 0:
            return np.nan
        loss = np.asarray(_called(function, weights, _rows(targets, classes), _rows(predictions)), dtype="f8")
        if loss.ndim == 0:
            if weights is not None and not _takes_weights(function):
                raise TypeError("the loss gives one number and takes no `sample_weight`, and rows have weights")
            return float(loss)
        if loss.shape != (rows,):
            raise ValueError(f"the loss has to give a number, or one for each of {rows} rows, and gave {loss.shape}")
        return float(np.average(loss, weights=None if weights is None else weights[0]))

    return rate


def _of_bytes(call, raised):
    """Wrap a function to take arrays as bytes with their shapes, and to keep its exceptions."""

    def called(arrays, names):
        arrays = [given and np.frombuffer(given[0], dtype="f8").reshape(given[1]) for given in arrays]
        # Engines may pass weights of 1 for all rows.
        if arrays[2] is not None and (arrays[2] == 1).all():
            arrays[2] = None
        try:
            return call(*arrays, names)
        except Exception as error:
            raised.append(error)
            raise

    return called


@contextlib.contextmanager
def known(criterion=None, loss=None, classes=None):
    """Register functions with the extension while the context lasts; yields them and the settings that name them. An
    exception of a function replaces the error that it causes."""
    raised, made = [], []
    for make, function in ((scorer, criterion), (rater, loss)):
        if function is not None:
            made.append((getattr(function, "__name__", "function"), _of_bytes(make(function, classes), raised)))
    functions = _vaglio.Functions(made)
    names = functions.names()
    settings = {role: {"kind": "python"} for role, f in (("criterion", criterion), ("loss", loss)) if f is not None}
    for part, name in zip(settings.values(), names):
        part["name"] = name
    if "loss" in settings and classes is not None:
        settings["loss"]["classes"] = True
    try:
        yield functions if made else None, settings
    except NumericalError as error:
        if raised:
            raise raised[0] from error
        raise
    finally:
        functions.close()
