"""Learners: what gives a subset its meaning, a class each, made of what is linked in."""

from vaglio import _parts

_classes = _parts.classes("learner")
__all__ = list(_classes)
globals().update(_classes)
