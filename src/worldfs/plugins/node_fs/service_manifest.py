"""A service manifest: the published description of a service, and the program that runs it.

`{node_id}` in endpoints and mounts is replaced by the node's id. Source: acheron §3.2 (S)
and 7 (manifest services).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from typing import Final, NamedTuple

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object, as_text
from worldfs.base.messages import coded
from worldfs.formats.wire.frames import Json

NATIVE: Final = "native_proc"
TIMEOUT_MS: Final = 30_000
TIMEOUT_MAX: Final = 3_600_000
MANIFEST_MAX: Final = 1 << 20
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
_OBJECTS: Final = ("capabilities", "ops", "runtime", "permissions", "schema")


class ServiceManifest(NamedTuple):
    """`published`: S, with `{node_id}` still in it. `argv`: the resolved program; `folder`: where it runs."""

    id: str
    published: Json
    argv: tuple[str, ...]
    folder: str
    timeout_ms: int

    def service(self, node: str, state: str = "online") -> Json:
        """S as sent in an upsert."""
        return {**as_object(_put(self.published, "{node_id}", node)), "state": state}


def read(path: str) -> ServiceManifest:
    """Raises `NotFound`, `BadInput` with the field that is wrong, `MissingRequirement` when the program is not
    there."""
    data = read_given_file(path, op="service", most=MANIFEST_MAX)
    try:
        value = parse_json(data)
    except ValueError as error:
        raise BadInput(
            coded("file.not_json", why=str(error)), path=path, op="service", expected=coded("node.manifest")
        ) from None
    if not isinstance(value, dict):
        raise _wrong(path, "", coded("file.object"))
    id = value.get("service_id")
    if not isinstance(id, str) or not _ID.fullmatch(id) or not id.strip("."):
        raise _wrong(path, "service_id", coded("node.service_id"))
    for key in _OBJECTS:
        if not isinstance(value.get(key, {}), dict):
            raise _wrong(path, key, coded("file.object"))
    runtime: dict[str, object] = value.get("runtime", {})
    folder = os.path.dirname(os.path.abspath(path))
    return ServiceManifest(
        id, _published(id, value, path), _argv(runtime, path, folder), folder, _timeout(runtime, path)
    )


def _published(id: str, value: dict[str, object], path: str) -> Json:
    place = "/nodes/{node_id}/" + id
    given = value.get("endpoints", [place])
    endpoints = as_list(given)
    if not _texts(given) or not endpoints or not all(as_text(one).startswith("/") for one in endpoints):
        raise _wrong(path, "endpoints", coded("node.endpoints"))
    mounts = value.get("mounts", [{"mount_id": id, "mount_path": endpoints[0], "state": "online"}])
    if not isinstance(mounts, list) or not all(isinstance(mount, dict) for mount in mounts):
        raise _wrong(path, "mounts", coded("node.objects"))
    found: Json = {
        "service_id": id,
        "kind": value.get("kind", "service"),
        "version": str(value.get("version", "1")),
        "state": "online",
        "endpoints": endpoints,
        "capabilities": {"invoke": True, **as_object(value.get("capabilities"))},
        "mounts": mounts,
        "ops": value.get("ops", {"model": "namespace", "invoke": "control/invoke.json"}),
        "runtime": value.get("runtime", {}),
        "permissions": value.get("permissions", {"default": "deny-by-default", "scope": "node"}),
        "schema": value.get("schema", {"model": "namespace-service-v1"}),
    }
    if isinstance(value.get("help_md"), str):
        found["help_md"] = value["help_md"]
    return found


def _argv(runtime: dict[str, object], path: str, folder: str) -> tuple[str, ...]:
    kind = runtime.get("type")
    if kind != NATIVE:
        raise BadInput(
            coded("node.runtime_type", kind=kind), path=path, op="service", expected=NATIVE, fix=coded("node.wrap")
        )
    program, args = runtime.get("executable_path"), runtime.get("args", [])
    if not isinstance(program, str) or not program:
        raise _wrong(path, "runtime.executable_path", coded("node.program_path"))
    if not _texts(args):
        raise _wrong(path, "runtime.args", coded("file.strings"))
    return (_found(program, path, folder), *map(str, as_list(args)))


def _found(program: str, path: str, folder: str) -> str:
    place = os.path.normpath(os.path.join(folder, program)) if "/" in program else program
    found = shutil.which(place)
    if found is None:
        raise MissingRequirement(
            coded("node.no_program", program=program),
            path=path,
            op="service",
            expected=coded("node.a_program"),
            fix=coded("node.chmod"),
        )
    return found


def _timeout(runtime: dict[str, object], path: str) -> int:
    value = runtime.get("timeout_ms", TIMEOUT_MS)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= TIMEOUT_MAX:
        raise _wrong(path, "runtime.timeout_ms", coded("agent.one_to", n=TIMEOUT_MAX))
    return value


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and "\0" not in one for one in value)


def _put(value: object, mark: str, text: str) -> object:
    if isinstance(value, str):
        return value.replace(mark, text)
    if isinstance(value, dict):
        return {key: _put(one, mark, text) for key, one in value.items()}
    if isinstance(value, list):
        return [_put(one, mark, text) for one in value]
    return value


def _wrong(path: str, key: str, expected: str) -> BadInput:
    where = f"{path}: {key}" if key else path
    return BadInput(coded("node.unfit"), path=where, op="service", expected=expected)


def built_in(node: str, exports: Sequence[str]) -> Json:
    """S of the node's file system."""
    place = f"/nodes/{node}/fs"
    return {
        "service_id": "fs",
        "kind": "fs",
        "version": "1",
        "state": "online",
        "endpoints": [place],
        "capabilities": {"rw": True, "exports": list(exports)},
        "mounts": [{"mount_id": "fs", "mount_path": place, "state": "online"}],
        "ops": {"model": "namespace"},
        "runtime": {"type": "builtin"},
        "permissions": {"default": "allow-by-default", "allow_roles": ["admin", "user"], "scope": "project"},
        "schema": {"model": "filesystem"},
    }
