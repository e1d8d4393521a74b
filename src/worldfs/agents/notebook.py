"""The notebook of an agent: named notes with versions, which programs make, change and forget; kept for good.

.paos/notes.jsonl           a line a version, in order: what is known of it, with its content where that is short
.paos/notes/<name>/<v>.json the content of a version where it is long

A note that is forgotten ends with a line that says so; its versions stay and count on when the name is used again.
Usable from many threads and processes: changes are made under the agent directory's lock.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.base.clock import parse_stamp, stamp
from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.base.json_text import parse_json
from worldfs.base.logfile import CHUNK, LogFile
from worldfs.base.messages import coded
from worldfs.formats.agent.redact import redact_value
from worldfs.storage.revision import PRIVATE_DIR, of

from .agent_directory import AgentDirectory

FILE: Final = f"{PRIVATE_DIR}/notes.jsonl"
FOLDER: Final = f"{PRIVATE_DIR}/notes"
SHORT: Final = 2_048  # bytes of content that are in the line itself
NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\Z")


class NoteVersion(NamedTuple):
    """One version of a note, without its content."""

    name: str
    version: int  # 1, 2, …
    kind: str
    write_protected: bool
    unevictable: bool
    at: str  # ISO 8601, when it was made
    place: tuple[int, int] | None  # where its line is: start and length; None: the content has a file

    @property
    def at_ms(self) -> int:
        moment = parse_stamp(self.at)
        return 0 if moment is None else int(moment.timestamp() * 1000)


class Notebook:
    """Opened over an agent directory; reads only what is new since its last read."""

    def __init__(self, agent_dir: AgentDirectory) -> None:
        self.agent_dir = agent_dir
        self._log = LogFile(agent_dir.root, FILE)
        self._mutex = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._at = 0  # read up to here
        self._lines = 0
        self._last = ""  # of the line that was read last: its digest
        self._notes: dict[str, list[NoteVersion]] = {}
        self._active: dict[str, None] = {}  # names of notes that are not forgotten, oldest first

    def close(self) -> None:
        with self._mutex:
            self._log.close()
            self._forget()

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def revision(self) -> str:
        """Another one whenever anything changed."""
        with self._mutex:
            self._catch_up()
            return f"{self._lines}-{self._last}"

    def active(self) -> list[NoteVersion]:
        """The present version of every note that is not forgotten, in the order in which they were made."""
        with self._mutex:
            self._catch_up()
            return [self._notes[name][-1] for name in self._active]

    def latest(self, name: str) -> NoteVersion:
        """Raises `NotFound` for a note that is not there or forgotten."""
        with self._mutex:
            self._catch_up()
            if name not in self._active:
                raise _none(name)
            return self._notes[name][-1]

    def version(self, name: str, version: int) -> NoteVersion:
        """Any version that ever was, of forgotten notes too. Raises `NotFound`."""
        with self._mutex:
            self._catch_up()
            found = self._notes.get(name, ())
            if not 1 <= version <= len(found):
                raise _none(f"{name}:{version}")
            return found[version - 1]

    def versions(self, name: str) -> list[NoteVersion]:
        """All versions of a note, forgotten or not, oldest first. Raises `NotFound`."""
        with self._mutex:
            self._catch_up()
            if name not in self._notes:
                raise _none(name)
            return list(self._notes[name])

    def content(self, version: NoteVersion) -> object:
        """What a version says. Raises `NotFound` if its file was removed."""
        if version.place is None:
            data = self.agent_dir.root.read(_file(version.name, version.version))
            if data is None:
                raise NotFound(coded("agent.content_gone"), path=_file(version.name, version.version), op="read")
            return parse_json(data)
        with self._mutex:
            return parse_json(self._log.read(*version.place))["content"]

    # -- changing ----------------------------------------------------------------------------------------------------

    def create(
        self, kind: str, content: object, *, name: str = "", write_protected: bool = False, unevictable: bool = False
    ) -> NoteVersion:
        """A new note; a name that is in use gets a number, one that was forgotten goes on counting its versions."""
        if name and not NAME.match(name):
            raise BadInput(coded("agent.bad_note_name", name=name[:80]), op="create", expected=coded("agent.note_name"))
        with self.agent_dir.locked(), self._mutex:
            self._catch_up()
            name = self._free(name or f"mem_{self._lines + 1}")
            return self._add(name, kind, content, write_protected, unevictable)

    def mutate(self, name: str, content: object) -> NoteVersion:
        """The next version. Raises `NotFound`, and `NotPermitted` for a note that is write protected."""
        with self.agent_dir.locked(), self._mutex:
            last = self.latest(name)
            if last.write_protected:
                raise NotPermitted(coded("agent.note_protected", name=name), op="mutate")
            return self._add(name, last.kind, content, last.write_protected, last.unevictable)

    def evict(self, name: str) -> NoteVersion:
        """Forget a note; the version that was its last. Raises `NotFound`, `NotPermitted` for an unevictable one."""
        with self.agent_dir.locked(), self._mutex:
            last = self.latest(name)
            if last.unevictable:
                raise NotPermitted(coded("agent.note_stays", name=name), op="evict")
            self._append(
                {"op": "evict", "name": name, "version": last.version, "at": stamp(self.agent_dir.clock.now())}
            )
            return last

    def _free(self, name: str) -> str:
        free, number = name, 1
        while free in self._active:
            number += 1
            tail = f"_{number}"
            free = name[: 128 - len(tail)] + tail
        return free

    def _add(self, name: str, kind: str, content: object, write_protected: bool, unevictable: bool) -> NoteVersion:
        version = len(self._notes.get(name, ())) + 1
        content = redact_value(content)
        line: dict[str, object] = {
            "op": "note",
            "name": name,
            "version": version,
            "kind": kind,
            "write_protected": write_protected,
            "unevictable": unevictable,
            "at": stamp(self.agent_dir.clock.now()),
        }
        data = _encoded(content)
        if len(data) <= SHORT:
            line["content"] = content
        else:  # durable before the line that speaks of it; a crash between leaves a file that the next one replaces
            self.agent_dir.root.replace(_file(name, version), data)
        self._append(line)
        return self._notes[name][-1]

    def _append(self, line: dict[str, object]) -> None:
        if self._log.size > self._at:  # torn by a crash: never acknowledged
            self.agent_dir.set_aside(
                FILE, self._log.read(self._at, self._log.size - self._at), "a line torn by a crash"
            )
            self._log.cut(self._at)
        self._log.append(_encoded(line) + b"\n")
        self._catch_up()

    # -- the file ----------------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        if not self._log.refresh() or self._log.size < self._at:
            self._forget()
        if self._log.size == self._at:
            return
        start, rest = self._at, b""
        while data := self._log.read(start + len(rest), CHUNK):
            *lines, rest = (rest + data).split(b"\n")
            for raw in lines:
                self._apply(raw, start)
                start += len(raw) + 1
        self._at = start

    def _apply(self, raw: bytes, start: int) -> None:
        self._lines += 1
        self._last = of(raw)
        with suppress(ValueError, KeyError, TypeError):  # a foreign line
            line = parse_json(raw)
            name = line["name"]
            if line["op"] == "evict":
                self._active.pop(name, None)
            elif line["op"] == "note" and NAME.match(name):
                known = self._notes.setdefault(name, [])
                if line["version"] == len(known) + 1:
                    place = (start, len(raw)) if "content" in line else None
                    protected, unevictable = line["write_protected"] is True, line["unevictable"] is True
                    known.append(
                        NoteVersion(
                            name, len(known) + 1, str(line["kind"]), protected, unevictable, str(line["at"]), place
                        )
                    )
                    self._active[name] = None

    def texts(self) -> Iterator[tuple[NoteVersion, str]]:
        """Every active note and what it says, as text to be searched."""
        for version in self.active():
            with suppress(NotFound):  # its file was removed
                content = self.content(version)
                yield version, content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _file(name: str, version: int) -> str:
    return f"{FOLDER}/{name}/{version}.json"


def _encoded(value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can say and UTF-8 cannot
        return json.dumps(value, separators=(",", ":")).encode()


def _none(what: str) -> NotFound:
    return NotFound(coded("agent.no_note", name=what[:160]), op="load")
