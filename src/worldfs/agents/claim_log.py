"""The claim log of an inbox: one line a claim, return or acknowledgement. The messages themselves stay where they are.

A claim is decided by the order of lines: written under a lock held for that write alone, made durable after it, so
that claimers who come together share the disk's one commit. A lease ends by the system's monotonic clock; another boot
ends it at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from json.encoder import c_make_encoder as _make  # type: ignore[attr-defined]  # what `dumps` builds at each call
from json.encoder import encode_basestring as _quote
from typing import Final, NamedTuple

from worldfs.base.dir_reader import path_error
from worldfs.base.file_lock import FileLock
from worldfs.base.json_text import parse_json
from worldfs.base.logfile import LogFile
from worldfs.base.model import Json
from worldfs.storage.revision import PRIVATE_DIR

from .agent_directory import AgentDirectory
from .message_names import DeliveryRank

NAME: Final = f"{PRIVATE_DIR}/inbox.jsonl"
LOCK: Final = f"{PRIVATE_DIR}/inbox.lock"
COMPACT: Final = 1 << 20  # bytes from which a claim log that is mostly obsolete lines is compacted
_BOOT_ID: Final = "/proc/sys/kernel/random/boot_id"
_CLAIM: Final = b'{"op":"claim","name":"'
_BOOT: Final = b'"boot":"'
_UNTIL: Final = b'"until":'
_PARTS: Final = _make and _make(None, None, _quote, None, ":", ",", False, False, True)


class MessageClaim(NamedTuple):
    name: str
    token: str
    by: str
    attempt: int
    boot: str
    until: float  # monotonic seconds of that boot
    at: str


class ClaimLog:
    """The state after all lines so far. Hold it (`with claim_log`) around every `write`."""

    def __init__(self, agent_dir: AgentDirectory) -> None:
        self.agent_dir = agent_dir
        self._log = LogFile(agent_dir.root, NAME)
        self._at = 0  # read up to here
        self._lock = FileLock(agent_dir.root, LOCK)
        self._forget()

    def _forget(self) -> None:
        self._at = 0
        self._claims: dict[str, bytes | MessageClaim] = {}  # a line is parsed when it is needed
        self._ended: dict[str, bytes | MessageClaim] = {}  # returned: how often a message was delivered
        self.foreign: dict[str, tuple[str, DeliveryRank]] = {}  # foreign messages: id and rank
        self._named: dict[str, set[str]] = {}  # id → names of foreign messages
        self.acked: dict[str, str] = {}  # acknowledged, but perhaps still to be moved: name → id
        self.times: dict[str, str] = {}  # when a message was returned or acknowledged, until the log is compacted
        self.released: list[str] = []  # returned since the queue last read this list
        self.lines = 0

    def close(self) -> None:
        self._log.close()
        self._lock.close()

    # -- reading ----------------------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Read what others have written since."""
        log = self._log
        with self._lock.mutex:
            if not log.refresh() or log.size < self._at:
                self._forget()
            while self._at < log.size:
                data = log.read(self._at, log.size - self._at)
                end = data.rfind(b"\n") + 1
                if not end:
                    return
                for raw in data[:end].splitlines():
                    self._apply(raw)
                self._at += end

    def live_claim(self, name: str) -> MessageClaim | None:
        """The claim on a message, if its lease has not ended."""
        claim = self._claim(self._claims, name)
        return claim if claim is not None and self.lease_until(name) > self.agent_dir.clock.monotonic() else None

    def lease_until(self, name: str) -> float:
        """When the lease of a message ends, by our monotonic clock; 0: it has none, or of another boot."""
        found = self._claims.get(name)
        if found is None:
            return 0.0
        if type(found) is bytes:  # without reading the whole line: others' claims are many
            if _BOOT not in found or boot_id().encode() not in found:
                return 0.0
            at = found.rfind(_UNTIL)
            with suppress(ValueError):
                return float(found[at + len(_UNTIL) : found.index(b",", at + 1)])
        claim = self._claim(self._claims, name)
        return claim.until if claim is not None and claim.boot == boot_id() else 0.0

    def attempts(self, name: str) -> int:
        """How often a message was delivered."""
        claim = self._claim(self._claims, name) or self._claim(self._ended, name)
        return 0 if claim is None else claim.attempt

    def foreign_of_id(self, id: str) -> Iterator[tuple[str, DeliveryRank]]:
        """The foreign messages of an id: name and rank."""
        return ((name, self.foreign[name][1]) for name in self._named.get(id, ()))

    def claims_of(self, token: str) -> list[MessageClaim]:
        mark = token.encode()
        names = [name for name, found in self._claims.items() if type(found) is MessageClaim or mark in found]
        claims = [claim for name in names if (claim := self._claim(self._claims, name)) is not None]
        return [claim for claim in claims if claim.token == token]

    def _claim(self, among: dict[str, bytes | MessageClaim], name: str) -> MessageClaim | None:
        found = among.get(name)
        if type(found) is bytes:
            try:
                entry = parse_json(found)
                found = among[name] = MessageClaim(*(entry[key] for key in MessageClaim._fields))
            except (ValueError, KeyError):
                del among[name]
                return None
        return found  # type: ignore[return-value]  # bytes were read above

    def _apply(self, raw: bytes) -> None:
        self.lines += 1
        if raw.startswith(_CLAIM):
            self._claims[raw[len(_CLAIM) : raw.find(b'"', len(_CLAIM))].decode()] = raw
            return
        try:
            entry = parse_json(raw)
            op, name = entry["op"], entry.get("name", "")
            if op in ("return", "ack") and type(at := entry.get("at")) is str:
                self.times[name] = at
            if op == "claim":
                self._claims[name] = raw
            elif op == "extend":
                for claim in self.claims_of(entry["token"]):
                    self._claims[claim.name] = claim._replace(boot=entry["boot"], until=entry["until"])
            elif op == "return":
                claim_ = self._claim(self._claims, name) if entry.get("unread") else self._claims.get(name)
                self._claims.pop(name, None)
                if type(claim_) is MessageClaim and entry.get("unread"):  # no agent read it: it was not delivered
                    claim_ = claim_._replace(attempt=claim_.attempt - 1)
                if claim_ is not None:
                    self._ended[name] = claim_
                self.released.append(name)
            elif op == "ack":
                self._forget_message(name)
                self.acked[name] = str(entry.get("id", ""))
            elif op == "seen":
                self._forget_foreign(name)
                if self.acked.get(name) != entry["id"]:  # another message, in a file of the same name
                    self.acked.pop(name, None)
                self.foreign[name] = entry["id"], DeliveryRank(entry["priority"], entry["ms"], name)
                self._named.setdefault(entry["id"], set()).add(name)
            elif op in ("dead", "gone"):
                self._forget_message(name)
            elif op == "revive":
                self._ended.pop(name, None)
                self.acked.pop(name, None)
                self.released.append(name)
        except (ValueError, KeyError, TypeError):
            return  # a line that a crash tore, or a foreign one: never acknowledged

    def _forget_message(self, name: str) -> None:
        self._claims.pop(name, None)
        self._ended.pop(name, None)
        self._forget_foreign(name)

    def _forget_foreign(self, name: str) -> None:
        if (known := self.foreign.pop(name, None)) is not None:
            names = self._named[known[0]]
            names.discard(name)
            if not names:
                del self._named[known[0]]

    # -- writing ----------------------------------------------------------------------------------------------------

    def __enter__(self) -> ClaimLog:
        self._lock.acquire()
        try:
            self.catch_up()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def write(self, entries: Iterable[Mapping[str, object]]) -> None:
        """Add lines; every process sees them at once; durable after `sync`. Call inside `with claim_log`."""
        if self._log.size > self._at:  # a torn tail: never acknowledged
            self.agent_dir.set_aside(
                NAME, self._log.read(self._at, self._log.size - self._at), "a line torn by a crash"
            )
            self._log.cut(self._at)
        if self._log.size > COMPACT and self.lines > 8 * (len(self._claims) + len(self.foreign) + 64):
            self._compact()
        data = b"".join(_encoded(entry) for entry in entries)
        if data:
            self._log.write(data)
            for raw in data.splitlines():
                self._apply(raw)
            self._at = self._log.size

    def begin_sync(self) -> None:
        """The disk may begin with what was written."""
        self._log.begin_sync()

    def sync(self) -> None:
        """What was written is durable when this returns. Needs no lock."""
        self._log.sync()

    def _compact(self) -> None:
        here = set(self.agent_dir.store.list("inbox"))
        lines: list[Json] = []
        for among, back in ((self._ended, True), (self._claims, False)):
            for name in list(among):
                claim = self._claim(among, name) if name in here else None
                if claim is not None:
                    lines.append({"op": "claim", **claim._asdict()})
                    lines += [{"op": "return", "name": name, **self._time(name)}] if back else []
        lines += [
            {"op": "seen", "name": name, "id": id, "priority": rank.priority, "ms": rank.ms}
            for name, (id, rank) in self.foreign.items()
            if name in here
        ]
        lines += [
            {"op": "ack", "name": name, "id": id, **self._time(name)} for name, id in self.acked.items() if name in here
        ]
        # Its name is durable with the first line that follows; until then the old file says the same.
        self.agent_dir.root.replace(NAME, b"".join(map(_encoded, lines)), durable=False)
        self.catch_up()

    def _time(self, name: str) -> Json:
        return {"at": self.times[name]} if name in self.times else {}


def _encoded(entry: Mapping[str, object]) -> bytes:
    plain = json.dumps(entry, ensure_ascii=False, separators=(",", ":")) if _PARTS is None else ""  # not CPython
    text = plain or "".join(_PARTS(entry, 0))
    return text.encode("utf-8", "replace") + b"\n"


@cache
def boot_id() -> str:
    """This boot of the machine; leases of another one have ended. "-" where the system has no name for it.

    Raises `StorageError` where it has one that cannot be read: other claimers would hold the lease for ended.
    """
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read(8)
    except FileNotFoundError:
        return "-"
    except OSError as error:
        raise path_error(error, _BOOT_ID, "read") from error
