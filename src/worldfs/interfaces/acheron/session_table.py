"""The bindings of one connection, by session_key: each with its own fids (acheron D8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from worldfs.access.attachment import MAIN_STAYS
from worldfs.access.binding import Binding
from worldfs.access.decision import Decision
from worldfs.namespace.verbs import Verbs

MAIN: Final = "main"
MOST: Final = 64  # of one connection


class SessionRefused(Exception):
    """A refused session, with a code of the protocol. `named`: the reply names the correlation id."""

    def __init__(self, code: str, message: str, *, named: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.named = code, message, named

    @classmethod
    def of(cls, decision: Decision) -> SessionRefused:
        """A refusal of the judge."""
        return cls(decision.code, decision.message)


class AttachedSession:
    """One session_key: its binding, since when, and its fids."""

    __slots__ = ("binding", "key", "since_ms", "verbs")

    def __init__(self, key: str, binding: Binding, verbs: Verbs, since_ms: int) -> None:
        self.key, self.binding, self.verbs, self.since_ms = key, binding, verbs, since_ms

    def to_json(self) -> dict[str, object]:
        return {
            "session_key": self.key,
            "agent_id": self.binding.agent,
            "project_id": self.binding.project or None,
        }

    def state_json(self) -> dict[str, object]:
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
            raise SessionRefused.of(MAIN_STAYS)
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
