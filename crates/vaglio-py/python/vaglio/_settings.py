"""Converts settings between Python and pipeline files."""

import json
import os


def plain(value):
    """Settings as JSON values: parts as dicts with ``kind``, arrays as lists.

    >>> import vaglio
    >>> plain({"search": vaglio.search.Greedy(max_features=3)})
    {'search': {'kind': 'greedy', 'max_features': 3}}
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        # NumPy numbers may be subclasses of these.
        return value.item() if hasattr(value, "item") else value
    if isinstance(value, dict):
        return {str(key).removesuffix("_"): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if hasattr(value, "_settings"):
        return value._settings()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} is no setting: a word, number, list, dict or part of vaglio")


def text(settings):
    """Text of settings, read by the extension as YAML."""
    return json.dumps(plain(settings), ensure_ascii=False)


def component(value):
    """A part as a dict with its ``kind``, for adding settings."""
    value = plain(value)
    return {"kind": value} if isinstance(value, str) else dict(value)


def penalty(value):
    """λ as in pipeline files: ``"auto"`` is a grid fitted to the data, a list gives values to choose from."""
    value = plain(value)
    if value == "auto":
        return {"grid": "auto"}
    return {"values": value} if isinstance(value, list) else value
