"""Where the places and things are that an order names: an approval shows that, and holds as long as it is so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from worldfs.base.compound_orders import STEPS, levels, listed_steps, sequence_steps
from worldfs.base.errors import UserError
from worldfs.base.json_values import as_object, as_text
from worldfs.base.map_zones import map_zones
from worldfs.base.model import Json, Order, Scene
from worldfs.base.order_parameters import OBJECT
from worldfs.base.standard_operations import FIXTURED, HANDLED, LOOK, STACK, TAKE_OVER
from worldfs.base.tray_names import robot_of_tray
from worldfs.formats.environment import Environment
from worldfs.namespace.cached_document import CachedDocument

DIGITS: Final = 2  # after the point: what a person is shown, in m and rad
AXES: Final = ("x", "y", "z")
CARRIED: Final = ("on", "in", "held_by")


class NamedPlaces:
    """Reads ENVIRONMENT.md, the same for every robot, and the places of a robot's own entry in TARGETS.md."""

    def __init__(self, environment: CachedDocument[Environment], own: Callable[[str], Mapping[str, object]]) -> None:
        """`own`: the places that the entry of a robot has, by name, as they are written there."""
        self._environment, self._own = environment, own

    def places(self, order: Order) -> Json:
        """Each name among the parameters → where it is, in m and rad; a list where it names several."""
        scene, own = self._scene(), self._own(order.node)
        found: dict[str, object] = {}
        for name in sorted({*_texts(order.params)}):
            meant = [*([own[name]] if name in own else []), *_meant(scene, name, order.node)]
            if meant:
                found[name] = meant[0] if len(meant) == 1 else meant
        return found

    def moved(self, node: str, steps: Sequence[Mapping[str, object]]) -> Collection[str]:
        """The names of things that a robot carries, or that it has moved by these steps: where they are is its work."""
        scene = self._scene()
        handled = {name for step in steps for name in _handled(as_text(step.get("op")), as_object(step.get("params")))}
        gone = {node, *(thing.id for thing in scene.objects if {thing.id, thing.name} & handled)}
        gone |= {piece.id for piece in scene.furniture if piece.id in handled or robot_of_tray(piece.id) == node}
        if held := scene.held(node):
            gone.add(held)
        edges = [edge for edge in scene.relations if edge.relation in CARRIED]
        while more := {edge.subject for edge in edges if edge.object in gone} - gone:
            gone |= more
        things = [*scene.objects, *(piece for piece in scene.furniture if robot_of_tray(piece.id) == node)]
        return {name for thing in things if thing.id in gone for name in (thing.id, thing.name)}

    def _scene(self) -> Scene:
        try:
            return self._environment.get().scene
        except UserError:
            return Scene()  # the review refuses the order


def _meant(scene: Scene, name: str, node: str) -> Iterator[Json]:
    """The zones, things and other robots of that name."""
    for zone in map_zones(scene):
        if zone.name == name and zone.at:
            yield _at(zone.at) | ({"theta": round(zone.yaw, DIGITS)} if zone.yaw is not None else {})
    for thing in (*scene.objects, *scene.furniture):
        if name in (thing.id, thing.name):
            yield _at(thing.position)
    for robot in scene.robots:
        if name == robot.robot_id != node and len(robot.pose) >= 2:
            yield _at(robot.pose[:2])


def _at(position: Sequence[float]) -> Json:
    return {axis: round(value, DIGITS) + 0.0 for axis, value in zip(AXES, position, strict=False)}


def _texts(value: object) -> Iterator[str]:
    """The texts among parameters, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _handled(op: str, params: Json) -> Iterator[str]:
    """The names of what an order moves, or opens; also of the orders that it is made of."""
    if op in LOOK:
        return
    names = OBJECT if op in HANDLED | FIXTURED | {TAKE_OVER.name} else OBJECT[:3]
    yield from (name for key in names if isinstance(name := params.get(key), str))
    if op == STACK.name:
        yield from levels(params)[1:]
    for inner in sequence_steps(params) or (listed_steps(params) if STEPS in params else None) or ():
        yield from _handled(*inner)
