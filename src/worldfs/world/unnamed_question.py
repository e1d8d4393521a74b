"""A question in a workspace with several robots, none of which is named: it is put to all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from worldfs.planning.planner import QuestionIntent, RefusedIntent, asked_of_all
from worldfs.planning.planner.scene_facts import sanitized_scene

if TYPE_CHECKING:
    from .world import World


def unnamed_question(
    world: World, text: str, may: Callable[[str], bool] = lambda node: True
) -> QuestionIntent | RefusedIntent | None:
    """The answer of the robots that the asker may command. None for an order, and where there is only one robot."""
    ids = [spec.id for spec in world.specs if may(spec.id)]
    if len(world.specs) < 2 or not ids:
        return None
    ports = {id: world.planner_port(id) for id in ids}
    scene = sanitized_scene(ports[ids[0]].scene())
    return asked_of_all(text, scene, {id: port.profile() for id, port in ports.items()})
