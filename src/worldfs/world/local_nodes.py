"""The nodes of the home's own workspace: a robot offers one service, `body`, whose ops are its profile's; a target one
for each skill of the catalogue that it supports, whose orders are sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from worldfs.access.binding_rights import ROBOT
from worldfs.base.errors import WorldError
from worldfs.formats import embodied
from worldfs.namespace.namespace_ports import LocalNode
from worldfs.storage.lease import KERNEL_LEASE

from .profiles import declared_profile, profile_text

if TYPE_CHECKING:
    from worldfs.base.model import Operation, Profile, Skill

    from .node_specs import NodeSpec
    from .world import World

Json = dict[str, object]
LOOK_S: Final = 0.25  # an edited profile is read after so long


class LocalNodes:
    """The nodes, read from EMBODIED.md, which a start writes and a person may edit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._token: object = None
        self._looked: float | None = None
        self._bodies: Mapping[str, LocalNode] = {}

    def stamp(self) -> object:
        """Another object once a node may have changed."""
        now = self._world.clock.monotonic()
        if self._looked is None or now - self._looked >= LOOK_S:
            try:
                token: object = self._world.declaration_tokens(), self.online()
            except WorldError:
                token = None
            if self._looked is None or token != self._token:
                self._bodies = {spec.id: LocalNode(spec.id, [self._service(spec)]) for spec in self._world.specs}
                self._bodies |= {id: LocalNode(id, self._skills(id)) for id in self._targets()}
                self._token = token
            self._looked = now
        return self._token

    def all(self) -> Mapping[str, LocalNode]:
        self.stamp()
        return self._bodies

    def online(self) -> bool:
        """Whether a kernel runs their orders, here or in another process."""
        world = self._world
        return world.kernel is not None or world.store.lease(KERNEL_LEASE).holder() is not None

    def _service(self, spec: NodeSpec) -> Json:
        id, profile = spec.id, self._profile(spec.id, spec.profile)
        ops = _with_facts(profile.ops, spec.driver) if profile is not None else ()
        place = f"/nodes/{id}/{ROBOT}"
        names = [op.name for op in ops]
        state = "online" if self.online() else "missing"
        return {
            "service_id": ROBOT,
            "kind": "robot",
            "version": "1",
            "state": state,
            "endpoints": [place],
            "capabilities": {"invoke": True, "operations": names, "discoverable": True},
            "mounts": [{"mount_id": ROBOT, "mount_path": place, "state": state}],
            "ops": {
                "model": "job",
                "invoke": "control/invoke.json",
                "paths": {name: f"control/{name}.json" for name in names},
                "operations": {name: name for name in names},
            },
            "runtime": {"type": "driver", "driver": spec.driver},
            "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"], "scope": "project"},
            "schema": {"kind": "robot", "operations": {op.name: _described(op) for op in ops}},
            "help_md": _help(id, place, ops),
        }

    def _targets(self) -> list[str]:
        return list(self._world.session_targets())

    def _skills(self, id: str) -> list[Json]:
        """The skills that fit by the documents alone; sensors and policy are checked when one is to run."""
        targets = self._world.targets
        assert targets is not None
        target = targets.targets()[id]
        fitting = [
            skill
            for skill in targets.skills().values()
            if (not target.skills or skill.id in target.skills)
            and (not skill.target_types or target.kind in skill.target_types)
        ]
        state = "degraded" if self.online() and not target.enabled else "online" if self.online() else "missing"
        return [_skill(id, skill, state) for skill in fitting]

    def _profile(self, node: str, named: str) -> Profile | None:
        # A workspace that was never started has no EMBODIED.md: the profile of that name counts.
        data = (
            self._world.content("EMBODIED.md", node)
            or profile_text(named, self._world.language(), self._world.profiles)
            or b""
        )
        try:
            return embodied.read(data) if data else None
        except WorldError:
            return None  # `paos check` reports the error


def _skill(node: str, skill: Skill, state: str) -> Json:
    place = f"/nodes/{node}/{skill.id}"
    policy = {"policy_client": skill.policy.type, "endpoint": skill.policy.endpoint} if skill.policy else {}
    about = skill.description or f"the skill {skill.id}"
    return {
        "service_id": skill.id,
        "kind": "skill",
        "version": "1",
        "state": state,
        "endpoints": [place],
        "capabilities": {"invoke": True, "operations": [skill.id], "discoverable": True},
        "mounts": [{"mount_id": skill.id, "mount_path": place, "state": state}],
        "ops": {
            "model": "session",
            "invoke": "control/invoke.json",
            "paths": {skill.id: f"control/{skill.id}.json"},
            "operations": {skill.id: skill.id},
        },
        "runtime": {"type": "skill", "runtime": skill.runtime, **policy},
        "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"], "scope": "project"},
        "schema": {"kind": "skill", "category": skill.category, "requires": {
            "sensors": list(skill.sensors), "environment_outputs": list(skill.environment_outputs),
            "strict_environment_contract": skill.strict}},
        "help_md": f"# {skill.id}\n\n{about}\n\nWrite its parameters into {place}/control/invoke.json: a session is\n"
        "queued in SESSIONS.md, checked before anything moves, and its end stands in result.json.\n",
    }  # fmt: skip


def _with_facts(ops: tuple[Operation, ...], driver: str) -> tuple[Operation, ...]:
    """With what a package's body declares and EMBODIED.md has no column for: what an operation does to the world."""
    try:
        declared = declared_profile(driver)
    except WorldError:
        return ops  # `paos check` reports the error
    known = {op.name: op for op in declared.ops} if declared is not None else {}
    return tuple(
        replace(op, moves=one.moves, undoable=one.undoable, repeatable=one.repeatable)
        if (one := known.get(op.name)) is not None
        else op
        for op in ops
    )


def _described(op: Operation) -> Json:
    """`parameters` is the JSON Schema of `arguments`."""
    return {
        "about": op.description,
        "arguments": {
            item.name: {"type": item.type, "required": not item.optional, **({"unit": item.unit} if item.unit else {})}
            for item in op.parameters
        },
        "parameters": op.json_schema(),
        "moves": op.moves,
        "undoable": op.undoable,
        "repeatable": op.repeatable,
    }


def _help(id: str, place: str, ops: tuple[Operation, ...]) -> str:
    lines = [
        f"# Body of {id}",
        "",
        f"Write an order into {place}/control/invoke.json: the op and its arguments. It is judged by the critic before",
        "anything moves, and carried out as a job; status.json says how far it is, result.json what was measured.",
    ]
    if ops:
        lines += ["", *(f"- `{op.name}`: {op.description}" for op in ops)]
    return "\n".join(lines) + "\n"
