"""Progress of a fit for scikit-learn callbacks, available from version 1.9."""

import contextlib
import math

from vaglio._progress import of_run

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:
        """Placeholder: scikit-learn before 1.9 has no callbacks."""

    def with_callbacks(method):
        """Return the method unchanged."""
        return method


#: Maximum number of tasks of a stage; with more pieces, each task stands for several.
MOST = 100


class _Stages:
    """Stages of a fit as callback tasks, with a subtask per piece, such as a step of the search."""

    def __init__(self, estimator, context, X, y):
        self._hooks = {"estimator": estimator, "X": X, "y": y}
        self._context, self._stage, self._what, self._done = context, None, None, 0

    def __call__(self, what, done, of, loss):
        """Whether a callback asks to stop."""
        stops = False
        if what != self._what:
            stops = self.end()
            self._what, self._done = what, 0
            self._pieces = max(1, math.ceil(min(of, MOST)))
            self._stage = self._context.subcontext(task_name=what, max_subtasks=self._pieces)
            self._stage.call_on_fit_task_begin(**self._hooks)
        share = done / of if of > 0 else 0.0
        while self._done < min(self._pieces, math.floor(share * self._pieces)):
            piece = self._stage.subcontext(task_name="step")
            piece.call_on_fit_task_begin(**self._hooks)
            stops |= bool(piece.call_on_fit_task_end(**self._hooks))
            self._done += 1
        return stops

    def end(self):
        """End the stage, if any; return whether a callback asks to stop."""
        stage, self._stage = self._stage, None
        return stage is not None and bool(stage.call_on_fit_task_end(**self._hooks))


@contextlib.contextmanager
def shown(estimator, X, y):
    """Progress reporter of an estimator's fit, for its own `progress` and its callbacks."""
    with of_run(estimator.progress) as show:
        if not hasattr(estimator, "_init_callback_context"):
            yield show
            return
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        if not getattr(estimator, "_skl_callbacks", None):
            yield show
        else:
            stages = _Stages(estimator, context, X, y)

            def both(*state):
                stops = stages(*state)
                said = show(*state) if show is not None else None
                return stops or said

            yield both
            stages.end()
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
