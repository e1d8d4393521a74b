"""The tree behind --connect, with the rights of the token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.messages import coded
from worldfs.tree.path import parse

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld
    from worldfs.tree.verb_values import Stat, Written

    from .command_context import CommandContext
    from .command_tree import Trouble


def open_connection(context: CommandContext, timeout: float | None = None) -> BlockingWorld:
    """The world behind --connect. `timeout`: seconds for connecting, and for requests that do not wait."""
    from worldfs.client import blocking

    if timeout is None:
        return blocking.connect(context["connect"], **connect_options(context))
    return blocking.connect(context["connect"], timeout=timeout, **connect_options(context))


class ServerLogin(TypedDict):
    """The options of `worldfs.client.connect` that say with whose rights."""

    token: str
    agent: str
    project: str
    project_token: str


def server_login(context: CommandContext) -> ServerLogin:
    """The token and the binding for --connect."""
    from worldfs.client import address

    return {
        "token": server_token(context),
        "agent": context["agent"] or "",
        "project": context["project"] or "",
        "project_token": context.environ.get(address.PROJECT_TOKEN, ""),
    }


class ServerBinding(ServerLogin):
    """As `ServerLogin`, and whether an agent that is not there is made."""

    new_agent: bool


def connect_options(context: CommandContext) -> ServerBinding:
    """For a command that needs an agent that exists, the server refuses one that is not there."""
    return {**server_login(context), "new_agent": not context["reads"]}


def server_token(context: CommandContext) -> str:
    """The token for --connect. It is never on the command line, where every process could read it."""
    from worldfs.client import address

    # The home's own token is for the home's own server: it is not sent to strangers unless the home was named.
    near = context["home"] or address.parse(context["connect"]).loopback
    home = str(context.home.path) if near else ""
    return address.find_token(context.environ, file=context["token_file"] or "", home=home)


class ServerTree:
    """The verbs of the server (`command_tree.CommandTree`)."""

    sized = True

    def __init__(self, world: BlockingWorld) -> None:
        self._world = world
        self._listings: dict[str, dict[str, Stat]] = {}  # for bare names: one command means one thing by them

    def path_of(self, name: str) -> str:
        """Bare names as on the machine itself: of the root, of the project, then of the first node that has them."""
        if name.startswith("/") or not name:
            return parse(name)
        first = name.split("/", 1)[0]
        for directory in ("/", *self._bases()):
            if first in self._listed(directory):
                return parse(f"{directory.rstrip('/')}/{name}")
        return parse("/" + name)

    def _bases(self) -> Iterator[str]:
        """The directories whose files have bare names."""
        project = self._world.bound.project
        if project:
            yield f"/projects/{project}"
        for above in ("/nodes",) if project else ("/projects", "/nodes"):  # an admin is bound to no workspace
            yield from (f"{above}/{name}" for name, entry in self._listed(above).items() if entry.directory)

    def _listed(self, directory: str) -> dict[str, Stat]:
        if directory not in self._listings:
            with suppress(WorldError):  # not seen, or no directory: no name is found there
                self._listings[directory] = {entry.name: entry for entry in self._world.entries(directory)}
        return self._listings.setdefault(directory, {})

    def start(self) -> Sequence[str]:
        return ["/"]

    def names(self, path: str) -> Iterable[str]:
        found = [entry.path for entry in self._world.entries(path)]
        if path == "/":
            found += [f"{base}/{name}" for base in self._bases() for name in self._listed(base)]
        return found

    def stat(self, path: str) -> Stat:
        return self._world.stat(path)

    def entries(self, path: str) -> Sequence[Stat]:
        return self._world.entries(path)

    def walk(self, path: str, depth: int, trouble: Trouble) -> Iterator[Stat]:
        if depth == 0:
            yield self._world.stat(path)
            return
        for entry, _ in self._world.walk(path, depth=depth - 1, trouble=trouble):
            yield entry

    def read(self, path: str, *, block: bool = False) -> bytes:
        return self._world.read(path) if block else self._world.read(path, wait=0)

    def write(self, path: str, data: bytes, expect: str = "") -> Written:
        if expect:
            raise BadInput(coded("command.no_revisions"), op="write")
        return self._world.write(path, data, replace=True, create=True)

    def wait(self, path: str, until: str, timeout: float | None) -> bool:
        return self._world.wait(path, until, timeout=timeout) is not None

    def mkdir(self, path: str) -> None:
        self._world.mkdir(path)

    def remove(self, path: str) -> None:
        self._world.remove(path)

    def rename(self, path: str, new: str) -> None:
        self._world.rename(path, new)
