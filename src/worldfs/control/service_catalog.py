"""A node's service manifests: validated as hostile input, normalized, compared by hash.

Source: acheron §3.2 (S and delta). The size of a manifest is bounded here, so that
every descriptor below /nodes/<id>/services can be rendered without further checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from worldfs.base.messages import as_plain
from worldfs.formats.wire.frames import Json

from .payload_fields import ID_MAX, absolute, invalid, is_id, line, text
from .plane_records import ServiceCatalog

SERVICES_MAX: Final = 8192  # of one node
ENDPOINTS_MAX: Final = 64
MOUNTS_MAX: Final = 64
OBJECT_MAX: Final = 64 << 10  # bytes of one descriptor as JSON
HELP_MAX: Final = 64 << 10  # bytes of help_md
CATALOG_MAX: Final = 4 << 20  # bytes of a node's whole catalog: it fits into one frame
DEPTH_MAX: Final = 32
_OBJECTS: Final = ("capabilities", "mounts", "ops", "runtime", "permissions", "schema")  # in the order of the wire
_ROOTS: Final = frozenset({"agents", "projects", "meta", "debug"})  # directories of others
_SORTED: Final = msgspec.json.Encoder(order="deterministic", enc_hook=as_plain)


def read_catalog(value: object, node_id: str) -> ServiceCatalog:
    """The `services` of an upsert. Raises `PlaneError` (invalid_payload), then the whole catalog is refused."""
    if not isinstance(value, list) or len(value) > SERVICES_MAX:
        raise invalid()
    services = [read_service(item, node_id) for item in value]
    if len({service["service_id"] for service in services}) != len(services):
        raise invalid()
    encoded = [_SORTED.encode(service) for service in services]
    if sum(map(len, encoded)) > CATALOG_MAX:
        raise invalid()
    return ServiceCatalog(services, [hash_of(data) for data in encoded])


def hash_of(data: bytes) -> str:
    """Sixteen hexadecimal digits; equal for equal services, whatever the order of their keys."""
    return "0x" + hashlib.blake2b(data, digest_size=8).hexdigest()


def read_service(value: object, node_id: str) -> Json:
    """A catalog of services (acheron §3.2), its keys in that order, missing objects filled in."""
    if not isinstance(value, dict):
        raise invalid()
    service_id, kind = value.get("service_id"), value.get("kind")
    if not is_id(service_id) or not is_id(kind):
        raise invalid()
    endpoints = value.get("endpoints")
    if not isinstance(endpoints, list) or not 0 < len(endpoints) <= ENDPOINTS_MAX:
        raise invalid()
    service: Json = {
        "service_id": service_id,
        "kind": kind,
        "version": line(value.get("version", "1"), ID_MAX),
        "state": line(value.get("state"), ID_MAX),
        "endpoints": [_place(item, node_id) for item in endpoints],
    }
    for key in _OBJECTS:
        service[key] = _mounts(value.get(key, []), node_id) if key == "mounts" else _object(value.get(key, {}))
    if value.get("help_md") is not None:
        service["help_md"] = text(value["help_md"], HELP_MAX)
    return service


def _place(value: object, node_id: str) -> str:
    """The path of a service's endpoint. It must not be another node's, or outside of /nodes."""
    path = absolute(value)
    parts = path.split("/")
    if parts[1] in _ROOTS or (parts[1] == "nodes" and (len(parts) < 4 or parts[2] != node_id)):
        raise invalid()
    return path


def _mounts(value: object, node_id: str) -> list[Json]:
    """`mount_id`, `mount_path` and, only if sent, `state`."""
    if not isinstance(value, list) or len(value) > MOUNTS_MAX:
        raise invalid()
    mounts: list[Json] = []
    for item in value:
        if not isinstance(item, dict) or not is_id(item.get("mount_id")):
            raise invalid()
        mount = {"mount_id": item["mount_id"], "mount_path": _place(item.get("mount_path"), node_id)}
        if item.get("state") is not None:
            mount["state"] = line(item["state"], ID_MAX)
        mounts.append(mount)
    return mounts


def _object(value: object) -> Json:
    if not isinstance(value, dict) or _depth(value) > DEPTH_MAX:
        raise invalid()
    try:
        data = msgspec.json.encode(value, enc_hook=as_plain)
        kept: Json = msgspec.json.decode(data)  # so that a value read from the log equals the value returned now
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise invalid() from None
    if len(data) > OBJECT_MAX:
        raise invalid()
    return kept


def _depth(value: object) -> int:
    """The nesting depth of lists and objects; stops counting past the limit."""
    level, depth = [value], 0
    while level and depth <= DEPTH_MAX:
        depth += 1
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = [item for item in inner if isinstance(item, (dict, list))]
    return depth


def delta(before: ServiceCatalog | None, after: ServiceCatalog | None, now_ms: int) -> Json:
    """The changes of an upsert. `after` None: `services` was omitted, nothing changed."""
    old = _named(before)
    new = old if after is None else _named(after)
    added: list[Json] = []
    updated: list[Json] = []
    for service_id, (version, mark) in new.items():
        row: Json = {"service_id": service_id, "version": version, "hash": mark}
        known = old.get(service_id)
        if known is None:
            added.append(row)
        elif known[1] != mark:
            updated.append({**row, "previous_version": known[0], "previous_hash": known[1]})
    removed = [
        {"service_id": service_id, "version": version, "hash": mark}
        for service_id, (version, mark) in old.items()
        if service_id not in new
    ]
    return {
        "changed": bool(added or updated or removed),
        "timestamp_ms": now_ms,
        "added": added,
        "updated": updated,
        "removed": removed,
    }


def _named(catalog: ServiceCatalog | None) -> dict[str, tuple[str, str]]:
    """Version and hash by service id."""
    if catalog is None:
        return {}
    services: Sequence[Json] = catalog.services
    return {
        service["service_id"]: (service["version"], mark)
        for service, mark in zip(services, catalog.hashes, strict=True)
    }
