"""Files as resources: their URIs, the ones that are listed, and their content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.messages import coded
from worldfs.tree.verb_values import Stat

from . import places
from .actor_tree import ActorTree
from .bounded_content import line

SCHEME: Final = "paos://"
CONTENT_MOST: Final = 1 << 20  # bytes of one resource
LISTED_MOST: Final = 500
_TYPES: Final = {
    ".md": "text/markdown", ".json": "application/json", ".jsonl": "application/jsonl", ".txt": "text/plain",
    ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".mp4": "video/mp4",
}  # fmt: skip


class ResourceTemplateRow(NamedTuple):
    uri: str
    name: str
    about: str


TEMPLATES: Final = (
    ResourceTemplateRow(f"{SCHEME}/projects/{{project}}/{{file}}", "document", "a document of a project"),
    ResourceTemplateRow(f"{SCHEME}/nodes/{{node}}/{{file}}", "node", "a file of a robot or another node"),
    ResourceTemplateRow(f"{SCHEME}/agents/{{agent}}/{{file}}", "agent", "a file of an agent; `self` is you"),
    ResourceTemplateRow(f"{SCHEME}/{{+path}}", "file", "any file of the tree that you may see"),
)
_LISTS: Final = {"project": "/projects", "node": "/nodes", "agent": "/agents"}


def uri_of(path: str) -> str:
    return SCHEME + quote(path, safe="/")


def path_of(uri: str) -> str:
    """Raises `BadInput` for a URI of another kind."""
    if not uri.startswith(f"{SCHEME}/"):
        raise BadInput(
            coded("common.given", text=line(uri, 80)),
            op="read",
            expected=coded("mcp.a_resource", scheme=SCHEME),
            code="NOT_FOUND",
        )
    return places.absolute(unquote(uri.removeprefix(SCHEME)))


def media_type(name: str) -> str:
    return _TYPES.get(name[name.rfind(".") :].lower(), "text/plain" if "." not in name else "application/octet-stream")


async def listed(tree: ActorTree) -> list[Stat]:
    """The documents of projects, robots and the agent, and of /meta; every other file has a template."""
    found: list[Stat] = []
    groups = [f"{base}/{name}" for base in ("/projects", "/nodes") for name in await places.names(tree, base)]
    for directory in (*groups, places.SELF, "/meta"):
        try:
            found += [one for one in await tree.entries(directory) if not one.directory]
        except UserError:
            continue
    return found[:LISTED_MOST]


async def content(tree: ActorTree, uri: str) -> tuple[str, bytes]:
    """The path and the bytes. Raises `BadInput` for a directory and for more than a client should be given at once."""
    path = path_of(uri)
    size = (await tree.stat(path)).size
    data = (await tree.read(path)).data if size <= CONTENT_MOST else b""
    if max(size, len(data)) > CONTENT_MOST:
        raise BadInput(
            coded("mcp.bytes", n=max(size, len(data))),
            path=path,
            op="read",
            expected=coded("mcp.bytes_most", n=CONTENT_MOST),
            fix=coded("mcp.read_pieces"),
        )
    return path, data


async def completions(tree: ActorTree, argument: str, value: str) -> Sequence[str]:
    """Names of a template's variable, or paths, that begin with a value."""
    if argument in _LISTS:
        return [name for name in await places.names(tree, _LISTS[argument]) if name.startswith(value)]
    if argument != "path":
        return []
    head, _, start = f"/{value.lstrip('/')}".rpartition("/")
    try:
        found = await tree.entries(head or "/")
    except (NotFound, BadInput):
        return []
    there = [f"{one.path.lstrip('/')}{'/' if one.directory else ''}" for one in found if one.name.startswith(start)]
    return there
