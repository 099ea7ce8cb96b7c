"""Maps of targets: one class per map of this build."""

from vaglio import _parts

_classes = _parts.classes("target_map")
__all__ = list(_classes)
globals().update(_classes)
