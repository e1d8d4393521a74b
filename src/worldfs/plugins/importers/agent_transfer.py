"""A whole agent's directory, taken over from an agent-state root of version 1 or written out as one, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.agents.document_rules import mapping
from worldfs.agents.journal import parse, sequence_of
from worldfs.agents.metrics import MetricsReducer
from worldfs.agents.metrics_cache import FOLD
from worldfs.base.agent_names import check_new_name
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, Exists, from_os
from worldfs.base.messages import coded
from worldfs.storage.revision import PRIVATE_DIR

from .agent_state_v1 import FILES
from .import_types import ImportSource
from .source_dir import SourceDir

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState

STAGING: Final = ".adopting-"
_PIECE: Final = 1 << 20


def adopt(source: ImportSource, root: str | os.PathLike[str], name: str = "") -> list[str]:
    """Make the agent `name` (else the source's) below `root` of a source of "agent-state"; the files it got.

    Nothing is read into anything and nothing is added: every file is what it was. It appears whole or not at all.
    `Exists` if there is such an agent: then `plan` and `run_import` bring over what it lacks.
    """
    base = Path(root)
    name = check_new_name(base, name or source.agent or "")
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise from_os(error, path=str(base), op="import") from error
    root_dir = Root(base)
    try:
        if root_dir.lstat(root_dir.ensure_parent(name)) is not None:
            raise Exists(
                coded("plugin.same_agent"), path=f"{base}/{name}", op="import", fix=coded("plugin.import_into")
            )
        staged = f"{STAGING}{name}"
        _clear(root_dir, staged)
        lead = "" if source.path == "." else f"{source.path}/"
        made = []
        with SourceDir(source.base_dir) as place:
            for path in source.files:
                short = path.removeprefix(lead)
                _copy(place, path, root_dir, f"{staged}/{short}")
                made.append(short)
        _counted(root_dir, staged)
        root_dir.sync(root_dir.ensure_parent(f"{staged}/inbox/x"), root_dir.ensure_parent(f"{staged}/x"))
        target = root_dir.ensure_parent(name)
        try:
            root_dir.rename(root_dir.ensure_parent(staged), target, "new")
        except FileExistsError:
            raise Exists(coded("plugin.same_agent"), path=f"{base}/{name}", op="import") from None
        root_dir.sync(target)
        return made
    finally:
        root_dir.close()


def export(state: AgentState, target: str | os.PathLike[str]) -> list[str]:
    """Write the agent's seven files to `target` as version 1 has them; the files that were written.

    The journal is one file again, whatever its segments. `Exists` if something is in `target` already.
    """
    base = Path(target)
    if base.exists() and (not base.is_dir() or any(base.iterdir())):
        raise Exists(coded("tree.exists"), path=str(base), op="export", fix=coded("plugin.new_directory"))
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise from_os(error, path=str(base), op="export") from error
    root_dir, made = Root(base), []
    agent_dir = state.agent_dir
    try:
        with agent_dir.locked():
            for name in FILES[:-1]:
                stored = agent_dir.store.get(name)
                if stored is not None:
                    root_dir.create(name, stored.data)
                    made.append(name)
            with SourceDir(agent_dir.path) as place:
                for name, kind in place.entries("inbox"):
                    if kind == "file" and name.endswith(".json") and not name.startswith("."):
                        _copy(place, f"inbox/{name}", root_dir, f"inbox/{name}")
                        made.append(f"inbox/{name}")
                segments = [f"{PRIVATE_DIR}/journal/{name}" for name in state.journal.segments()]
                live = ["journal.jsonl"] if agent_dir.store.probe("journal.jsonl") is not None else []
                for path in (*segments, *live):
                    _copy(place, path, root_dir, "journal.jsonl")
                    made += ["journal.jsonl"] if path == "journal.jsonl" else []
        root_dir.sync(root_dir.ensure_parent("inbox/x"), root_dir.ensure_parent("x"))
        return made
    finally:
        root_dir.close()


def _copy(place: SourceDir, path: str, root_dir: Root, target: str) -> None:
    """The bytes of a file of any size added to the end of another."""
    fd = place.open_file(path)
    try:
        empty = True
        while piece := os.read(fd, _PIECE):
            root_dir.append(target, piece, durable=False)
            empty = False
        if empty:
            root_dir.append(target, b"", durable=False)
    except OSError as error:
        raise from_os(error, path=path, op="import") from error
    finally:
        os.close(fd)
    root_dir.flush(target)


def _counted(root_dir: Root, folder: str) -> None:
    """A journal with numbers was kept by us, and its metrics.json has counted every entry: say so to the new keeper."""

    last = 0
    with SourceDir(Path(root_dir.path) / folder) as place:
        for path in [path for path in ("journal.jsonl",) if place.size(path)]:
            for line in place.lines(path):
                entry = parse(line.data) if line.whole else None
                last = max(last, (sequence_of(entry) if entry else None) or 0)
        figures = place.document("metrics.json") if place.size("metrics.json") else b""
    if last and figures:
        fold = MetricsReducer(mapping(figures) or None)
        fold.applied_seq = last
        root_dir.create(f"{folder}/{FOLD}", fold.dump())


def _clear(root_dir: Root, folder: str) -> None:
    """What an earlier attempt left half done."""
    place = root_dir.locate(folder)
    if place is None or root_dir.lstat(place) is None:
        return
    with SourceDir(Path(root_dir.path) / folder) as left:
        for sub in ("inbox", f"{PRIVATE_DIR}/journal", PRIVATE_DIR, ""):
            for name, kind in left.entries(sub):
                if kind == "file":
                    root_dir.remove("/".join(part for part in (folder, sub, name) if part))
                elif kind != "folder":
                    raise BadInput(
                        coded("plugin.in_folder", name=name, folder=folder),
                        path=root_dir.path,
                        op="import",
                        expected=coded("plugin.own_files"),
                    )
