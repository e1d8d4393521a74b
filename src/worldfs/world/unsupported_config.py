"""Settings that are not supported: reported by name, never ignored."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.formats.config import SHARED

if TYPE_CHECKING:
    from worldfs.formats.config import Config

CODE = "CONFIG_UNSERVED"


def demand_servable(config: Config | None) -> None:
    """Raises `BadInput` for a fleet of which no robot can be served, with the first reason."""
    if config is not None and config.refused and not any(item.enabled for item in config.instances):
        first = next(item for item in config.findings if item.field.startswith("config.json embodiments.instances"))
        raise BadInput(first.found, path=first.field, op="up", expected=first.expected, fix=first.fix, code=first.code)


def unsupported_settings(config: Config, root: Path) -> Iterator[Finding]:
    """`root`: the workspace that is served, of a fleet the shared one. Warnings: the robots are served from there."""
    for number, item in enumerate(config.instances):
        if not item.shared_environment:
            field = f"config.json embodiments.instances[{number}].sharedEnvironment"
            yield Finding(CODE, field, coded("file.shared"), "false", coded("file.leave_shared_out"), warning=True)
    if config.mode == "fleet":
        return
    shared = config.shared_workspace
    if shared not in ("", SHARED) and not _same(shared, root):
        yield _elsewhere("embodiments.sharedWorkspace", shared, root)
    if config.workspace and not _same(config.workspace, root):
        yield _elsewhere("agents.defaults.workspace", config.workspace, root)
    for number, item in enumerate(config.instances):
        where = f"embodiments.instances[{number}]"
        if item.workspace and not _same(item.workspace, root):
            yield _elsewhere(f"{where}.workspace", item.workspace, root, f" ({item.robot_id})")


def unknown_approvals(config: Config | None, known: Iterable[str]) -> Iterator[Finding]:
    """Policies of `approval` for a robot or target that is not there: it would go by the default instead."""
    if config is None:
        return
    ids = sorted({*known, *(item.robot_id for item in (*config.instances, *config.refused))})
    for name in config.approval:
        if name and name not in ids:
            likely = "".join(get_close_matches(name, ids, 1))
            fix = coded("world.did_you_mean", likely=likely) if likely else coded("approval.by_id")
            yield Finding(CODE, f"config.json approval.{name}", coded("common.one_of", names=ids), name, fix)


def _elsewhere(key: str, found: str, root: Path, whose: str = "") -> Finding:
    fix = coded("file.leave_out", key=key, path=shlex.quote(os.path.expanduser(found)))
    return Finding(CODE, f"config.json {key}{whose}", coded("file.served", root=str(root)), found, fix, warning=True)


def _same(text: str, root: Path) -> bool:
    """A path as written: `~` is the user's home, a relative one starts at the home directory of paos."""
    return os.path.realpath(root.parent / os.path.expanduser(text)) == os.path.realpath(root)
