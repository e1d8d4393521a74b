"""The record of ended jobs, asked whether something was done: the evidence beside the world as it is."""

from __future__ import annotations

from worldfs.ground.errors import UserError
from worldfs.kernel.job_store import JobStore


def job_succeeded(jobs: JobStore, op: str, word: str, support: str) -> bool:
    """Did a job of `op` succeed with the thing (or name) `word`, in or on `support` ("": anywhere)?

    Costs what there is of history: asked only for a claim that the world itself does not bear out.
    """
    for id in reversed(jobs.done_ids()):
        try:
            job = jobs.load(id)
        except UserError:
            continue  # a broken record proves nothing; `paos check` names it
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
