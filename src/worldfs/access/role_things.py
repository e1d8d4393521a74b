"""The things that the judge is asked about for a file role, as far as they are no rows of the layout."""

from typing import NamedTuple


class InboxMessage(NamedTuple):
    """A message written into the inbox of an agent; `to`: the agent that it is addressed to."""

    inbox: str
    to: str


class PlanOf(NamedTuple):
    """A plan that waits for approval. `asker`: the role that planned it; `orderer`: the actor that asked for it, as
    `Binding.actor` names it, "" for the asker itself."""

    asker: str
    orderer: str = ""
