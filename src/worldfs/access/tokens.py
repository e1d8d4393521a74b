"""Access tokens and their last bindings: HOME/auth_tokens.json, readable by its owner alone (acheron D4).

The two role tokens are stored in clear, because the command of the home's owner reads them there: a process that can
read this file owns the home. A token of one agent is given to another person or program, so only its hash is kept.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from worldfs.base.clock import Clock, SystemClock
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Exists, NotFound, WorldError
from worldfs.base.messages import coded

from .binding import ADMIN, MOTHER, USER
from .principal import TokenHolder
from .roles import OPERATOR
from .token_file import AGENTS, FILE, ROLES, AgentToken, TokenVisit, parse_tokens, read_tokens, token_row

LOCK: Final = ".paos/tokens.lock"
ASIDE: Final = ".paos/quarantine"
SCHEMA: Final = 3
KEPT: Final = 10  # history entries per token
_COUNT: Final = "agent_tokens_made"  # so that the id of a revoked token is never another's
T = TypeVar("T")


class TokenStore:
    """Usable from many threads and by several processes: every change reads the file, changes it and is durable before
    it returns. What another process changed is seen by `refresh`."""

    def __init__(self, home: Path | None, clock: Clock | None = None) -> None:
        """Use `open`."""
        self._root = None if home is None else Root(home)
        self.path = "" if home is None else str(home / FILE)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._kept: dict[str, object] = {}  # the file
        self._seen: object = None  # its stat at that time
        self._tokens: dict[str, str] = {}
        self._issued: dict[str, AgentToken] = {}  # by hash
        self.set_aside: list[str] = []  # entries that were wrong when the file was opened: a copy of it is kept
        self._visits: dict[str, list[TokenVisit]] = {}

    @classmethod
    def open(cls, home: Path | None, clock: Clock | None = None, *, mend: bool = False) -> TokenStore:
        """The tokens of the home, made if there are none. None: of this process only. Unreadable: `BadInput`; with
        `mend` such a file is set aside, and admits no client."""
        if home is not None:
            Root.build(home)
        found, lost = cls(home, clock), False
        try:
            found._load()
        except BadInput:
            if not mend:
                raise
            found._remove_unread()
            lost = True
        # A role whose token is null has none; a private replacement has the mode that the file should have had.
        faults = parse_tokens(found._kept).faults
        missing = [role for role in ROLES if found._kept.get(f"{role}_token", "") == "" or not found._reads(role)]
        if missing or faults or (home is not None and (home / FILE).stat().st_mode & 0o077):
            found._change(lambda kept: kept.update({f"{role}_token": _new(role) for role in missing}))
        found.set_aside = [FILE] if lost else [where for where, _ in faults]
        return found

    # -- lookup --
    # -------------------------------------------------------------------------------------------------------

    def holder(self, token: str) -> TokenHolder | None:
        """The holder of a token. Takes as long for a wrong one as for a right one."""
        given, found = token.encode("utf-8", "surrogatepass"), None
        for role in ROLES:
            if hmac.compare_digest(given, self._tokens[role].encode()) and self._tokens[role]:
                found = TokenHolder(role, role, person=OPERATOR if role == ADMIN else "")
        issued = self._issued.get(hashlib.sha256(given).hexdigest())
        if issued is None or self._expired(issued):
            return found
        return TokenHolder(issued.id, issued.role, issued.agent, issued.person)

    def acts_for(self, holder: TokenHolder, agent: str) -> bool:
        """Whether a holder speaks for an agent: its token's own one, or any, but the shared user token speaks for none
        that has a token of its own."""
        if holder.agent:
            return agent == holder.agent
        return holder.role != USER or all(one.agent != agent for one in self._issued.values())

    def is_valid(self, holder: TokenHolder) -> bool:
        """Whether the token of an admitted holder is still valid."""
        if not holder.agent:
            return bool(self._tokens.get(holder.role, "a node's secret"))
        return any(one.id == holder.id and not self._expired(one) for one in self._issued.values())

    def expires_in(self) -> float | None:
        """Seconds until the next token expires; None: none does."""
        now = self._now_ms()
        ends = [one.expires_ms for one in self._issued.values() if one.expires_ms > now]
        return (min(ends) - now) / 1000 if ends else None

    def _expired(self, token: AgentToken) -> bool:
        return 0 < token.expires_ms <= self._now_ms()

    def _now_ms(self) -> int:
        return int(self._clock.now().timestamp() * 1000)

    def refresh(self) -> None:
        """Reload the file if another process changed it. A missing or unreadable file changes nothing."""
        if self._root is not None and self._look() not in (None, self._seen):
            with self._lock, suppress(WorldError):
                self._load()

    # -- for the operator ----------------------------------------------------------------------------------------------

    def persons(self) -> frozenset[str]:
        """The persons of this installation, who may approve plans: the operator, and those who have a token."""
        named = (one.person for one in self._issued.values() if one.person and not self._expired(one))
        return frozenset((OPERATOR, *named))

    def add(self, agent: str, role: str = USER, valid_s: float = 0, *, person: str = "") -> tuple[AgentToken, str]:
        """A new token of `agent` alone, returned this once. `valid_s`: seconds until it expires, 0 for never.
        `person`: its owner, who works as the primary agent.

        Tokens that have expired are removed.
        """
        from worldfs.base.agent_names import check_agent_name, check_own_name

        check_agent_name(agent)
        if person and person != OPERATOR:
            check_agent_name(person)
        if person and (agent, role) != (MOTHER, ADMIN):
            raise BadInput(coded("access.person_admin"), op="token", expected=f"--role {ADMIN}", code="USAGE")
        if role not in ROLES:
            raise BadInput(coded("access.no_role", role=role), op="token", expected=coded("access.roles"))
        if agent == MOTHER and role != ADMIN:
            raise BadInput(
                coded("access.primary_agent", agent=MOTHER), op="token", expected=coded("access.other_agent")
            )
        token = _new("agent")

        def edit(kept: dict[str, object]) -> AgentToken:
            rows = parse_tokens(kept).issued
            check_own_name(agent, (row.agent for row in rows), FILE)
            check_own_name(person, (row.person for row in rows), FILE)
            made_before = kept.get(_COUNT)
            numbers = (int(row.id.removeprefix("token-")) for row in rows)
            number = 1 + max((made_before if isinstance(made_before, int) else 0, *numbers))
            now = self._now_ms()
            ends = now + max(1, int(valid_s * 1000)) if valid_s else 0
            made = AgentToken(f"token-{number}", agent, role, _hash(token), now, ends, person)
            kept[AGENTS] = [token_row(row) for row in (*rows, made) if not self._expired(row)]
            kept[_COUNT] = number
            return made

        return self._change(edit), token

    def roles(self) -> list[str]:
        """The roles that have a token for any agent."""
        return [role for role in ROLES if self._tokens[role]]

    def agent_tokens(self) -> list[AgentToken]:
        """The tokens of single agents, the oldest first."""
        return sorted(self._issued.values(), key=lambda one: (one.created_ms, one.id))

    def revoke(self, named: str) -> list[str]:
        """Revoke a token by its id, all of an agent or a person by its name, and the shared one where the name is
        `user`: their ids.

        Raises `NotFound`.
        """
        if named == ADMIN:
            raise BadInput(coded("access.admin_token"), op="token", fix=coded("access.rotate"))

        def edit(kept: dict[str, object]) -> list[str]:
            rows = parse_tokens(kept).issued
            gone = [row.id for row in rows if named in (row.id, row.agent, row.person)]
            if named == USER and kept.get(f"{USER}_token"):
                kept[f"{USER}_token"] = None
                gone.append(USER)
            if not gone:
                raise NotFound(coded("access.no_token", named=named), op="token", fix=coded("access.token_list"))
            kept[AGENTS] = [token_row(row) for row in rows if row.id not in gone]
            visits = kept.get("visits")
            if isinstance(visits, dict):
                kept["visits"] = {key: value for key, value in visits.items() if key not in gone}
            return gone

        return self._change(edit)

    def masked(self) -> dict[str, object]:
        """The token masked: enough to recognise it, not to use it."""
        shown: dict[str, object] = {f"{role}_token": _mask(self._tokens[role]) for role in ROLES}
        return shown | {AGENTS: [one.to_json() for one in self.agent_tokens()], "path": self.path}

    def rotate(self, role: str) -> str:
        """The role's new token, returned this once. Raises `BadInput` for another role."""
        if role not in ROLES:
            raise BadInput(coded("access.bad_role"), code="invalid_payload")
        token = _new(role)
        self._change(lambda kept: kept.update({f"{role}_token": token}))
        return token

    # -- history -------------------------------------------------------------------------------------------------------

    def visits(self, id: str) -> list[TokenVisit]:
        """The visits of a holder, the newest first."""
        return list(self._visits.get(id, ()))

    def remember(self, id: str, visit: TokenVisit) -> None:
        """Record a binding of a holder, one entry per place. Project tokens are not kept."""
        if id not in (*ROLES, *(one.id for one in self._issued.values())):
            return

        def edit(kept: dict[str, object]) -> None:
            rest = [old for old in self._visits.get(id, ()) if old[:3] != visit[:3]]
            self._visits[id] = [visit, *rest][:KEPT]
            kept["visits"] = {key: [one._asdict() for one in rows] for key, rows in self._visits.items()}

        with suppress(BadInput):  # a broken file must not keep the holder out
            self._change(edit, visits=True)

    def count(self, id: str, key: str, agent: str, project: str, now: int) -> None:
        """Count a message of this binding. Written with the next change: a lost count loses nothing."""
        with self._lock:
            for at, visit in enumerate(self._visits.get(id, ())):
                if visit[:3] == (key, agent, project):
                    self._visits[id][at] = visit._replace(messages=visit.messages + 1, last_active_ms=now)

    # -- the file ------------------------------------------------------------------------------------------------------

    def _change(self, edit: Callable[[dict[str, object]], T], *, visits: bool = False) -> T:
        """Read the file, change it, write it: nothing that another process wrote meanwhile is lost."""
        with self._lock:
            if self._root is None:
                answer = edit(self._kept)
                self._take(self._kept, visits=not visits)
                return answer
            fd = self._root.lock_file(LOCK)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                kept = self._read() or dict(self._kept)  # it may have been removed under us
                parsed = parse_tokens(kept)
                if parsed.faults:
                    self._keep_copy()
                    kept[AGENTS] = [token_row(row) for row in parsed.issued]
                answer = edit(kept)
                kept["schema"] = SCHEMA
                self._root.replace(FILE, json.dumps(kept, indent=1).encode() + b"\n", private=True)
                seen = self._look()  # another process may change it as soon as the lock is free
            finally:
                os.close(fd)
            self._take(kept, visits=not visits)
            self._seen = seen
            return answer

    def _load(self) -> None:
        seen = self._look()
        self._take(self._read())
        self._seen = seen

    def _look(self) -> object:
        with suppress(FileNotFoundError):
            info = os.stat(self.path)
            return info.st_mtime_ns, info.st_ino, info.st_size
        return None

    def _read(self) -> dict[str, object]:
        data = None if self._root is None else self._root.read(FILE)
        return {} if data is None else read_tokens(data, self.path)

    def _reads(self, role: str) -> bool:
        """Whether the file says something usable of the role's token, be it that there is none."""
        return role in parse_tokens(self._kept).roles

    def _keep_copy(self) -> None:
        """The file as it is, before its wrong entries are replaced."""
        assert self._root is not None
        data = self._root.read(FILE) or b""
        with suppress(Exists):
            self._root.create(f"{ASIDE}/{FILE}-{hashlib.blake2b(data, digest_size=8).hexdigest()}", data, private=True)

    def _remove_unread(self) -> None:
        """Set a file aside that cannot be read."""
        assert self._root is not None
        fd = self._root.lock_file(LOCK)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            try:
                self._load()  # another process has mended it
            except BadInput:
                self._keep_copy()
                self._root.replace(FILE, b"{}\n", private=True)
                self._load()
        finally:
            os.close(fd)

    def _take(self, kept: dict[str, object], *, visits: bool = True) -> None:
        """`_seen` is set after it: another thread that asks meanwhile must not take the old tokens for the new ones."""
        parsed = parse_tokens(kept)
        self._kept = kept
        before = {role: self._tokens.get(role, "") for role in ROLES}  # counts where another program wrote a wrong one
        self._tokens = before | dict(parsed.roles)
        self._issued = {one.sha256: one for one in parsed.issued}
        if visits:
            self._visits = parsed.visits


def persons_of(home: Path | None) -> frozenset[str]:
    """The persons of a home, as its file of tokens says now. Raises `BadInput` for a file that is unreadable."""
    if home is None or not (home / FILE).exists():
        return frozenset({OPERATOR})
    tokens = TokenStore(home)
    tokens._load()  # and changes nothing: this is a question
    return tokens.persons()


def shared_token_agents(role: str) -> str:
    """The agents that the role's own token speaks for, in words (`TokenStore.acts_for`)."""
    return "any agent" if role == ADMIN else "any agent without a token of its own"


def _new(role: str) -> str:
    return f"sw-{role}_" + base64.urlsafe_b64encode(secrets.token_bytes(24)).decode().rstrip("=")


def _hash(token: str) -> str:
    """A token is 24 random bytes, which cannot be guessed, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def _mask(token: str) -> str:
    return token[:9] + "…" + token[-4:] if len(token) > 24 else "…"
