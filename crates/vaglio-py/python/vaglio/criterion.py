"""Criteria, which score subsets of columns: one class per criterion of this build."""

from vaglio import _parts

_classes = _parts.classes("criterion")
__all__ = list(_classes)
globals().update(_classes)
