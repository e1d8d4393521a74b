"""`paos ls`, `walk`, `stat`, `cat` and `write`: the tree from a shell, with the rights of `--as`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .call import Call
from .likely import likely, short, visible
from .voice import Voice, columns

if TYPE_CHECKING:
    from worldfs.remote.nouns import Place
    from worldfs.tree.tree import Entry
    from worldfs.world.world import World


def ls(call: Call) -> int:
    with call.open() as world, likely(visible(world, call)):
        # Without a path: the files that may be called by their bare names, wherever in the tree they hang.
        rooms = [world.resolve(call["path"])] if call["path"] else short(world)
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


def walk(call: Call) -> int:
    depth = call["depth"]
    with call.open() as world, likely(visible(world, call)):
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


def stat(call: Call) -> int:
    with call.open() as world, likely(visible(world, call)):
        for name in call["path"]:
            entry = world.tree.stat(world.resolve(name), call.actor)
            size, revision = 0, ""
            if not entry.directory and entry.readable:
                found = world.tree.fetch(entry.path, call.actor)
                size, revision = len(found.data), found.revision
            show(call.voice, facts(entry, size, revision))
    return 0


def facts(entry: Entry | Place, size: int, revision: str = "") -> dict[str, object]:
    """What `stat` says of a path, of a world on this disk and of a served one alike; that has no revisions."""
    return {
        "path": entry.path,
        "kind": "directory" if entry.directory else "file",
        "size": size,
        "readable": entry.readable,
        "writable": entry.writable,
        "revision": revision,
    }


def show(voice: Voice, facts: Mapping[str, object]) -> None:
    """One fact a line, or one object."""
    voice.value(facts)
    for line in columns([(key, str(value)) for key, value in facts.items()]):
        voice.line(line)


def cat(call: Call) -> int:
    with call.open() as world, likely(visible(world, call)):
        for name in call["path"]:
            path = world.resolve(name)
            data = world.tree.read(path, call.actor)
            if call.voice.json:
                call.voice.value({"path": path, **json_bytes(data)})
            else:
                call.voice.file(data)
    return 0


def write(call: Call) -> int:
    from worldfs.tree.stores.contract import ANY

    data = given(call)
    with call.open() as world, likely(visible(world, call)):
        path = world.resolve(call["path"])
        revision = world.tree.write(path, data, call.actor, expect=call["expect"] or ANY)
    call.voice.say(f"{path}: {len(data)} bytes written", {"path": path, "bytes": len(data), "revision": revision})
    return 0


def given(call: Call) -> bytes:
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
