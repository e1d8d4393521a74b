"""The memory service: the notebook of an agent as tools, and one search over it and memory.md (acheron D30)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.agents.agent_state import AgentState
from worldfs.agents.memory_items import MemoryItem, memory_items
from worldfs.agents.notebook import NAME, Notebook, NoteVersion
from worldfs.base.clock import Clock
from worldfs.base.durable import Disk
from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.notes import Passage, PassageIndex, embed, search
from worldfs.storage.revision import PRIVATE_DIR, of
from worldfs.world.agent_jobs.agent_job import AgentJobContext

from .service_tool import ToolArguments, ToolError

BRAIN: Final = "primary"
EOT: Final = "<EOT>"
LATEST: Final = "latest"
LIMIT: Final = 25
MOST: Final = 1_000
OPEN_MOST: Final = 64  # agents whose notebooks are kept open
PAGE: Final = "memory.md"
INDEX: Final = f"{PRIVATE_DIR}/index/memory.sqlite"  # can be rebuilt


class NoteId(NamedTuple):
    """`<EOT>agent:brain:name:version<EOT>`; version None: the latest."""

    name: str
    version: int | None


class MemoryTools:
    """The tools `memory_…` for every agent below a state root."""

    def __init__(self, agents: Path, clock: Clock, *, disk: Disk | None = None) -> None:
        self._agents, self._clock, self._disk = agents, clock, disk
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _OpenNotebook] = OrderedDict()
        self._ops: dict[str, Callable[[_OpenNotebook, ToolArguments], Json]] = {
            "memory_create": _create,
            "memory_load": _load,
            "memory_versions": _versions,
            "memory_mutate": _mutate,
            "memory_evict": _evict,
            "memory_search": _search,
        }

    def invoke(self, tool: str, args: Json, run: AgentJobContext) -> Json:
        op = self._ops.get(tool)
        if op is None:
            raise ToolError("tool_not_found", "tool not found")
        notebook = self._taken(run.binding.agent)
        try:
            with notebook.lock:
                return op(notebook, ToolArguments(tool, args))
        except NotFound:
            raise ToolError("execution_failed", "NotFound") from None
        except NotPermitted as error:
            if error.op not in ("mutate", "evict"):  # an error of the disk, not of the note
                raise
            raise ToolError("execution_failed", "ImmutableTier") from None
        finally:
            with self._lock:
                notebook.users -= 1

    def close(self) -> None:
        with self._lock:
            for notebook in self._open.values():
                notebook.close()
            self._open.clear()

    def _taken(self, agent: str) -> _OpenNotebook:
        """The open notebook, which stays open while it is in use."""
        with self._lock:
            notebook = self._open.get(agent)
            if notebook is None:
                notebook = self._open[agent] = _OpenNotebook(
                    AgentState.open(agent, self._agents, clock=self._clock, disk=self._disk, create=True)
                )
            self._open.move_to_end(agent)
            notebook.users += 1
            for name in [name for name in list(self._open)[:-OPEN_MOST] if not self._open[name].users]:
                self._open.pop(name).close()
            return notebook


class _OpenNotebook:
    """One agent's state and notebook, open. One tool at a time, by `lock`."""

    def __init__(self, state: AgentState) -> None:
        self.state, self.name = state, state.name
        self.notes = Notebook(state.agent_dir)
        self.lock = threading.Lock()
        self.users = 0

    def close(self) -> None:
        self.notes.close()
        self.state.close()

    def id(self, name: str, version: int) -> str:
        return f"{EOT}{self.name}:{BRAIN}:{name}:{version}{EOT}"

    def asked(self, words: ToolArguments) -> NoteId:
        """The note that `mem_id` names, where `version` overrides the one in `mem_id`."""
        text = words.text("mem_id")
        parts = text.removeprefix(EOT).removesuffix(EOT).split(":")
        fits = text.startswith(EOT) and text.endswith(EOT) and len(text) > 2 * len(EOT) and len(parts) == 4
        if not fits or not NAME.match(parts[2]) or not (parts[3] == LATEST or parts[3].isdecimal()):
            raise ToolError("execution_failed", "InvalidMemId")
        if parts[0] != self.name or parts[1] != BRAIN:
            raise NotFound(coded("world.other_agents"), op="load")
        said = words.count("version", 0, 1 << 53) if words.args.get("version") is not None else None
        return NoteId(parts[2], said if said is not None else None if parts[3] == LATEST else int(parts[3]))

    def page(self) -> bytes:
        return self.state.documents[PAGE].read() or b""

    def remarks(self) -> Iterator[tuple[str, MemoryItem]]:
        """The items of memory.md, each with its name as a note."""
        try:
            pieces = memory_items(self.page())
        except BadInput:
            return  # no text; `paos check` reports it
        for piece in pieces:
            digest = sha256(f"{piece.remark.section}\0{piece.remark.text}".encode("utf-8", "replace")).hexdigest()
            yield f"{PAGE}.{digest[:12]}", piece

    def find(self, asked: NoteId) -> tuple[NoteVersion, MemoryItem | None]:
        """The version, and the item of memory.md if it is one. Raises `NotFound`."""
        if asked.name.startswith(f"{PAGE}."):
            for name, piece in self.remarks():
                if name == asked.name and asked.version in (None, 1):
                    return _as_note(name, piece), piece
        number = asked.version
        return (self.notes.latest(asked.name) if number is None else self.notes.version(asked.name, number)), None

    def found(self, query: str, limit: int) -> list[NoteVersion]:
        """Matching active notes and items of memory.md, best first, by the same search as lessons."""

        if not query.strip():
            return self.notes.active()[::-1][:limit]
        page = self.page()
        remarks = dict(self.remarks())
        with PassageIndex(self.state.agent_dir.path / INDEX) as index:
            index.keep("notes", self.notes.revision, self._passages)
            index.keep(PAGE, of(page), lambda: (_passage(name, piece) for name, piece in remarks.items()))
            hits = search(index, query, limit, embedder=embed.installed_embedder())
        versions = []
        for hit in hits:
            name = hit.passage.id
            versions.append(_as_note(name, remarks[name]) if name in remarks else self.notes.latest(name))
        return versions

    def _passages(self) -> Iterator[Passage]:
        for version, text in self.notes.texts():
            yield Passage(version.name, f"{version.name} {version.kind}", text, "notes", version.at)


