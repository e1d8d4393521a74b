"""Standing: whether an actor is a person of this installation, or acts for an agent; and what its name says of that.

An actor's name is `ROLE` for a process of this disk, and `ROLE/AGENT`, `ROLE/AGENT/PERSON` or `ROLE/AGENT/PERSON/model`
for a binding. The persons are the operator and the holders of tokens that `paos token add NAME --person` has made. A
process of this disk that takes the operator's role is the operator; a process that a session of an agent has started
acts for that agent. Tokens of agents, planners, the other roles and every model act for agents, whatever the rights of
their role are. What a model orders for a person is that person's order.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from worldfs.base.agent_names import check_agent_name

from .roles import OPERATOR

_MODEL: Final = "model"


class Standing(IntEnum):
    """The higher one may undo what the lower one did."""

    AGENT = 1
    PERSON = 2

    @property
    def word(self) -> str:
        return self.name.lower()


def standing_named(word: object) -> Standing:
    """The standing that a record names. A record without one is as old as the persons: it is a person's."""
    return Standing.AGENT if word == Standing.AGENT.word else Standing.PERSON


def actor_name(role: str, agent: str, person: str = "", *, model: bool = False) -> str:
    """The name of a binding. `model`: a model acts, for the person. Raises `BadInput` for an agent or a person whose
    name has a "/": it would name another person."""
    for name in (agent, person):
        if "/" in name:
            check_agent_name(name)
    return "/".join((role, agent, *((person,) if person else ()), *((_MODEL,) if person and model else ())))


def local_actor_name(role: str, agent: str = "") -> str:
    """The name of a process of this disk. `agent`: the one whose session has started it."""
    return actor_name(role, agent) if agent else role


def owner_of(actor: str) -> str:
    """The person whose order it is when the actor orders, "" for none."""
    return OPERATOR if actor == OPERATOR else "".join(actor.split("/")[2:3])


def person_of(actor: str) -> str:
    """The person who acts, "" for none."""
    return "" if actor.endswith(f"/{_MODEL}") and actor.count("/") == 3 else owner_of(actor)


def standing_of(actor: str) -> Standing:
    return Standing.PERSON if person_of(actor) else Standing.AGENT


def shown_actor(actor: str) -> str:
    """An actor as people read it: the person, the agent, or the role of a process of this disk."""
    role, *rest = actor.split("/")
    agent = rest[0] if rest else ""
    return person_of(actor) or (f"agent {agent}" if agent else role)
