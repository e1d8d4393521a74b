"""The bindings of one connection, by session_key: each with its own fids (acheron D8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, USER, Binding
from worldfs.access.tokens import TokenHolder, TokenStore
from worldfs.control.plane_error import PlaneError
from worldfs.namespace.verbs import Verbs

from .server_ports import ControlPlanePort

MAIN: Final = "main"
MOST: Final = 64  # of one connection
UNPROVISIONED: Final = (
    "no non-system project/agent is available for this user token; ask an admin to provision one"  # as recorded
)


class SessionRefused(Exception):
    """A refused session, with a code of the protocol. `named`: the reply names the correlation id."""

    def __init__(self, code: str, message: str, *, named: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.named = code, message, named


class AttachedSession:
    """One session_key: its binding, since when, and its fids."""

    __slots__ = ("binding", "key", "since_ms", "verbs")

    def __init__(self, key: str, binding: Binding, verbs: Verbs, since_ms: int) -> None:
        self.key, self.binding, self.verbs, self.since_ms = key, binding, verbs, since_ms

    def to_json(self) -> dict[str, Any]:
        return {
            "session_key": self.key,
            "agent_id": self.binding.agent,
            "project_id": self.binding.project or None,
        }

    def state_json(self) -> dict[str, Any]:
        """The attach reply: everything is ready at once (acheron D8)."""
        return {
            "state": "ready",
            "runtime_ready": True,
            "mount_ready": True,
            "error_code": None,
            "error_message": None,
            "updated_at_ms": self.since_ms,
        }


class SessionTable:
    """`active` is the session of frames without a session_key. A user without a session waits to be provisioned."""

    def __init__(self) -> None:
        self._sessions: dict[str, AttachedSession] = {}
        self.active = MAIN

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[AttachedSession]:
        return iter(list(self._sessions.values()))

    def get(self, key: str | None) -> AttachedSession | None:
        return self._sessions.get(self.active if key is None else key)

    def put(self, session: AttachedSession) -> None:
        """Attach a session; an earlier one under this key is closed with its fids and token."""
        before = self._sessions.get(session.key)
        if before is None and len(self._sessions) >= MOST:
            raise SessionRefused("session_busy", f"a connection has at most {MOST} session keys; close one")
        self._sessions[session.key] = session
        if before is not None:
            before.verbs.close()

    def drop(self, key: str) -> None:
        """Raises `SessionRefused` for main and for an unknown key."""
        if key == MAIN:
            raise SessionRefused("forbidden", "main session cannot be closed")
        gone = self._sessions.pop(key, None)
        if gone is None:
            raise SessionRefused("not_found", "session_key not found")
        gone.verbs.close()
        if self.active == key:
            self.active = MAIN

    def close(self) -> None:
        for session in self._sessions.values():
            session.verbs.close()
        self._sessions.clear()


def first_binding(tokens: TokenStore, holder: TokenHolder, plane: ControlPlanePort) -> Binding | SessionRefused:
    """The first binding of a connection (acheron §1.2). A token that acts for an agent begins at its last project, else
    at the only one that there is for it."""
    if holder.role == ADMIN and holder.agent in ("", MOTHER):
        return Binding(ADMIN, MOTHER, SYSTEM)
    last = next((visit for visit in tokens.visits(holder.id) if visit.project and visit.project != SYSTEM), None)
    if last is None:
        open_to = _only_project(holder, plane) if holder.agent else ""
        if open_to or holder.role == ADMIN:
            return Binding(holder.role, holder.agent, open_to)
        return SessionRefused("provisioning_required", UNPROVISIONED)
    binding = Binding(holder.role, holder.agent or last.agent, last.project)
    if (
        plane.project(last.project) is None
        or not plane.allows(binding, "read")
        or not tokens.acts_for(holder, binding.agent)
    ):
        return SessionRefused("last_target_invalid", "the last project/agent of this user token is gone; attach again")
    return binding


def _only_project(holder: TokenHolder, plane: ControlPlanePort) -> str:
    named = (id for id in plane.project_ids() if id != SYSTEM)
    open_to = [id for id in named if plane.allows(Binding(USER, holder.agent, id), "read")]
    return open_to[0] if len(open_to) == 1 else ""


def check_token_agent(tokens: TokenStore, holder: TokenHolder, agent: str) -> None:
    """Raises `SessionRefused` for an agent that this token does not act for."""
    if tokens.acts_for(holder, agent):
        return
    if holder.agent:
        raise SessionRefused("forbidden", f"this token is valid only for agent {holder.agent}")
    raise SessionRefused(
        "forbidden", f"agent {agent} has a token of its own: use that one (`paos token add` makes more)"
    )


def check_admission(tokens: TokenStore, holder: TokenHolder, binding: Binding, plane: ControlPlanePort) -> None:
    """Check that a connection may be bound so. Raises `PlaneError` or `SessionRefused`, in the recorded words."""
    check_token_agent(tokens, holder, binding.agent)
    if binding.role == USER and binding.agent == MOTHER:
        raise SessionRefused("forbidden", "user role cannot attach to mother agent")
    if binding.role == USER and binding.project == SYSTEM:
        raise SessionRefused("forbidden", "user role cannot attach to system project")
    if not binding.project:
        if binding.role == USER:
            raise SessionRefused("provisioning_required", UNPROVISIONED)
        return
    try:
        plane.check_attach(binding)
    except PlaneError as error:
        error.correlated = False
        raise
