"""The role tokens and what each role did last: HOME/auth_tokens.json, readable by its owner alone (decision D4)."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from worldfs.ground.durable import Root
from worldfs.ground.errors import BadInput
from worldfs.tree.binding import ADMIN, USER

FILE: Final = "auth_tokens.json"
SCHEMA: Final = 3
ROLES: Final = (ADMIN, USER)
KEPT: Final = 10  # entries of history a role


class Visit(NamedTuple):
    """One binding that a role had: an entry of its history."""

    key: str
    agent: str
    project: str
    last_active_ms: int
    messages: int = 0

    def wire(self) -> dict[str, Any]:
        return {
            "session_key": self.key,
            "agent_id": self.agent,
            "project_id": self.project or None,
            "last_active_ms": self.last_active_ms,
            "message_count": self.messages,
            "summary": f"{self.agent} @ {self.project}" if self.project else self.agent,
        }


class Tokens:
    """Usable from many threads. Every change is durable before it returns."""

    def __init__(self, home: Path | None, tokens: Mapping[str, str], visits: Mapping[str, Sequence[Visit]]) -> None:
        self._root = None if home is None else Root(home)
        self.path = "" if home is None else str(home / FILE)
        self._tokens = dict(tokens)
        self._visits = {role: list(visits.get(role, ())) for role in ROLES}
        self._lock = threading.Lock()

    @classmethod
    def open(cls, home: Path | None) -> Tokens:
        """Those of the home, made if there are none. None: of this process only. Unreadable: `BadInput`."""
        if home is None:
            return cls(None, {role: _new(role) for role in ROLES}, {})
        Root.build(home)
        root = Root(home)
        data = root.read(FILE)
        kept = {} if data is None else _read(data, home / FILE)
        tokens = {role: str(kept.get(f"{role}_token") or "") for role in ROLES}
        missing = [role for role in ROLES if not tokens[role]]
        for role in missing:
            tokens[role] = _new(role)
        visits = kept.get("visits")
        found = cls(home, tokens, _visits(visits if isinstance(visits, dict) else {}))
        if missing or (home / FILE).stat().st_mode & 0o077:
            found._save()  # a private replacement has the mode that it should have had
        return found

    def role_of(self, token: str) -> str | None:
        """Whose token that is. Takes as long for a wrong one as for a right one."""
        given, found = token.encode(), None
        for role in ROLES:
            if hmac.compare_digest(given, self._tokens[role].encode()):
                found = role
        return found

    def masked(self) -> dict[str, Any]:
        """For eyes that need no secret: which token it is, not the token."""
        return {f"{role}_token": _mask(self._tokens[role]) for role in ROLES} | {"path": self.path}

    def rotate(self, role: str) -> str:
        """The role's new token, told this once. Raises `BadInput` for another role."""
        if role not in ROLES:
            raise BadInput("role must be 'admin' or 'user'", code="invalid_payload")
        with self._lock:
            before, self._tokens[role] = self._tokens[role], _new(role)
            try:
                self._save()
            except BaseException:
                self._tokens[role] = before
                raise
            return self._tokens[role]

    def visits(self, role: str) -> list[Visit]:
        """The newest first."""
        return list(self._visits.get(role, ()))

    def remember(self, role: str, visit: Visit) -> None:
        """What `role` was bound to. One entry for each place; no project token is kept: it would be everybody's."""
        if role not in ROLES:
            return
        with self._lock:
            rest = [old for old in self._visits[role] if old[:3] != visit[:3]]
            self._visits[role] = [visit, *rest][:KEPT]
            self._save()

    def count(self, role: str, key: str, agent: str, project: str, now: int) -> None:
        """A message was sent from there. Written with the next change: a lost count loses nothing."""
        with self._lock:
            for at, visit in enumerate(self._visits.get(role, ())):
                if visit[:3] == (key, agent, project):
                    self._visits[role][at] = visit._replace(messages=visit.messages + 1, last_active_ms=now)

    def _save(self) -> None:
        if self._root is None:
            return
        value = {"schema": SCHEMA, **{f"{role}_token": self._tokens[role] for role in ROLES}}
        value["visits"] = {role: [visit._asdict() for visit in self._visits[role]] for role in ROLES}
        self._root.replace(FILE, json.dumps(value, indent=1).encode() + b"\n", private=True)


def _new(role: str) -> str:
    return f"sw-{role}_" + base64.urlsafe_b64encode(secrets.token_bytes(24)).decode().rstrip("=")


def _mask(token: str) -> str:
    return token[:9] + "…" + token[-4:] if len(token) > 24 else "…"


def _read(data: bytes, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadInput(
            "no JSON object",
            path=str(path),
            expected='{"schema": 3, "admin_token": …, "user_token": …}',
            fix="mend it, or remove it: new tokens are made at the next start",
        )
    return value


def _visits(kept: Mapping[str, Any]) -> dict[str, list[Visit]]:
    """What can be read of the history; it is a convenience and stops nothing."""
    found: dict[str, list[Visit]] = {}
    for role in ROLES:
        rows = kept.get(role)
        for row in rows if isinstance(rows, list) else []:
            try:
                visit = Visit(
                    str(row["key"]),
                    str(row["agent"]),
                    str(row["project"]),
                    int(row["last_active_ms"]),
                    int(row["messages"]),
                )
            except (KeyError, TypeError, ValueError):
                continue
            found.setdefault(role, []).append(visit)
    return found
