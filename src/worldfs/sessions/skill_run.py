"""A skill's run on a target: its outcome, also of what it raises; the target learns when a session begins and ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from worldfs.base.driver import Run
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Outcome
from worldfs.base.plugin_faults import error_line, error_text
from worldfs.base.plugin_nouns import traceback_text
from worldfs.policies.policy_client import PolicyError
from worldfs.robots.targets.target_adapter import SessionAware, TargetAdapter, TargetStopped


@contextmanager
def _attended(adapter: TargetAdapter, run: Run) -> Iterator[None]:
    """A session-aware target learns when the session begins and that it is over, however it ends."""
    if not isinstance(adapter, SessionAware):
        yield
        return
    adapter.set_run(run)
    try:
        yield
    finally:
        adapter.set_run(None)


def run_skill(
    perform: Callable[[], Outcome], run: Run, adapter: TargetAdapter, end: Callable[[], None] = lambda: None
) -> Outcome:
    """The runtime's outcome, also of what it raises; the target learns when the session begins and ends. `adapter`: the
    target itself, of which the skill holds a lent one; `end`: takes that back, before the target is stopped."""
    try:
        with _attended(adapter, run):
            try:
                outcome = perform()
            finally:
                end()
        if outcome.ok or not outcome.code.startswith("TARGET_") or not run.stop:
            return outcome
        return _over(run.stop, outcome.message)  # the target stopped first: it checks more often than the skill
    except PolicyError as error:
        return policy_failed(error)
    except TargetStopped as error:
        said = error_message(error)
        return _over(run.stop, said) if run.stop else Outcome.failure(Cause.ERROR, error.code, said)
    except (ConnectionError, TimeoutError) as error:
        why = error_text(error) or error_line(error)
        return Outcome.failure(Cause.ERROR, "TARGET_CONNECTION", why, traceback=traceback_text(error))


def _over(why: str, found: str) -> Outcome:
    if why == "timeout":
        return Outcome.failure(Cause.TIMEOUT, "EXECUTION_TIMEOUT", found)
    return Outcome.failure(Cause.CANCELLED, "CANCELLED", found)


def policy_failed(error: PolicyError) -> Outcome:
    cause = Cause.TIMEOUT if error.code == "POLICY_TIMEOUT" else Cause.ERROR
    return Outcome.failure(cause, error.code, error_message(error))
