"""The bodies of the home's own workspace as nodes: each offers one service, `body`, whose ops are its profile's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from worldfs.ground.errors import WorldError

from .nodes import profile_text

if TYPE_CHECKING:
    from worldfs.ground.model import Op, Profile

    from .world import World

Json = dict[str, Any]
LOOK_S: Final = 0.25  # an edited profile is seen after so long
SERVICE: Final = "body"


class Body(NamedTuple):
    """`service` is S of the reference page (3.2)."""

    id: str
    service: Json


class Bodies:
    """Read from EMBODIED.md, which a start writes and a person may edit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._token: object = None
        self._looked: float | None = None
        self._bodies: Mapping[str, Body] = {}

    def stamp(self) -> object:
        """Changes when a body may have changed."""
        now = self._world.clock.monotonic()
        if self._looked is None or now - self._looked >= LOOK_S:
            try:
                token: object = self._world.store.probe("EMBODIED.md"), self.online()
            except WorldError:
                token = None
            if self._looked is None or token != self._token:
                self._bodies = {spec.id: Body(spec.id, self._service(spec.id)) for spec in self._world.specs}
                self._token = token
            self._looked = now
        return self._token

    def all(self) -> Mapping[str, Body]:
        self.stamp()
        return self._bodies

    def online(self) -> bool:
        """Does a kernel carry out what is asked of them, here or in another process?"""
        from worldfs.tree.stores.disk import DiskStore
        from worldfs.tree.stores.lock import holder

        world = self._world
        if world.kernel is not None:
            return True
        return isinstance(world.store, DiskStore) and holder(world.root) is not None

    def _service(self, id: str) -> Json:
        spec = next(spec for spec in self._world.specs if spec.id == id)
        profile = self._profile(spec.profile)
        ops = profile.ops if profile is not None else ()
        place = f"/nodes/{id}/{SERVICE}"
        names = [op.name for op in ops]
        state = "online" if self.online() else "missing"
        return {
            "service_id": SERVICE,
            "kind": "robot",
            "version": "1",
            "state": state,
            "endpoints": [place],
            "capabilities": {"invoke": True, "operations": names, "discoverable": True},
            "mounts": [{"mount_id": SERVICE, "mount_path": place, "state": state}],
            "ops": {
                "model": "job",
                "invoke": "control/invoke.json",
                "paths": {name: f"control/{name}.json" for name in names},
                "operations": {name: name for name in names},
            },
            "runtime": {"type": "driver", "driver": spec.driver},
            "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"], "scope": "project"},
            "schema": {"kind": "robot", "operations": {op.name: _parameters(op) for op in ops}},
            "help_md": _help(id, place, ops),
        }

    def _profile(self, bundled: str) -> Profile | None:
        from worldfs.formats import embodied

        # A workspace that was never started has none yet: its body is then what the bundled profile says.
        data = self._world.content("EMBODIED.md") or profile_text(bundled, self._world.language()) or b""
        try:
            return embodied.read(data) if data else None
        except WorldError:
            return None  # `paos check` says what is wrong with it


def _parameters(op: Op) -> Json:
    return {
        "about": op.description,
        "arguments": {
            item.name: {"type": item.type, "required": not item.optional, **({"unit": item.unit} if item.unit else {})}
            for item in op.parameters
        },
    }


def _help(id: str, place: str, ops: tuple[Op, ...]) -> str:
    lines = [
        f"# Body of {id}",
        "",
        f"Write an order into {place}/control/invoke.json: the op and its arguments. It is judged by the critic before",
        "anything moves, and carried out as a job; status.json says how far it is, result.json what was measured.",
    ]
    if ops:
        lines += ["", *(f"- `{op.name}`: {op.description}" for op in ops)]
    return "\n".join(lines) + "\n"
