"""The bindings of one connection, by session_key: each with its own fids (decision D8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from worldfs.plane.refusal import PlaneError
from worldfs.tree.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.verbs import Verbs

from .ports import Plane
from .tokens import Holder, Tokens

MAIN: Final = "main"
MOST: Final = 64  # of one connection
UNPROVISIONED: Final = (
    "no non-system project/agent is available for this user token; ask an admin to provision one"  # as recorded
)


class Refused(Exception):
    """Said no, with a code of the protocol that is the door's own. `named`: the reply names the correlation id."""

    def __init__(self, code: str, message: str, *, named: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.named = code, message, named


class Seat:
    """One session_key: who it is bound to, since when, and its fids."""

    __slots__ = ("binding", "key", "since_ms", "verbs")

    def __init__(self, key: str, binding: Binding, verbs: Verbs, since_ms: int) -> None:
        self.key, self.binding, self.verbs, self.since_ms = key, binding, verbs, since_ms

    def wire(self) -> dict[str, Any]:
        return {
            "session_key": self.key,
            "agent_id": self.binding.agent,
            "project_id": self.binding.project or None,
        }

    def attached(self) -> dict[str, Any]:
        """Everything is ready when it is said to be (D8)."""
        return {
            "state": "ready",
            "runtime_ready": True,
            "mount_ready": True,
            "error_code": None,
            "error_message": None,
            "updated_at_ms": self.since_ms,
        }


class Seats:
    """`active` is where frames without a session_key go. Without a seat a user waits to be provisioned."""

    def __init__(self) -> None:
        self._seats: dict[str, Seat] = {}
        self.active = MAIN

    def __len__(self) -> int:
        return len(self._seats)

    def __iter__(self) -> Iterator[Seat]:
        return iter(list(self._seats.values()))

    def get(self, key: str | None) -> Seat | None:
        return self._seats.get(self.active if key is None else key)

    def put(self, seat: Seat) -> None:
        """Take the key's place: the fids and the token of what was there are gone."""
        before = self._seats.get(seat.key)
        if before is None and len(self._seats) >= MOST:
            raise Refused("session_busy", f"a connection has at most {MOST} session keys; close one")
        self._seats[seat.key] = seat
        if before is not None:
            before.verbs.close()

    def drop(self, key: str) -> None:
        """Raises `Refused`: main stays, and what is unknown is not found."""
        if key == MAIN:
            raise Refused("forbidden", "main session cannot be closed")
        gone = self._seats.pop(key, None)
        if gone is None:
            raise Refused("not_found", "session_key not found")
        gone.verbs.close()
        if self.active == key:
            self.active = MAIN

    def close(self) -> None:
        for seat in self._seats.values():
            seat.verbs.close()
        self._seats.clear()


def first_binding(tokens: Tokens, holder: Holder, plane: Plane) -> Binding | Refused:
    """Where a connection of a token begins (section 1.2). One that speaks for an agent begins at its last project, else
    at the only one that there is for it."""
    if holder.role == ADMIN and holder.agent in ("", MOTHER):
        return Binding(ADMIN, MOTHER, SYSTEM)
    last = next((visit for visit in tokens.visits(holder.id) if visit.project and visit.project != SYSTEM), None)
    if last is None:
        open_to = _only_project(holder, plane) if holder.agent else ""
        if open_to or holder.role == ADMIN:
            return Binding(holder.role, holder.agent, open_to)
        return Refused("provisioning_required", UNPROVISIONED)
    binding = Binding(holder.role, holder.agent or last.agent, last.project)
    if (
        plane.project(last.project) is None
        or not plane.allows(binding, "read")
        or not tokens.speaks(holder, binding.agent)
    ):
        return Refused("last_target_invalid", "the last project/agent of this user token is gone; attach again")
    return binding


def _only_project(holder: Holder, plane: Plane) -> str:
    named = (id for id in plane.project_ids() if id != SYSTEM)
    open_to = [id for id in named if plane.allows(Binding(USER, holder.agent, id), "read")]
    return open_to[0] if len(open_to) == 1 else ""


def speaks_for(tokens: Tokens, holder: Holder, agent: str) -> None:
    """Raises `Refused` for an agent that this token does not speak for."""
    if tokens.speaks(holder, agent):
        return
    if holder.agent:
        raise Refused("forbidden", f"this token speaks for agent {holder.agent} alone")
    raise Refused("forbidden", f"agent {agent} has a token of its own: use that one (`paos token add` makes more)")


def admitted(tokens: Tokens, holder: Holder, binding: Binding, plane: Plane) -> None:
    """May a connection be bound so? Raises `PlaneError` or `Refused`, in the recorded words."""
    speaks_for(tokens, holder, binding.agent)
    if binding.role == USER and binding.agent == MOTHER:
        raise Refused("forbidden", "user role cannot attach to mother agent")
    if binding.role == USER and binding.project == SYSTEM:
        raise Refused("forbidden", "user role cannot attach to system project")
    if not binding.project:
        if binding.role == USER:
            raise Refused("provisioning_required", UNPROVISIONED)
        return
    try:
        plane.check_attach(binding)
    except PlaneError as error:
        error.correlated = False
        raise
