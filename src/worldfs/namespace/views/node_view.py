"""One node as a binding sees it: its services, and the directories of their mounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from worldfs.base.json_text import compact_json

from .visible_services import RESOURCE_KINDS, VisibleService, order_dir, service_dirs

Json = Mapping[str, object]
FILES: dict[str, tuple[str, object]] = {  # file → the key of S, and its default
    "SCHEMA.json": ("schema", {}),
    "CAPS.json": ("capabilities", {}),
    "MOUNTS.json": ("mounts", []),
    "OPS.json": ("ops", {}),
    "RUNTIME.json": ("runtime", {}),
    "PERMISSIONS.json": ("permissions", {}),
}


class ServiceDirectory:
    """A directory below a node. `service`: the one that takes orders here."""

    __slots__ = ("below", "service")

    def __init__(self) -> None:
        self.below: dict[str, ServiceDirectory] = {}
        self.service: VisibleService | None = None

    def make(self, parts: Sequence[str]) -> ServiceDirectory:
        here = self
        for part in parts:
            here = here.below.setdefault(part, ServiceDirectory())
        return here

    def directory(self, parts: Sequence[str]) -> ServiceDirectory | None:
        here: ServiceDirectory | None = self
        for part in parts:
            here = here.below.get(part) if here is not None else None
        return here


class NodeView:
    """`source`: control_plane, policy, workspace_discovery or workspace. `services`: those that the binding sees."""

    def __init__(
        self,
        id: str,
        source: str,
        services: Sequence[VisibleService],
        *,
        exports: bool = False,
        reserved: frozenset[str] = frozenset(),
    ) -> None:
        self.id = id
        self.source = source
        self.services = tuple(services)
        self._reserved = reserved  # names below a node that the table declares: no service is mounted there
        self.exports = exports  # a mount of the project leads here, also without an `fs` service

    @cached_property
    def by_id(self) -> dict[str, VisibleService]:
        return {service.id: service for service in reversed(self.services)}

    @cached_property
    def folders(self) -> ServiceDirectory:
        top = ServiceDirectory()
        if self.exports:
            top.make(("fs",))
        for service in self.services:
            for parts in service_dirs(self.id, service, self._reserved):
                top.make(parts)
        for service, parts in self._bases.values():
            top.make(parts).service = service
        return top

    @cached_property
    def _bases(self) -> dict[str, tuple[VisibleService, tuple[str, ...]]]:
        """Service id → its order directory. The first service keeps a directory; exported paths take precedence."""
        taken: dict[tuple[str, ...], VisibleService] = {}
        for service in self.services:
            parts = order_dir(self.id, service, self._reserved) if service.invokes else ()
            if parts and parts[0] not in ("fs", "terminal"):
                taken.setdefault(parts, service)
        return {service.id: (service, parts) for parts, service in taken.items()}

    def place(self, service: VisibleService) -> str:
        """The directory in which a service takes orders: below its node, else its own below services/."""
        found = self._bases.get(service.id)
        if found is not None and found[0] is service:
            return f"/nodes/{self.id}/{'/'.join(found[1])}"
        return f"/nodes/{self.id}/services/{service.id}"

    def inside(self, service: VisibleService) -> bool:
        """Whether it takes orders in its own directory below services/."""
        return service.invokes and service.id not in self._bases

    @property
    def caps(self) -> Json:
        roots = self.folders.below
        return {**{kind: kind in roots for kind in RESOURCE_KINDS}, "terminal": "terminal" in roots}

    @property
    def listed(self) -> list[Json]:
        return [{"service_id": s.id, "kind": s.kind, "state": s.state, "endpoint": s.endpoint} for s in self.services]

    @cached_property
    def index(self) -> bytes:
        """Its entries of the agent's SERVICES.json, encoded, separated by ","."""
        lines = [
            {
                "node_id": self.id,
                "service_id": service.id,
                "service_path": f"/nodes/{self.id}/services/{service.id}",
                "invoke_path": f"{self.place(service)}/control/invoke.json" if service.invokes else None,
                "has_invoke": service.invokes,
                "scope": "node",
            }
            for service in self.services
        ]
        return compact_json(lines)[1:-1]


def descriptor(service: VisibleService, file: str) -> object:
    """The JSON value of one of a service's files."""
    if file == "STATUS.json":
        return {
            "service_id": service.id,
            "kind": service.kind,
            "state": service.state,
            "endpoint": service.endpoint,
        }
    key, empty = FILES[file]
    value = service.raw.get(key)
    return empty if value is None else value
