"""Maps: what is done to columns before the search, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("map")
__all__ = list(_classes)
globals().update(_classes)
