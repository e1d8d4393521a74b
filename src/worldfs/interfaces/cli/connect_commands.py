"""`paos --connect ws://HOST:PORT ls|walk|stat|cat|write|wait`: the same commands over a served tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput

from .command_context import CommandContext
from .command_output import columns
from .file_commands import input_bytes, json_bytes, print_facts, stat_facts
from .name_suggestion import suggest_names

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld
    from worldfs.tree.verb_values import Stat

    from .name_suggestion import Names


def open_connection(context: CommandContext) -> BlockingWorld:
    """The world behind --connect."""
    from worldfs.client import address, blocking

    token = server_token(context)
    project_token = context.environ.get(address.PROJECT_TOKEN, "")
    return blocking.connect(
        context["connect"],
        token=token,
        agent=context["agent"] or "",
        project=context["project"] or "",
        project_token=project_token,
    )


def server_token(context: CommandContext) -> str:
    """The token for --connect. It is never on the command line, where every process could read it."""
    from worldfs.client import address

    # The home's own token is for the home's own server: it is not sent to strangers unless the home was named.
    near = context["home"] or address.parse(context["connect"]).loopback
    home = str(context.home.path) if near else ""
    return address.find_token(context.environ, file=context["token_file"] or "", home=home)


def remote_names(world: BlockingWorld) -> Names:
    """The names that the caller may list in a served world."""
    return lambda path: [place.path for place in world.entries(path)]


def ls(context: CommandContext) -> int:
    with open_connection(context) as world, suggest_names(remote_names(world)):
        top = world.stat(context["path"] or "/")
        listed = [_entry(place) for place in (world.entries(top.path) if top.directory else [top])]
    context.output.value({"path": top.path, "entries": listed})
    for line in (
        columns([(str(e["rights"]), str(e["kind"]), str(e["name"])) for e in listed])
        if context["long"]
        else [str(e["name"]) for e in listed]
    ):
        context.output.line(line)
    return 0


def walk(context: CommandContext) -> int:
    depth = context["depth"]
    with open_connection(context) as world, suggest_names(remote_names(world)):
        if depth == 0:
            _say(context, world.stat(context["path"]))
            return 0
        for place, _ in world.walk(context["path"], depth=None if depth is None else depth - 1):
            _say(context, place)
    return 0


def stat(context: CommandContext) -> int:
    with open_connection(context) as world, suggest_names(remote_names(world)):
        for path in context["path"]:
            place = world.stat(path)
            print_facts(context.output, stat_facts(place, place.size))
    return 0


def cat(context: CommandContext) -> int:
    with open_connection(context) as world, suggest_names(remote_names(world)):
        for path in context["path"]:
            data = world.read(path)
            if context.output.json:
                context.output.value({"path": path, **json_bytes(data)})
            else:
                context.output.write_file(data)
    return 0


def write(context: CommandContext) -> int:
    if context["expect"]:
        raise BadInput("--expect with --connect: the protocol carries no revisions", op="write")
    data, path = input_bytes(context), context["path"]
    with open_connection(context) as world, suggest_names(remote_names(world)):
        done = world.write(path, data, replace=True, create=True)
    more = {"job": done.job, "result_path": done.result_path} if done.job else {}
    where = f"; its answer: {done.result_path}" if done.result_path else f"; {done.job}" if done.job else ""
    text = f"{path}: {done.n} bytes written{where}"
    context.output.report(text, {"path": path, "bytes": done.n, **more})
    return 0


def wait(context: CommandContext) -> int:
    """Exit 0 when the condition held, 1 after the timeout."""
    path, until, timeout = context["path"], context["until"] or "", context["timeout"]
    with open_connection(context) as world, suggest_names(remote_names(world)):
        happened = world.wait(path, until, timeout=timeout) is not None
    if happened:
        text = "it contains the text" if until else "changed"
    else:
        text = f"timed out after {timeout:g} s: it {f'does not contain {until!r}' if until else 'did not change'}"
    context.output.report(f"{path}: {text}", {"path": path, "happened": happened}, "" if happened else "warn")
    return 0 if happened else 1


def _entry(place: Stat) -> dict[str, object]:
    return {
        "name": place.name + ("/" if place.directory else ""),
        "kind": _kind(place),
        "readable": True,
        "writable": place.writable,
        "rights": "rw" if place.writable else "r-",
        "size": place.size,
    }


def _kind(place: Stat) -> str:
    return "directory" if place.directory else "file"


def _say(context: CommandContext, place: Stat) -> None:
    text = place.path.rstrip("/") + "/" if place.directory else place.path
    context.output.report(
        text, {"path": place.path, "kind": _kind(place), "size": place.size, "writable": place.writable}
    )
