"""What the world looks like: things, relations, robots."""

from __future__ import annotations

from dataclasses import dataclass, field

from .base import Json, Vec


@dataclass(frozen=True, slots=True)
class Thing:
    """A physical thing in a scene. `position` is its centre in the world frame, `size` its full extents in metres.

    `shape`: sphere | box | cylinder | basket | table | region; "" when the file does not say. A cylinder's size is
    (diameter, diameter, height), a sphere's (d, d, d). `mass` 0 = unknown.
    """

    id: str
    name: str = ""
    category: str = ""  # fruit, cup, brick, container, furniture …
    position: Vec = (0.0, 0.0, 0.0)
    orientation: Vec = (1.0, 0.0, 0.0, 0.0)  # quaternion w x y z
    size: Vec = ()
    shape: str = ""
    mass: float = 0.0
    color: str = ""
    status: str = ""  # on_table, in_basket, held, on_floor …
    extra: Json = field(default_factory=dict)

    @property
    def is_container(self) -> bool:
        return self.shape == "basket" or self.category in ("container", "basket", "box_container", "bin", "tray")


@dataclass(frozen=True, slots=True)
class Relation:
    """`subject` is `relation` `object`: ("apple_01", "on", "table_01"). Lower case: on, in, near, held_by."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class RobotState:
    """How a robot stands, and what it holds."""

    robot_id: str
    pose: Vec = (0.0, 0.0, 0.0)  # base in the world frame: x, y, z [, roll, pitch, yaw]
    joint_state: Json = field(default_factory=dict)  # name → rad or m
    gripper: str = ""  # open | closed | holding
    holding: str | None = None  # object id; "": nothing; None: nothing if `gripper` is set, else it does not say
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnreadEntry:
    """A part of ENVIRONMENT.md that cannot be read: what it means is not denied, and not taken to be done.

    what: entry (its thing is not in the scene) | name (what a thing of the scene is, or what a robot holds) | place
    """

    where: str  # "objects/1/id"
    why: str  # what was found there
    what: str = "entry"
    id: str = ""  # of the entry, where another has it too
    thing: Thing | None = None  # what can be read of it; its id is `where`


@dataclass(frozen=True, slots=True)
class Scene:
    """What the world looks like: the typed reading of ENVIRONMENT.md, and what a driver observes."""

    robots: tuple[RobotState, ...] = ()
    objects: tuple[Thing, ...] = ()  # what can be handled
    furniture: tuple[Thing, ...] = ()  # what it is on, in or beside: tables, baskets, floor
    relations: tuple[Relation, ...] = ()
    perception: Json = field(default_factory=dict)  # e.g. camera_rgb, depth: paths relative to ENVIRONMENT.md
    extra: Json = field(default_factory=dict)
    unread: tuple[UnreadEntry, ...] = field(default=(), compare=False)
    contradicted: tuple[Relation, ...] = ()  # stated by relations and status words, and denied by what else is here
    edited: tuple[Thing, ...] = ()  # as a person has moved them in the document; measured is what `objects` has

    def thing(self, id: str) -> Thing | None:
        return next((t for t in (*self.objects, *self.furniture) if t.id == id), None)

    def robot(self, robot_id: str) -> RobotState | None:
        return next((r for r in self.robots if r.robot_id == robot_id), None)

    def held(self, robot_id: str) -> str | None:
        """What this robot holds, by its own entry, else by the relations."""
        robot = self.robot(robot_id)
        if robot is not None and robot.holding:
            return robot.holding
        return next((r.subject for r in self.relations if r.relation == "held_by" and r.object == robot_id), None)
