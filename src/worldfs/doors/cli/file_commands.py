"""`paos ls`, `walk`, `stat`, `cat` and `write`: the tree from a shell, with the rights of `--as`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .command_context import CommandContext
from .command_output import CommandOutput, columns
from .name_suggestion import short_name_directories, suggest_names, visible_names

if TYPE_CHECKING:
    from worldfs.remote.remote_types import RemoteEntry
    from worldfs.tree.tree import TreeEntry
    from worldfs.world.world import World


def ls(call: CommandContext) -> int:
    with call.open() as world, suggest_names(visible_names(world, call)):
        # Without a path: the files that may be called by their bare names, wherever in the tree they hang.
        rooms = [world.resolve(call["path"])] if call["path"] else short_name_directories(world)
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


def walk(call: CommandContext) -> int:
    depth = call["depth"]
    with call.open() as world, suggest_names(visible_names(world, call)):
        top = world.tree.stat(world.resolve(call["path"]), call.actor)
        waiting = [(top, 0)]
        while waiting:
            entry, level = waiting.pop()
            kind = "directory" if entry.directory else str(entry.kind or "")
            call.voice.say(
                entry.path.rstrip("/") + "/" if entry.directory else entry.path, {"path": entry.path, "kind": kind}
            )
            if entry.directory and (depth is None or level < depth):
                inside = world.tree.list(entry.path, call.actor)
                waiting += [(child, level + 1) for child in reversed(inside)]
    return 0


def stat(call: CommandContext) -> int:
    with call.open() as world, suggest_names(visible_names(world, call)):
        for name in call["path"]:
            entry = world.tree.stat(world.resolve(name), call.actor)
            size, revision = 0, ""
            if not entry.directory and entry.readable:
                found = world.tree.fetch(entry.path, call.actor)
                size, revision = len(found.data), found.revision
            print_facts(call.voice, stat_facts(entry, size, revision))
    return 0


def stat_facts(entry: TreeEntry | RemoteEntry, size: int, revision: str = "") -> dict[str, object]:
    """What `stat` says of a path, of a world on this disk and of a served one alike; that has no revisions."""
    return {
        "path": entry.path,
        "kind": "directory" if entry.directory else "file",
        "size": size,
        "readable": entry.readable,
        "writable": entry.writable,
        "revision": revision,
    }


def print_facts(voice: CommandOutput, stat_facts: Mapping[str, object]) -> None:
    """One fact a line, or one object."""
    voice.value(stat_facts)
    for line in columns([(key, str(value)) for key, value in stat_facts.items()]):
        voice.line(line)


def cat(call: CommandContext) -> int:
    with call.open() as world, suggest_names(visible_names(world, call)):
        for name in call["path"]:
            path = world.resolve(name)
            data = world.tree.read(path, call.actor)
            if call.voice.json:
                call.voice.value({"path": path, **json_bytes(data)})
            else:
                call.voice.file(data)
    return 0


def write(call: CommandContext) -> int:
    from worldfs.tree.stores.store_interface import ANY

    data = input_bytes(call)
    with call.open() as world, suggest_names(visible_names(world, call)):
        path = world.resolve(call["path"])
        revision = world.tree.write(path, data, call.actor, expect=call["expect"] or ANY)
    call.voice.say(f"{path}: {len(data)} bytes written", {"path": path, "bytes": len(data), "revision": revision})
    return 0


def input_bytes(call: CommandContext) -> bytes:
    """What is to be written: a file, or standard input."""
    if call["source"] == "-":
        return sys.stdin.buffer.read()
    with open(call["source"], "rb") as file:
        return file.read()


def json_bytes(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"base64": b64encode(data).decode("ascii")}
