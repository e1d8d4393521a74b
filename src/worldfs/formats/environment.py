"""ENVIRONMENT.md: text to Scene and back, in the dialect found (000 and 001, "ENVIRONMENT.md"; workspace §3.4)."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.document_size import refuse_large
from worldfs.base.errors import Unsafe
from worldfs.base.messages import coded
from worldfs.base.model import Json, Scene
from worldfs.formats import block
from worldfs.formats.environment_dialects import locate
from worldfs.formats.environment_read import scene_of

if TYPE_CHECKING:
    from worldfs.base.model import Finding

__all__ = ["Environment", "artifact_path", "merge", "next_baseline", "read", "upgrade"]


class Environment(NamedTuple):
    """One reading of an ENVIRONMENT.md."""

    scene: Scene
    dialect: str = "empty"  # page2 | page1 | q1 | r | v0 | empty
    value: Json = {}  # noqa: RUF012 # never written into: the document as it is, unknown keys included
    findings: tuple[Finding, ...] = ()  # entries that the scene is without


def read(data: bytes) -> Environment:
    """The document in `data`; missing (b"") and prose are an empty one (workspace D36).

    Raises BadInput for a text that is half-written, no UTF-8, or too large.
    """
    refuse_large(data, "ENVIRONMENT.md", "file.keep_artifacts")
    found, dialect = locate(block.decode(data))
    if found is None or dialect == "empty":
        return Environment(Scene(), value=found.value if found else {})
    scene, findings = scene_of(found.value, dialect)
    return Environment(scene, dialect, found.value, findings)


def artifact_path(root: str | os.PathLike[str], text: str) -> Path:
    """The file that a `perception` path means, below the directory of its ENVIRONMENT.md (workspace D35).

    Raises Unsafe for an absolute path, one with `..`, and one that a symbolic link leads out of `root`.
    """
    where = {"path": text, "op": "artifact", "expected": "a relative path that stays beside ENVIRONMENT.md"}
    parts = PurePosixPath(text.replace("\\", "/")).parts
    if not text or "\x00" in text:
        raise Unsafe(coded("file.no_path") if not text else coded("file.nul_in_path"), **where)
    if text.startswith(("/", "\\", "~")) or ":" in parts[0]:
        raise Unsafe(coded("file.absolute_path"), **where)
    if ".." in parts:
        raise Unsafe(coded("file.dots_in_path"), **where)
    base = Path(os.path.realpath(root))
    target = Path(os.path.realpath(base.joinpath(*parts)))
    if target != base and base not in target.parents:
        raise Unsafe(coded("file.link_leads_out"), **where)
    return base.joinpath(*parts)


def merge(
    data: bytes,
    seen: Scene,
    *,
    robot_id: str,
    now: str,
    before: Scene | None = None,
    whole: bool = True,
    measured: bool = True,
) -> bytes:
    """The document after an observation, in its own dialect; `data` itself if nothing but the time would change.

    `before`: what was written before, as `next_baseline` keeps it. `whole`: the body knows all its things, so one
    of its own that it does not report is gone. `measured`: False where it has only built its world from the document.
    Raises what `read` raises. Rules of ownership: `environment_merge`.
    """
    from worldfs.formats import environment_merge

    refuse_large(data, "ENVIRONMENT.md", "file.keep_artifacts")
    earlier = before or Scene()
    merged = environment_merge.merge(
        data, seen, robot_id=robot_id, now=now, before=earlier, whole=whole, measured=measured
    )
    refuse_large(merged, "ENVIRONMENT.md", "file.keep_artifacts")  # what could not be read again is not written
    return merged


def next_baseline(before: Scene, seen: Scene) -> Scene:
    """`before` for the next `merge`, once `seen` is in the document: the same robots and things as they are now."""
    from worldfs.formats import environment_entries

    return environment_entries.next_baseline(before, seen)


def upgrade(data: bytes) -> bytes:
    """The step from v1 to v2, losslessly; any other document as it is."""
    from worldfs.formats import environment_upgrade

    return environment_upgrade.upgrade(data)
