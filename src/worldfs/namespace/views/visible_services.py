"""The services of one node: from its catalog, from policy where it has none, or of a node of this home."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.access.visibility_policy import PolicyNode
from worldfs.base.json_values import as_list

Json = Mapping[str, object]
RESOURCE_KINDS: Final = ("fs", "camera", "screen", "user")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_BUILTIN: Final[dict[str, Json]] = {
    "fs": {"rw": True},
    "camera": {"still": True},
    "screen": {"capture": True},
    "user": {"interaction": True},
}


class VisibleService(NamedTuple):
    """`raw` is S of acheron §3.2."""

    id: str
    kind: str
    state: str
    endpoint: str
    raw: Json

    @property
    def invokes(self) -> bool:
        caps = self.raw.get("capabilities")
        return isinstance(caps, Mapping) and caps.get("invoke") is True

    @property
    def operations(self) -> dict[str, str]:
        """Name of an op's control file → the tool it stands for."""
        ops = self.raw.get("ops")
        found = ops.get("operations") if isinstance(ops, Mapping) else None
        if isinstance(found, Mapping):
            pairs = [(name, tool) for name, tool in found.items() if isinstance(tool, str)]
        elif isinstance(found, list):
            pairs = [(name, name) for name in found if isinstance(name, str)]
        else:
            pairs = []
        return {name: tool for name, tool in pairs if is_segment(name) and name != "invoke"}


def is_segment(name: object) -> bool:
    return isinstance(name, str) and name not in (".", "..") and _SEGMENT.fullmatch(name) is not None


def catalog_services(node: str, catalog: Sequence[Json]) -> list[VisibleService]:
    """In catalog order, without ids that are no valid directory name."""
    found = []
    for raw in catalog:
        id = raw.get("service_id")
        if not is_segment(id):
            continue
        endpoints = raw.get("endpoints")
        first = next((e for e in endpoints if isinstance(e, str)), "") if isinstance(endpoints, list | tuple) else ""
        kind, state = raw.get("kind"), raw.get("state")
        found.append(
            VisibleService(
                str(id),
                kind if isinstance(kind, str) else "",
                state if isinstance(state, str) else "unknown",
                first or f"/nodes/{node}/{id}",
                raw,
            )
        )
    return found


def policy_services(node: PolicyNode) -> list[VisibleService]:
    """The services by policy of a node that the control plane does not know (reference 4.2)."""
    return [
        *(_builtin(node.id, kind, kind, kind, _BUILTIN[kind]) for kind in node.resources),
        *(
            _builtin(node.id, f"terminal-{t}", "terminal", f"terminal/{t}", {"pty": True, "terminal_id": t})
            for t in node.terminals
        ),
    ]


def _builtin(node: str, id: str, kind: str, root: str, caps: Json) -> VisibleService:
    path = f"/nodes/{node}/{root}"
    raw = {
        "service_id": id,
        "kind": kind,
        "version": "1",
        "state": "online",
        "endpoints": [path],
        "capabilities": caps,
        "mounts": [{"mount_id": id, "mount_path": path, "state": "online"}],
        "ops": {"model": "namespace"},
        "runtime": {"type": "builtin"},
        "permissions": {
            "default": "allow-by-default",
            "allow_roles": ["admin", "user"],
            "scope": "project" if kind == "fs" else "node",
        },
        "schema": {"model": "filesystem" if kind == "fs" else kind},
    }
    return VisibleService(id, kind, "online", path, raw)


def _below(node: str, path: object, reserved: frozenset[str]) -> tuple[str, ...]:
    """The segments of a path below its node; () for an invalid path or one elsewhere."""
    prefix = f"/nodes/{node}/"
    if not isinstance(path, str) or not path.startswith(prefix):
        return ()
    parts = tuple(part for part in path[len(prefix) :].split("/") if part)
    return parts if parts and all(is_segment(part) for part in parts) and parts[0] not in reserved else ()


def service_dirs(node: str, service: VisibleService, reserved: frozenset[str]) -> Iterable[tuple[str, ...]]:
    """The directories of a service below its node: the first segment of each mount, two for a terminal."""
    if service.kind in RESOURCE_KINDS:
        yield (service.kind,)
    if service.kind == "terminal":
        id = service.id.removeprefix("terminal-") if service.id.startswith("terminal-") else ""
        parts = ("terminal", id) if is_segment(id) else _below(node, service.endpoint, reserved)[:2]
        if len(parts) == 2:
            yield parts
    else:
        for endpoint in as_list(service.raw.get("endpoints")):
            if parts := _below(node, endpoint, reserved):
                yield parts[:1]
    for path in mount_paths(service):
        if parts := _below(node, path, reserved):
            yield parts[:2] if parts[0] == "terminal" else parts[:1]


def mount_paths(service: VisibleService) -> list[str]:
    mounts = service.raw.get("mounts")
    found = [m.get("mount_path") for m in mounts if isinstance(m, Mapping)] if isinstance(mounts, list | tuple) else []
    return [path for path in found if isinstance(path, str)]


def order_dir(node: str, service: VisibleService, reserved: frozenset[str]) -> tuple[str, ...]:
    """The order directory of a service, below the node; () where it has no mount there."""
    path = next(iter(mount_paths(service)), service.endpoint)
    tail = "/control/invoke.json"
    return _below(node, path[: -len(tail)] if path.endswith(tail) else path, reserved)
