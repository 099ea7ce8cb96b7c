"""Splits, which define the rows held out together: one class per kind of this build."""

from vaglio import _parts

_classes = _parts.classes("resampling")
__all__ = list(_classes)
globals().update(_classes)
