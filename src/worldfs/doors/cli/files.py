"""`paos ls`, `cat` and `write`: the tree from a shell, with the rights of `--as`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .call import Call
from .voice import columns

if TYPE_CHECKING:
    from worldfs.world.world import World


def ls(call: Call) -> int:
    with call.open() as world:
        # Without a path: the files that may be called by their bare names, wherever in the tree they hang.
        rooms = [world.resolve(call["path"])] if call["path"] else _rooms(world)
        path = rooms[0] if call["path"] else "/"
        found = {entry.name: entry for room in reversed(rooms) for entry in world.tree.list(room, call.actor)}
        entries = [found[name] for name in sorted(found)]
        if not entries and path != "/" and not _collection(world, path):
            entries = [world.tree.stat(path, call.actor)]  # a file is its own listing; what is not there says so
    listed = [
        {
            "name": entry.name + ("/" if entry.directory else ""),
            "kind": "directory" if entry.directory else str(entry.kind or ""),
            "readable": entry.readable,
            "writable": entry.writable,
        }
        for entry in entries
    ]
    call.voice.value({"path": path, "entries": listed})
    if call["long"]:
        rows = [
            (
                ("r" if entry["readable"] else "-") + ("w" if entry["writable"] else "-"),
                str(entry["kind"]),
                str(entry["name"]),
            )
            for entry in listed
        ]
        for line in columns(rows):
            call.voice.line(line)
    else:
        for entry in listed:
            call.voice.line(str(entry["name"]))
    return 0


def _collection(world: World, path: str) -> bool:
    """A directory that may be empty, as `jobs/` is at first."""
    return any(part.startswith("{") for part, _, _, _ in world.tree.table.below(path))


def _rooms(world: World) -> list[str]:
    """Where `World.resolve` looks for a bare name, in its order."""
    project = world.resolve("ENVIRONMENT.md").rpartition("/")[0]
    return [project, *(f"/nodes/{spec.id}" for spec in world.specs)]


def cat(call: Call) -> int:
    with call.open() as world:
        for name in call["path"]:
            path = world.resolve(name)
            data = world.tree.read(path, call.actor)
            if call.voice.json:
                call.voice.value({"path": path, **_json_bytes(data)})
            else:
                call.voice.raw(data)
    return 0


def write(call: Call) -> int:
    from worldfs.tree.stores.contract import ANY

    if call["source"] == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(call["source"], "rb") as file:
            data = file.read()
    with call.open() as world:
        path = world.resolve(call["path"])
        revision = world.tree.write(path, data, call.actor, expect=call["expect"] or ANY)
    call.voice.say(f"{path}: {len(data)} bytes written", {"path": path, "bytes": len(data), "revision": revision})
    return 0


def _json_bytes(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"base64": b64encode(data).decode("ascii")}
