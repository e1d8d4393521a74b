"""`paos ls`, `walk`, `stat`, `cat` and `write`: the tree from a shell, with the rights of `--as`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from worldfs.storage.store_interface import ANY

from .command_context import CommandContext
from .command_output import CommandOutput, columns
from .name_suggestion import short_name_directories, suggest_names, visible_names

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Stat
    from worldfs.world.world import World


def ls(context: CommandContext) -> int:
    with context.open() as world, suggest_names(visible_names(world, context)):
        # Without a path: the files that may be called by their bare names, wherever in the tree they are.
        rooms = [world.resolve(context["path"])] if context["path"] else short_name_directories(world)
        path = rooms[0] if context["path"] else "/"
        found = {entry.name: entry for room in reversed(rooms) for entry in world.tree.list(room, context.actor)}
        entries = [found[name] for name in sorted(found)]
        if not entries and path != "/" and not _collection(world, path):
            entries = [world.tree.stat(path, context.actor)]  # a file lists as itself; a missing path is an error
    listed = [
        {
            "name": entry.name + ("/" if entry.directory else ""),
            "kind": "directory" if entry.directory else str(entry.kind or ""),
            "readable": True,
            "writable": entry.writable,
        }
        for entry in entries
    ]
    context.output.value({"path": path, "entries": listed})
    if context["long"]:
        rows = [
            (
                "rw" if entry["writable"] else "r-",
                str(entry["kind"]),
                str(entry["name"]),
            )
            for entry in listed
        ]
        for line in columns(rows):
            context.output.line(line)
    else:
        for entry in listed:
            context.output.line(str(entry["name"]))
    return 0


def _collection(world: World, path: str) -> bool:
    """A directory that may be empty, as `jobs/` is at first."""
    return any(part.startswith("{") for part, _, _, _ in world.tree.table.below(path))


def walk(context: CommandContext) -> int:
    depth = context["depth"]
    with context.open() as world, suggest_names(visible_names(world, context)):
        top = world.tree.stat(world.resolve(context["path"]), context.actor)
        waiting = [(top, 0)]
        while waiting:
            entry, level = waiting.pop()
            kind = "directory" if entry.directory else str(entry.kind or "")
            context.output.report(
                entry.path.rstrip("/") + "/" if entry.directory else entry.path, {"path": entry.path, "kind": kind}
            )
            if entry.directory and (depth is None or level < depth):
                inside = world.tree.list(entry.path, context.actor)
                waiting += [(child, level + 1) for child in reversed(inside)]
    return 0


def stat(context: CommandContext) -> int:
    with context.open() as world, suggest_names(visible_names(world, context)):
        for name in context["path"]:
            entry = world.tree.stat(world.resolve(name), context.actor)
            size, revision = 0, ""
            if not entry.directory:
                found = world.tree.fetch(entry.path, context.actor)
                size, revision = len(found.data), found.revision
            print_facts(context.output, stat_facts(entry, size, revision))
    return 0


def stat_facts(entry: Stat, size: int, revision: str = "") -> dict[str, object]:
    """The facts of `stat`, for a local world and a served one alike; a served one has no revisions."""
    return {
        "path": entry.path,
        "kind": "directory" if entry.directory else "file",
        "size": size,
        "readable": True,
        "writable": entry.writable,
        "revision": revision,
    }


def print_facts(output: CommandOutput, facts: Mapping[str, object]) -> None:
    """One fact per line, or one JSON object."""
    output.value(facts)
    for line in columns([(key, str(value)) for key, value in facts.items()]):
        output.line(line)


def cat(context: CommandContext) -> int:
    with context.open() as world, suggest_names(visible_names(world, context)):
        for name in context["path"]:
            path = world.resolve(name)
            data = world.tree.read(path, context.actor)
            if context.output.json:
                context.output.value({"path": path, **json_bytes(data)})
            else:
                context.output.write_file(data)
    return 0


def write(context: CommandContext) -> int:
    data = input_bytes(context)
    with context.open() as world, suggest_names(visible_names(world, context)):
        path = world.resolve(context["path"])
        revision = world.tree.write(path, data, context.actor, expect=context["expect"] or ANY)
    context.output.report(
        f"{path}: {len(data)} bytes written", {"path": path, "bytes": len(data), "revision": revision}
    )
    return 0


def input_bytes(context: CommandContext) -> bytes:
    """The bytes to write: from a file, or standard input."""
    if context["source"] == "-":
        return sys.stdin.buffer.read()
    with open(context["source"], "rb") as file:
        return file.read()


def json_bytes(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        from base64 import b64encode

        return {"base64": b64encode(data).decode("ascii")}
