"""Criteria: how good a subset of columns is, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("criterion")
__all__ = list(_classes)
globals().update(_classes)
