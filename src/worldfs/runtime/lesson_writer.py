"""Lessons from failed and refused jobs; a lesson that cannot be written becomes an alert."""

from __future__ import annotations

from worldfs.base.errors import StorageError, UserError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Finding, Job, Order, Outcome

from .alerts import Alerts
from .body_worker import JobHooks


class LessonWriter:
    """Called from any thread."""

    def __init__(self, hooks: JobHooks, alert: Alerts) -> None:
        self._hooks, self._alert = hooks, alert

    def learn(self, order: Order, outcome: Outcome) -> None:
        """Record a lesson; a failure to write it stops no other work."""
        try:
            self._hooks.remember(order, outcome)
        except StorageError:
            raise
        except Exception as error:
            code: str = "LESSON_LOST"
            fix: str = coded("runtime.repair_file")
            path: str = coded("runtime.lesson_of", id=order.id)
            expected: str = coded("runtime.lesson_written")
            said = str(error) or repr(error)
            if isinstance(error, UserError):
                code, said, fix = error.code, error_message(error), error.fix or fix
                path, expected = error.path or path, error.expected or expected
            self._alert("lessons", Finding(code, path, expected, said, fix, order.id))
        else:
            self._alert("lessons", None)

    def remember(self, job: Job) -> None:
        if job.status.outcome is not None:
            self.learn(job.order, job.status.outcome)
