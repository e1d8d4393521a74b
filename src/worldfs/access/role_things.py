"""The things that the judge is asked about for a role or an actor's name, as far as they are no rows of the layout."""

from typing import NamedTuple

from .standing import Standing


class InboxMessage(NamedTuple):
    """A message written into the inbox of an agent; `to`: the agent that it is addressed to."""

    inbox: str
    to: str


class PlanOf(NamedTuple):
    """A plan that waits for approval. `ordered_by`: the person whose order it is, "" for an agent's.
    `persons`: those who may approve plans. `confirmed`: the answer confirms the plan a second time."""

    ordered_by: str
    persons: frozenset[str] = frozenset()
    confirmed: bool = False


class HeldStop(NamedTuple):
    """A stop that is in force on a robot."""

    node: str
    standing: Standing
    by: str
    at: str
