"""The server's own exports, if its operator configured any: HOME/exports.json, private because it holds their token.

{"token": "…", "exports": [{"name": "work", "path": "/srv/work", "ro": true}]}
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

from worldfs import __version__
from worldfs.base.durable import Root
from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.plugins.node_fs.directory_source import DirectorySource
from worldfs.plugins.node_fs.fs_server import FsServer

FILE: Final = "exports.json"
TOKEN_LEAST: Final = 16  # characters; shorter ones can be guessed
PATIENCE: Final = 10.0  # s for a hello
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")


def own_exports(home: Path) -> FsServer:
    """Without a file: no exports and no access. Raises `BadInput` for an invalid file."""
    data = Root(home).read(FILE) if home.is_dir() else None
    if data is None:
        return FsServer((), "", name="worldfs", version=__version__, patience=PATIENCE)
    where = str(home / FILE)
    if (home / FILE).stat().st_mode & 0o077:
        raise BadInput(coded("access.open_token"), path=where, op="serve", fix=f"chmod 600 {shlex.quote(where)}")
    try:
        value: object = parse_json(data)
    except ValueError as error:
        raise BadInput(coded("file.not_json", why=str(error)), path=where, op="serve") from None
    said = as_object(value)
    token = said.get("token")
    if not isinstance(token, str) or len(token) < TOKEN_LEAST:
        raise BadInput(
            coded("access.token_missing"), path=where, op="serve", expected=coded("access.token_least", n=TOKEN_LEAST)
        )
    shown = said.get("exports")
    if not isinstance(shown, list) or not all(_fits(one) for one in shown):
        raise BadInput("exports", path=where, op="serve", expected=coded("access.export_list"))
    sources = [
        DirectorySource(one["name"], str(home / one["path"]), ro=one.get("ro", True), index=index)
        for index, one in enumerate(shown)
    ]
    return FsServer(sources, token, name="worldfs", version=__version__, patience=PATIENCE)


def _fits(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("path"), str)
        and isinstance(one.get("ro", True), bool)
        and isinstance(one.get("name"), str)
        and _NAME.fullmatch(one["name"]) is not None
        and one["name"].strip(".") != ""
    )
