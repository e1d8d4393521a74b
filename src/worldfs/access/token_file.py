"""auth_tokens.json as values: the tokens that stand in it, and what is wrong with it.

A wrong entry admits no client and stops no server: the entry is named, and the others count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .binding import ADMIN, USER

FILE: Final = "auth_tokens.json"
ROLES: Final = (ADMIN, USER)
AGENTS: Final = "agent_tokens"  # the key of the tokens that speak for one agent
LEAST: Final = 16  # characters of a role's token: a shorter one can be guessed
MOST: Final = 512
DISTINCT: Final = 6  # characters that differ
_OPTIONAL: Final = ("expires_ms", "person")  # left out of a row that has none: earlier versions read the row
_ID: Final = re.compile(r"token-[1-9][0-9]{0,8}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_PRINTED: Final = re.compile(r"[!-~]+")  # a header holds it as it is


class TokenVisit(NamedTuple):
    """One binding that a token had: an entry of its history."""

    key: str
    agent: str
    project: str
    last_active_ms: int
    messages: int = 0

    def to_json(self) -> dict[str, object]:
        return {
            "session_key": self.key,
            "agent_id": self.agent,
            "project_id": self.project or None,
            "last_active_ms": self.last_active_ms,
            "message_count": self.messages,
            "summary": f"{self.agent} @ {self.project}" if self.project else self.agent,
        }


class AgentToken(NamedTuple):
    """A token of one agent, as it is stored; `person`: of one person, who works as that agent."""

    id: str
    agent: str
    role: str
    sha256: str
    created_ms: int
    expires_ms: int = 0  # 0: never
    person: str = ""

    def to_json(self) -> dict[str, object]:
        ends = {"expires_at_ms": self.expires_ms} if self.expires_ms else {}
        whose = {"person": self.person} if self.person else {}
        told = {"id": self.id, "agent_id": self.agent, "role": self.role, "created_at_ms": self.created_ms}
        return {**told, **ends, **whose}


class TokenFile(NamedTuple):
    """`roles`: each role's token, "" where it has none; a role with a wrong value is not there. `faults`: the place of
    each wrong entry, and what is expected there."""

    roles: Mapping[str, str]
    issued: tuple[AgentToken, ...]
    visits: dict[str, list[TokenVisit]]
    faults: tuple[tuple[str, str], ...]


def read_tokens(data: bytes, path: str) -> dict[str, object]:
    """The file's object. Raises `BadInput`."""
    try:
        value = parse_json(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadInput(
            coded("file.not_object"),
            path=path,
            expected='{"schema": 3, "admin_token": …, "user_token": …}',
            fix=coded("access.fix_tokens"),
        )
    return value


def parse_tokens(kept: Mapping[str, object]) -> TokenFile:
    roles, faults = {}, []
    for role in ROLES:
        value = kept.get(f"{role}_token")
        if value in (None, ""):
            roles[role] = ""
        elif isinstance(value, str) and _is_strong(value):
            roles[role] = value
        else:
            faults.append((f"{role}_token", coded("access.weak_token", least=LEAST, distinct=DISTINCT)))
    issued = []
    rows = kept.get(AGENTS)
    if rows is not None and not isinstance(rows, list):
        faults.append((AGENTS, coded("file.list")))
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        one = _agent_token(row)
        if one is not None:
            issued.append(one)
        else:
            faults.append((f"{AGENTS}[{number}]", coded("access.token_row")))
    return TokenFile(roles, tuple(issued), _visits(kept.get("visits")), tuple(faults))


def _is_strong(token: str) -> bool:
    return LEAST <= len(token) <= MOST and len({*token}) >= DISTINCT and bool(_PRINTED.fullmatch(token))


def token_findings(home: Path) -> Iterator[Finding]:
    """For `paos check`."""
    root = Root(home)
    try:
        data = root.read(FILE)
        faults = parse_tokens(read_tokens(data, FILE)).faults if data is not None else ()
    except WorldError as error:
        yield Finding(error.code, FILE, error.expected, error.found, error.fix)
        return
    finally:
        root.close()
    for where, expected in faults:
        found, fix = coded("access.other_value"), coded("access.next_start")
        yield Finding("TOKEN_UNUSABLE", f"{FILE} {where}", expected, found, fix)


def token_row(token: AgentToken) -> dict[str, object]:
    """As it is stored; a token that never expires has the row that earlier versions read."""
    return {key: value for key, value in token._asdict().items() if key not in _OPTIONAL or value}


def _agent_token(row: object) -> AgentToken | None:
    """None for a row that is none: it admits no client."""
    if not isinstance(row, dict):
        return None
    try:
        one = AgentToken(**{key: row[key] for key in AgentToken._fields if key not in _OPTIONAL or key in row})
    except (KeyError, TypeError, ValueError):
        return None
    known = all(isinstance(word, str) for word in (*one[:4], one.person))
    known &= all(type(ms) is int for ms in one[4:6])
    if not known or one.role not in ROLES or not one.agent or not _ID.fullmatch(one.id):
        return None
    return one if _HASH.fullmatch(one.sha256) and (one.agent + one.person).isprintable() else None


def _visits(kept: object) -> dict[str, list[TokenVisit]]:
    """The valid entries of the history; a broken history is no error."""
    found: dict[str, list[TokenVisit]] = {}
    for id, rows in kept.items() if isinstance(kept, dict) else ():
        for row in rows if isinstance(rows, list) else []:
            try:
                visit = TokenVisit(
                    str(row["key"]),
                    str(row["agent"]),
                    str(row["project"]),
                    int(row["last_active_ms"]),
                    int(row["messages"]),
                )
            except (KeyError, TypeError, ValueError, OverflowError):
                continue
            found.setdefault(id, []).append(visit)
    return found
