"""Settings that a single workspace does not support: reported by name, never ignored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.model import Finding

if TYPE_CHECKING:
    from worldfs.formats.config import Config

CODE = "CONFIG_UNSERVED"
FLEET = "a fleet: a workspace for each robot beside a shared one"
SINGLE = "set it to single; a second robot with a workspace of its own runs with: paos --workspace DIR up"


def demand_single(config: Config | None) -> None:
    """Raises `BadInput` for a fleet: serving it from one workspace would leave its robots' ACTION.md unread."""
    if config is not None and config.mode == "fleet":
        raise BadInput(
            f"embodiments.mode: {FLEET}", path="config.json", op="up", expected="single: fleets are not served yet",
            fix=SINGLE, code=CODE,
        )  # fmt: skip


def unsupported_settings(config: Config, root: Path) -> Iterator[Finding]:
    """`root`: the one workspace that is served. Warnings: the robots themselves are served from there."""
    if config.mode == "fleet":
        yield Finding(CODE, "config.json embodiments.mode", "single: fleets are not served yet", FLEET, SINGLE)
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
            fix = "leave it out, or run this robot with a workspace of its own: paos --workspace DIR up"
            expected = "true: the robots of one workspace share its ENVIRONMENT.md"
            yield Finding(CODE, f"config.json {where}.sharedEnvironment", expected, "false", fix, warning=True)


def _elsewhere(key: str, found: str, root: Path, whose: str = "") -> Finding:
    fix = f"leave {key} out, or run that directory with: paos --workspace {found} up"
    return Finding(
        CODE, f"config.json {key}{whose}", f"{root}, the one workspace that is served", found, fix, warning=True
    )


def _same(text: str, root: Path) -> bool:
    """A path as written: `~` is the user's home, a relative one starts at the home directory of paos."""
    return os.path.realpath(root.parent / os.path.expanduser(text)) == os.path.realpath(root)
