"""Learners, which are fitted to subsets of columns: one class per learner of this build."""

from vaglio import _parts

_classes = _parts.classes("learner")
__all__ = list(_classes)
globals().update(_classes)
