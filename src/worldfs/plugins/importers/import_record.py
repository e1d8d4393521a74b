"""What an agent has brought over so far, so that doing it again brings only what is new.

    .paos/imports.jsonl        one line an import of a source: what came of it, under which names, and what was left
    .paos/imports/ids          identities of the journal lines that came over, one a line
    .paos/imports/*.tar        copies of the sources' files as they were, secrets marked out

The journal is the truth about its own lines: what it got before a crash and `ids` did not is found in it again.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import Exists, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_list, as_object, as_text
from worldfs.base.logfile import LogFile
from worldfs.base.messages import coded
from worldfs.formats.agent.redact import redact_bytes
from worldfs.storage.revision import PRIVATE_DIR, of

from .identity_set import IdentitySet
from .import_types import ImportSource, SkippedItem
from .source_dir import SourceDir, format_bytes

if TYPE_CHECKING:
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.journal import Journal

NAME: Final = f"{PRIVATE_DIR}/imports.jsonl"
FOLDER: Final = f"{PRIVATE_DIR}/imports"
IDS: Final = f"{FOLDER}/ids"
LOCK: Final = f"{FOLDER}/lock"
COPY_MAX: Final = 32 << 20  # bytes of a source of which a copy is kept
ID: Final = 16  # hex digits of an identity
MANY: Final = 5000  # identities written at once
_PIECE: Final = 1 << 16


class ImportedItem(NamedTuple):
    """One thing that came over: `digest` of what the source said, `wrote` of what we made of it, under which name."""

    digest: str
    target: str
    wrote: str = ""


class ImportRecord:
    """The record of one agent. Changes are made inside `agent_dir.locked()`."""

    def __init__(self, agent_dir: AgentDirectory, journal: Journal) -> None:
        self.agent_dir, self.journal = agent_dir, journal
        self.came: dict[str, dict[str, ImportedItem]] = {"tasks": {}, "notes": {}, "letters": {}, "figures": {}}
        self.skipped: set[str] = set()
        self.of_source: dict[str, set[str]] = {}  # source → keys of its tasks
        self.files: dict[str, str] = {}  # file of a source → digest of the copy that we have
        self.entries = 0  # journal lines that came, as far as it is recorded
        self.covered = 0  # number of the last journal entry that `ids` knows of
        self.late = 0  # number of the last imported entry that no record mentions: a crash came between
        self._torn = False
        for line in self._lines():
            for kind, items in self.came.items():
                for key, value in as_object(line.get(kind)).items():
                    items[key] = ImportedItem(*map(str, as_list(value)))
            self.of_source.setdefault(str(line.get("source")), set()).update(as_object(line.get("tasks")))
            self.skipped.update(map(str, as_list(line.get("left_ids"))))
            self.files.update({key: str(value) for key, value in as_object(line.get("files")).items()})
            self.entries += as_int(line.get("entries"))
            self.covered = max(self.covered, as_int(line.get("covered")))

    def _lines(self) -> Iterator[dict[str, object]]:
        stored = self.agent_dir.store.get(NAME)
        data = stored.data if stored else b""
        self._torn = bool(data) and not data.endswith(b"\n")
        for raw in data.splitlines():
            with suppress(ValueError):
                value = parse_json(raw)
                if isinstance(value, dict):
                    yield value

    def entries_seen(self) -> IdentitySet:
        """Identities of the journal lines that came over; `close` it."""
        seen = IdentitySet()
        rest, at, known = b"", 0, 0
        log = LogFile(self.agent_dir.root, IDS)
        log.refresh()
        try:
            while piece := log.read(at, _PIECE):
                at += len(piece)
                *whole, rest = (rest + piece).split(b"\n")
                for raw in whole:
                    if _is_id(raw.decode("latin-1")):  # torn ones are in the journal all the same
                        known += seen.add(raw.decode())
        finally:
            log.close()
        since = self.covered if known >= self.entries else 0  # another program removed some: the journal knows them all
        missing: list[str] = []
        for seq, entry in self.journal.since(since):
            if _came_over(entry):
                self.late = seq
                if seen.add(as_text(entry["import"])):
                    missing.append(as_text(entry["import"]))
            if len(missing) == MANY:
                self.note_entries(missing)
                missing.clear()
        self.note_entries(missing)
        return seen

    def settle(self) -> None:
        """What a crash left is taken care of."""
        self.covered = max(self.covered, self.late)
        self.add({"ts": self.agent_dir.now(), "covered": self.covered})

    def note_entries(self, identities: Iterable[str]) -> None:
        """These are in the journal now. Not durable: the journal is."""
        data = "".join(f"\n{identity}" for identity in identities)
        if data:
            self.agent_dir.root.append(IDS, data.encode() + b"\n", durable=False)

    def add(self, line: dict[str, object]) -> None:
        """One line more; durable, and before it the identities that it covers."""
        if self.agent_dir.store.probe(IDS) is not None:
            self.agent_dir.root.flush(IDS)
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = json.dumps(line, separators=(",", ":"), default=str).encode()
        self.agent_dir.root.append(NAME, (b"\n" if self._torn else b"") + data + b"\n")
        self._torn = False

    def keep_copies(self, source: ImportSource) -> tuple[dict[str, str], str, str]:
        """({file: digest} of what is new, key of its copy, why there is none), of a source's files as they are now."""
        found: dict[str, bytes] = {}
        digests: dict[str, str] = {}
        if source.size > COPY_MAX:
            return {}, "", coded("plugin.too_large", size=format_bytes(source.size), most=format_bytes(COPY_MAX))
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                with suppress(WorldError, OSError):  # what cannot be read has been named already
                    data = place.document(path, COPY_MAX)
                    digest = of(data)
                    if self.files.get(f"{source.base_dir}/{path}") != digest:
                        found[path], digests[f"{source.base_dir}/{path}"] = data, digest
        if not found:
            return {}, "", ""
        data = _tar(found)
        key = f"{FOLDER}/{source.importer}-{of(data)}.tar"
        with suppress(Exists):
            self.agent_dir.root.create(key, data, private=True)
        return digests, key, ""


def skipped_id(left: SkippedItem) -> str:
    return of(f"{left.location}\n{left.found}".encode("utf-8", "replace") + left.data)


def skipped_value(left: SkippedItem) -> dict[str, object]:
    """How the record holds what was left."""
    value: dict[str, object] = {"where": left.location, "found": left.found}
    if left.expected:
        value["expected"] = left.expected
    if left.data:
        try:
            value["text"] = left.data.decode()
        except UnicodeDecodeError:
            import base64

            value["base64"] = base64.b64encode(left.data).decode()
    return value


def _came_over(entry: dict[str, object]) -> bool:
    return entry.get("imported") is True and _is_id(entry.get("import"))


def _is_id(value: object) -> bool:
    return isinstance(value, str) and len(value) == ID and set(value) <= set("0123456789abcdef")


def _tar(files: dict[str, bytes]) -> bytes:
    """The files as one archive; the same files give the same bytes."""

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            clean = redact_bytes(data)
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(clean), 0o600
            archive.addfile(info, io.BytesIO(clean))
    return out.getvalue()
