"""Losses: one class per loss of this build."""

from vaglio import _parts

_classes = _parts.classes("loss")
__all__ = list(_classes)
globals().update(_classes)
