"""Maps, which transform columns before the search: one class per map of this build."""

from vaglio import _parts

_classes = _parts.classes("map")
__all__ = list(_classes)
globals().update(_classes)
