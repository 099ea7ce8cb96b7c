"""Losses, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("loss")
__all__ = list(_classes)
globals().update(_classes)
