"""Splits: which rows are held out together, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("resampling")
__all__ = list(_classes)
globals().update(_classes)
