"""`paos --connect ws://HOST:PORT ls|walk|stat|cat|write|wait`: the same words over a served tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.ground.errors import BadInput

from .command_context import CommandContext
from .command_output import columns
from .file_commands import input_bytes, json_bytes, print_facts, stat_facts
from .name_suggestion import suggest_names

if TYPE_CHECKING:
    from worldfs.remote.blocking import BlockingWorld
    from worldfs.remote.remote_types import RemoteEntry

    from .name_suggestion import Names


def open_connection(call: CommandContext) -> BlockingWorld:
    """The world behind --connect. The token never stands on the command line, where every process could read it."""
    from worldfs.remote import address, blocking

    # The home's own token is for the home's own server: it is not sent to strangers unless the home was named.
    near = call["home"] or address.parse(call["connect"]).loopback
    home = str(call.home.path) if near else ""
    token = address.find_token(call.environ, file=call["token_file"] or "", home=home)
    project_token = call.environ.get(address.PROJECT_TOKEN, "")
    return blocking.connect(
        call["connect"],
        token=token,
        agent=call["agent"] or "",
        project=call["project"] or "",
        project_token=project_token,
    )


def remote_names(world: BlockingWorld) -> Names:
    """What the caller may list of a served world."""
    return lambda path: [place.path for place in world.entries(path)]


def ls(call: CommandContext) -> int:
    with open_connection(call) as world, suggest_names(remote_names(world)):
        top = world.stat(call["path"] or "/")
        listed = [_entry(place) for place in (world.entries(top.path) if top.directory else [top])]
    call.voice.value({"path": top.path, "entries": listed})
    for line in (
        columns([(str(e["rights"]), str(e["kind"]), str(e["name"])) for e in listed])
        if call["long"]
        else [str(e["name"]) for e in listed]
    ):
        call.voice.line(line)
    return 0


def walk(call: CommandContext) -> int:
    depth = call["depth"]
    with open_connection(call) as world, suggest_names(remote_names(world)):
        if depth == 0:
            _say(call, world.stat(call["path"]))
            return 0
        for place, _ in world.walk(call["path"], depth=None if depth is None else depth - 1):
            _say(call, place)
    return 0


def stat(call: CommandContext) -> int:
    with open_connection(call) as world, suggest_names(remote_names(world)):
        for path in call["path"]:
            place = world.stat(path)
            print_facts(call.voice, stat_facts(place, place.size))
    return 0


def cat(call: CommandContext) -> int:
    with open_connection(call) as world, suggest_names(remote_names(world)):
        for path in call["path"]:
            data = world.read(path)
            if call.voice.json:
                call.voice.value({"path": path, **json_bytes(data)})
            else:
                call.voice.file(data)
    return 0


def write(call: CommandContext) -> int:
    if call["expect"]:
        raise BadInput("--expect with --connect: the protocol carries no revisions", op="write")
    data, path = input_bytes(call), call["path"]
    with open_connection(call) as world, suggest_names(remote_names(world)):
        done = world.write(path, data, replace=True, create=True)
    more = {"job": done.job, "result_path": done.result_path} if done.job else {}
    where = f"; its answer: {done.result_path}" if done.result_path else f"; {done.job}" if done.job else ""
    text = f"{path}: {done.n} bytes written{where}"
    call.voice.say(text, {"path": path, "bytes": done.n, **more})
    return 0


def wait(call: CommandContext) -> int:
    """Exit 0 when it happened, 1 when the time was up."""
    path, until, timeout = call["path"], call["until"] or "", call["timeout"]
    with open_connection(call) as world, suggest_names(remote_names(world)):
        happened = world.wait(path, until, timeout=timeout) is not None
    if happened:
        text = "it holds the text" if until else "changed"
    else:
        text = f"waited {timeout:g} s for it to {'hold ' + repr(until) if until else 'change'}"
    call.voice.say(f"{path}: {text}", {"path": path, "happened": happened}, "" if happened else "warn")
    return 0 if happened else 1


def _entry(place: RemoteEntry) -> dict[str, object]:
    return {
        "name": place.name + ("/" if place.directory else ""),
        "kind": _kind(place),
        "readable": place.readable,
        "writable": place.writable,
        "rights": ("r" if place.readable else "-") + ("w" if place.writable else "-"),
        "size": place.size,
    }


def _kind(place: RemoteEntry) -> str:
    return "directory" if place.directory else "file"


def _say(call: CommandContext, place: RemoteEntry) -> None:
    text = place.path.rstrip("/") + "/" if place.directory else place.path
    call.voice.say(text, {"path": place.path, "kind": _kind(place), "size": place.size, "writable": place.writable})
