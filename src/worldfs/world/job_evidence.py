"""Evidence from ended jobs that an action was done."""

from __future__ import annotations

from worldfs.base.errors import UserError
from worldfs.runtime.job_store import JobStore


def job_succeeded(jobs: JobStore, op: str, word: str, support: str) -> bool:
    """Whether a job of `op` succeeded with the thing (or name) `word`, in or on `support` ("": anywhere).

    The cost grows with the history: for claims that the present world does not support.
    """
    for id in reversed(jobs.done_ids()):
        try:
            job = jobs.load(id)
        except UserError:
            continue  # a broken record proves nothing; `paos check` reports it
        outcome = job.status.outcome
        if outcome is None or not outcome.ok or job.order.op != op:
            continue
        after = outcome.evidence.get("after")
        thing = after.get("object") if isinstance(after, dict) else None
        about = thing.get("id") if isinstance(thing, dict) else None
        values = [value for value in job.order.params.values() if isinstance(value, str)]
        if (about == word if about is not None else word in values) and (not support or support in values):
            return True
    return False