def _passage(name: str, piece: MemoryItem) -> Passage:
    return Passage(name, piece.heading, piece.remark.text, PAGE, piece.remark.at)


def _as_note(name: str, piece: MemoryItem) -> NoteVersion:
    """An item of memory.md as a note: write-protected, since it is changed in memory.md."""
    return NoteVersion(name, 1, piece.remark.section or PAGE, True, True, piece.remark.at, None)


# -- the tools -------------------------------------------------------------------------------------------------------


def _create(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    kind, content = words.text("kind"), words.any("content")
    name = words.args.get("name")
    flags = {flag: words.flag(flag) for flag in ("write_protected", "unevictable")}
    if name is not None and (not isinstance(name, str) or not NAME.match(name) or name.startswith(f"{PAGE}.")):
        raise ToolError("execution_failed", "InvalidMemId")
    made = notebook.notes.create(kind, content, name=name or "", **flags)
    return {"mem_id": notebook.id(made.name, made.version), "version": made.version, **flags}


def _load(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    version, piece = notebook.find(notebook.asked(words))
    return {**_line(notebook, version), "content": piece.remark.text if piece else notebook.notes.content(version)}


def _versions(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    asked, limit = notebook.asked(words), words.count("limit", LIMIT, MOST)
    if asked.name.startswith(f"{PAGE}."):
        found = [notebook.find(NoteId(asked.name, None))[0]]
    else:
        found = notebook.notes.versions(asked.name)[::-1]
    lines = [{**_line(notebook, version), "created_at_ms": version.at_ms} for version in found[:limit]]
    return {"mem_id": words.args["mem_id"], "versions": lines}


def _mutate(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    asked, content = notebook.asked(words), words.any("content")
    _changeable(notebook, asked)
    made = notebook.notes.mutate(asked.name, content)
    return {"mem_id": notebook.id(made.name, made.version), "version": made.version}


def _evict(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    asked = notebook.asked(words)
    _changeable(notebook, asked)
    gone = notebook.notes.evict(asked.name)
    return {"mem_id": notebook.id(gone.name, gone.version), "version": gone.version, "evicted": True}


def _search(notebook: _OpenNotebook, words: ToolArguments) -> Json:
    query = words.args.get("query")
    if not isinstance(query, str):
        raise ToolError("invalid_args", f"{words.tool} requires 'query'")
    return {
        "results": [_line(notebook, version) for version in notebook.found(query, words.count("limit", LIMIT, MOST))]
    }


def _changeable(notebook: _OpenNotebook, asked: NoteId) -> None:
    """The named version must exist, and must not be an item of memory.md."""
    if notebook.find(asked)[1] is not None:
        raise ToolError("execution_failed", "ImmutableTier")


def _line(notebook: _OpenNotebook, version: NoteVersion) -> Json:
    return {
        "mem_id": notebook.id(version.name, version.version),
        "version": version.version,
        "kind": version.kind,
        "write_protected": version.write_protected,
        "unevictable": version.unevictable,
    }
