"""Searches: what walks the subsets, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("search")
__all__ = list(_classes)
globals().update(_classes)
