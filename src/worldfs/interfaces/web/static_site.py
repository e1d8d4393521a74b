"""The page's static files over plain HTTP: content types, validators, compression, a strict content security policy.

No file holds a secret, so none needs a token: everything that the page shows it reads over the WebSocket, as its
token may.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

STATIC: Final = Path(__file__).parent / "static"
INDEX: Final = "/index.html"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".md": "text/plain; charset=utf-8",
    "": "text/plain; charset=utf-8",  # LICENSE, SHA256SUMS
}
PARTS: Final = (".js", ".mjs", ".css", ".png")  # of a page: browsers ask the page for its policy, and not them
_IMPORT_MAP: Final = re.compile(rb'<script type="importmap">(.*?)</script>', re.S)
_LEVEL: Final = 9  # once a file and a process: all of them take 60 ms
_METHODS: Final = ("GET", "HEAD")


class StaticFile(NamedTuple):
    """A file as it is sent. `compressed` is `plain` where compression gains nothing."""

    kind: str
    part: bool
    tag: str
    plain: bytes
    compressed: bytes


class StaticSite:
    """The files below a directory, each read and compressed when it is first asked for. Only the names that were there
    when the site was made exist: no request's path ever reaches the file system."""

    def __init__(self, directory: Path = STATIC) -> None:
        self._paths = dict(_paths(directory))
        self._files: dict[str, StaticFile] = {}
        self._rules = {
            "Content-Security-Policy": content_security_policy(self._paths[INDEX].read_bytes()),
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
        }

    def page(self, request: Request) -> Response | None:
        """None: the request is for the WebSocket side, or no file of the page."""
        if "Upgrade" in request.headers:
            return None
        name = _name(request.path)
        if name not in self._paths:
            return None
        if request.method not in _METHODS:
            return self._response(HTTPStatus.METHOD_NOT_ALLOWED, {**self._rules, "Allow": "GET, HEAD"}, b"")
        return self._answer(request, self._file(name))

    def _answer(self, request: Request, file: StaticFile) -> Response:
        packed = file.compressed is not file.plain and _accepts_gzip(request.headers)
        body = file.compressed if packed else file.plain
        tag = f'"{file.tag}{"-gz" if packed else ""}"'
        headers = {"ETag": tag, "Vary": "Accept-Encoding", "Cache-Control": "no-cache"}
        if _matches(request.headers, file.tag):
            return self._response(HTTPStatus.NOT_MODIFIED, headers, None)
        headers |= {} if file.part else self._rules
        headers |= {"Content-Type": file.kind, "Content-Length": str(len(body))}
        headers |= {"Content-Encoding": "gzip"} if packed else {}
        return self._response(HTTPStatus.OK, headers, b"" if request.method == "HEAD" else body)

    def _response(self, status: HTTPStatus, headers: dict[str, str], body: bytes | None) -> Response:
        everywhere = {"X-Content-Type-Options": "nosniff", "Connection": "close"}
        if body == b"" and "Content-Length" not in headers:
            headers = {**headers, "Content-Length": "0"}
        return Response(status.value, status.phrase, Headers({**everywhere, **headers}), body or b"")

    def _file(self, name: str) -> StaticFile:
        found = self._files.get(name)
        if found is None:
            found = self._files[name] = read_static_file(self._paths[name])
        return found

    def gzip_bytes(self) -> int:
        """Bytes of all files as a browser receives them."""
        return sum(len(self._file(name).compressed) for name in self._paths if _is_sent(name))


def read_static_file(path: Path) -> StaticFile:
    plain = path.read_bytes()
    packed = gzip.compress(plain, _LEVEL, mtime=0)
    tag = hashlib.sha256(plain).hexdigest()[:32]
    smaller = packed if len(packed) < len(plain) else plain
    return StaticFile(TYPES[path.suffix], path.suffix in PARTS, tag, plain, smaller)


def content_security_policy(index: bytes) -> str:
    """Nothing but the page's own files, and its one inline script, the import map, by hash (CSP level 3)."""
    found = _IMPORT_MAP.search(index)
    assert found is not None  # index.html is ours
    digest = base64.b64encode(hashlib.sha256(found.group(1)).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _paths(directory: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.suffix in TYPES and not path.is_symlink():
            yield "/" + path.relative_to(directory).as_posix(), path


def _name(target: str) -> str:
    path = target.partition("?")[0]
    return INDEX if path == "/" else path


def _is_sent(name: str) -> bool:
    """Whether a browser loads the file; licences and notes are for people."""
    return Path(name).suffix not in ("", ".md")


def _accepts_gzip(headers: Headers) -> bool:
    for coding in ",".join(headers.get_all("Accept-Encoding")).split(","):
        name, _, quality = coding.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _matches(headers: Headers, tag: str) -> bool:
    for given in ",".join(headers.get_all("If-None-Match")).split(","):
        if given.strip().removeprefix("W/").strip('"').removesuffix("-gz") == tag or given.strip() == "*":
            return True
    return False
