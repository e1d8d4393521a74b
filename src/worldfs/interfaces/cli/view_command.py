"""`paos view`: the scene of a home or of a served world, in the window of MuJoCo's own viewer."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, Protocol, Self

from worldfs.base.errors import MissingRequirement, NotFound
from worldfs.base.extras import require
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.robots.pose_frames import decode_frame

from .exits import DONE

if TYPE_CHECKING:
    from worldfs.client.remote_world import RemoteWorld

    from .command_context import CommandContext
    from .viewed_scene import ViewedScene

SCENE: Final = "/projects/main/scene"
GEOMETRY: Final = f"{SCENE}/geometry.json"
POSES: Final = f"{SCENE}/poses"
LOOK_S: Final = 1.0  # of one wait for a change: so often a closed window is seen


class ViewerWindow(Protocol):
    """The library's handle: a context that ends with the window."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *raised: object) -> None: ...
    def is_running(self) -> bool: ...
    def lock(self) -> AbstractContextManager[None]: ...
    def sync(self) -> None: ...


def run(context: CommandContext) -> int:
    """Until the window is closed, or Ctrl-C. Of a home: as ENVIRONMENT.md has it, after each change."""
    _needed(context)
    with context.open() as world, world.changes.of_status() as changes:
        namespace = world.namespace(context.actor)
        while True:
            try:
                scene = _scene(namespace.read(GEOMETRY).data)
            except NotFound as error:
                raise _no_scene(error) from error
            with _window(scene) as window:
                while window.is_running() and _show(scene, window, namespace.read(POSES).data):
                    changes.read(LOOK_S)
                if not window.is_running():
                    return DONE


def remote(context: CommandContext) -> int:
    """Live: each frame of the simulation."""
    _needed(context)
    asyncio.run(_remote(context))
    return DONE


async def _remote(context: CommandContext) -> None:
    from worldfs.client import connection

    from .server_tree import connect_options

    async with connection.connect(context["connect"], **connect_options(context)) as world:
        while await _watched(world):
            pass  # the scene is another one now


async def _watched(world: RemoteWorld) -> bool:
    """Show one scene; False: the window was closed."""
    try:
        scene = _scene(await world.read(GEOMETRY, wait=0))
        poses = await world.open(POSES)
    except NotFound as error:
        raise _no_scene(error) from error
    async with poses:
        with _window(scene) as window:
            while window.is_running():
                if not _show(scene, window, await poses.read(wait=LOOK_S)):
                    return True
    return False


def _scene(data: bytes) -> ViewedScene:
    from .viewed_scene import ViewedScene

    return ViewedScene(as_object(parse_json(data)))


def _window(scene: ViewedScene) -> ViewerWindow:
    import mujoco.viewer

    window: ViewerWindow = mujoco.viewer.launch_passive(
        scene.model, scene.data, show_left_ui=False, show_right_ui=False
    )
    return window


def _show(scene: ViewedScene, window: ViewerWindow, data: bytes) -> bool:
    """Show a frame, if there is one; False: it is of another scene."""
    frame = decode_frame(data) if data else None
    if frame is not None and frame.revision != scene.revision:
        return False
    if frame is not None:
        with window.lock():
            scene.place(frame.poses)
        window.sync()
    return True


def _no_scene(error: NotFound) -> NotFound:
    return NotFound(coded("top.scene_gone"), path=error.path, op="view", fix=coded("top.serve_scene"))


def _needed(context: CommandContext) -> None:
    """Raises `MissingRequirement` for what is not installed, and where there is no display."""
    require("sim", op="view")
    if sys.platform == "linux" and not (context.environ.get("DISPLAY") or context.environ.get("WAYLAND_DISPLAY")):
        raise MissingRequirement(coded("top.no_display"), op="view", fix=coded("top.other_views"))
    os.environ.setdefault("MUJOCO_GL", "glfw")
