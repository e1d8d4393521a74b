"""Settings that a single workspace does not support: reported by name, never ignored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Finding

if TYPE_CHECKING:
    from worldfs.formats.config import Config

CODE = "CONFIG_UNSERVED"


def demand_single(config: Config | None) -> None:
    """Raises `BadInput` for a fleet: serving it from one workspace would leave its robots' ACTION.md unread."""
    if config is not None and config.mode == "fleet":
        raise BadInput(
            coded("file.at", where="embodiments.mode", found=coded("file.fleet")), path="config.json", op="up",
            expected=coded("file.single"), fix=coded("file.set_single"), code=CODE,
        )  # fmt: skip


def unsupported_settings(config: Config, root: Path) -> Iterator[Finding]:
    """`root`: the one workspace that is served. Warnings: the robots themselves are served from there."""
    if config.mode == "fleet":
        expected, found, fix = coded("file.single"), coded("file.fleet"), coded("file.set_single")
        yield Finding(CODE, "config.json embodiments.mode", expected, found, fix)
        return
    shared = config.shared_workspace
    if shared != type(config)().shared_workspace and not _same(shared, root):
        yield _elsewhere("embodiments.sharedWorkspace", shared, root)
    if config.workspace and not _same(config.workspace, root):
        yield _elsewhere("agents.defaults.workspace", config.workspace, root)
    for number, item in enumerate(config.instances):
        where = f"embodiments.instances[{number}]"
        if item.workspace and not _same(item.workspace, root):
            yield _elsewhere(f"{where}.workspace", item.workspace, root, f" ({item.robot_id})")
        if not item.shared_environment:
            fix = coded("file.leave_shared_out")
            expected = coded("file.shared")
            yield Finding(CODE, f"config.json {where}.sharedEnvironment", expected, "false", fix, warning=True)


def unknown_approvals(config: Config | None, known: Iterable[str]) -> Iterator[Finding]:
    """Policies of `approval` for a robot or target that is not there: it would go by the default instead."""
    ids = sorted(set(known) | {item.robot_id for item in config.instances}) if config is not None else []
    for name in config.approval if config is not None else ():
        if name and name not in ids:
            likely = "".join(get_close_matches(name, ids, 1))
            fix = coded("world.did_you_mean", likely=likely) if likely else coded("approval.by_id")
            yield Finding(CODE, f"config.json approval.{name}", coded("common.one_of", names=ids), name, fix)


def _elsewhere(key: str, found: str, root: Path, whose: str = "") -> Finding:
    fix = coded("file.leave_out", key=key, path=found)
    return Finding(CODE, f"config.json {key}{whose}", coded("file.served", root=str(root)), found, fix, warning=True)


def _same(text: str, root: Path) -> bool:
    """A path as written: `~` is the user's home, a relative one starts at the home directory of paos."""
    return os.path.realpath(root.parent / os.path.expanduser(text)) == os.path.realpath(root)
