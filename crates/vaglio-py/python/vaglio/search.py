"""Searches, which choose the subsets to score: one class per search of this build."""

from vaglio import _parts

_classes = _parts.classes("search")
__all__ = list(_classes)
globals().update(_classes)
