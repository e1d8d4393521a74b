"""The address of a server, and its token, which is never on a command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.given_file import read_given_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded

TOKEN = "PAOS_TOKEN"  # noqa: S105 -- the name of a variable
_TOKENS_MOST = 1 << 20  # bytes of a file of tokens
PROJECT_TOKEN = "PAOS_PROJECT_TOKEN"  # noqa: S105 -- the name of a variable
PORT = 18790


class Address(NamedTuple):
    """A server and the binding that its URL asks for: ws://HOST:PORT/?agent=alice&project=proj-1."""

    url: str
    agent: str = ""
    project: str = ""

    @property
    def loopback(self) -> bool:
        host = urlsplit(self.url).hostname or ""
        return host in {"localhost", "::1"} or host.startswith("127.")


def parse(url: str) -> Address:
    """`HOST`, `HOST:PORT`, `ws://…` and `wss://…`; the default port is 18790. Raises `BadInput`."""
    text = url if "://" in url else f"ws://{url}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise BadInput(str(error), path=url, op="connect", expected="ws://HOST:PORT") from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise BadInput(coded("common.given", text=url), op="connect", expected=coded("access.addresses"))
    if parts.username or parts.password:
        raise BadInput(coded("access.token_in_url"), op="connect", fix=coded("access.put_token", name=TOKEN))
    asked = parse_qs(parts.query)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = urlunsplit((parts.scheme, f"{host}:{port or PORT}", parts.path or "/", "", ""))
    return Address(place, asked.get("agent", [""])[0], asked.get("project", [""])[0])


def find_token(environ: Mapping[str, str] = os.environ, *, file: str = "", home: str = "") -> str:
    """`file` if given, else $PAOS_TOKEN, else the admin's (or the user's) of `home`/auth_tokens.json; "" if none.

    A file may hold the bare token or the JSON of auth_tokens.json. Raises `NotFound` or `BadInput` for a given one.
    """
    if file:
        found = _token_in(file)
        if not found:
            raise BadInput(coded("access.no_token_in"), path=file, op="connect", expected=coded("access.token_or_file"))
        return found
    if environ.get(TOKEN):
        return environ[TOKEN].strip()
    kept = os.path.join(home, "auth_tokens.json") if home else ""
    try:
        return _token_in(kept) if kept else ""
    except NotFound:
        return ""


def home_of(environ: Mapping[str, str] = os.environ) -> str:
    """The home that holds the token of this machine's own server."""
    return os.path.expanduser(environ.get("PAOS_HOME") or "~/.PhyAgentOS")


def _token_in(file: str) -> str:
    text = read_given_file(file, op="connect", most=_TOKENS_MOST).decode("utf-8", "replace").strip()
    if not text.startswith("{"):
        return text.partition("\n")[0].strip()
    try:
        kept = parse_json(text)
    except ValueError:
        return ""
    return as_text(kept.get("admin_token")) or as_text(kept.get("user_token"))
