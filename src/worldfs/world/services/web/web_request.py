"""One request to a web service: bounded in time and size, with precise errors, and without the key in any message.

The time limit holds for the whole request, however slowly the peer sends; a redirect is an error: it would send the
key to another host.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import zlib
from collections.abc import Mapping
from contextlib import suppress
from socket import SHUT_RDWR
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from worldfs import __version__
from worldfs.base.json_text import parse_json
from worldfs.base.model import Json
from worldfs.world.agent_jobs.agent_job import AgentJobContext
from worldfs.world.services.service_tool import ToolError

from .search_backend import SearchSettings

MOST: Final = 2 << 20  # bytes of an answer, also when it is unpacked
ERROR_TEXT_MOST: Final = 300  # characters of a peer's own error text in a message
_LOCAL: Final = frozenset(("localhost", "127.0.0.1", "::1"))
# HTTP status → error code and text.
_MEANING: Final = {
    401: ("unauthorized", "the key was not accepted"),
    403: ("forbidden", "access was refused"),
    429: ("rate_limited", "too many requests, or the plan is used up"),
    432: ("rate_limited", "the plan is used up"),
    433: ("rate_limited", "the plan is used up"),
}


class WebRequest(NamedTuple):
    url: str
    query: Mapping[str, str | int] = {}
    headers: Mapping[str, str] = {}
    body: object = None  # JSON; None: a GET


def fetch_json(settings: SearchSettings, request: WebRequest, run: AgentJobContext) -> object:
    """The JSON of the answer. Raises `ToolError`: unreachable, timeout, too_large, bad_answer, http_error and kin."""
    status, headers, data = _exchange(settings, request, run)
    name = settings.name
    if status != 200:
        raise _refused(settings, status, headers, data)
    try:
        return parse_json(data)
    except ValueError:
        raise ToolError("bad_answer", f"{name} answered with no JSON ({_kind(headers)})") from None


def _exchange(
    settings: SearchSettings, request: WebRequest, run: AgentJobContext
) -> tuple[int, http.client.HTTPMessage, bytes]:
    name, seconds = settings.name, max(0.001, min(settings.timeout_s, run.left()))
    connection, target = _connection(settings, request, seconds)
    late = threading.Event()

    def cut() -> None:
        late.set()
        with suppress(OSError, AttributeError):
            connection.sock.shutdown(SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        with run.stop.calling(cut):
            body = None if request.body is None else json.dumps(request.body).encode()
            headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"worldfs/{__version__}"}
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request("GET" if body is None else "POST", target, body, {**headers, **request.headers})
            answer = connection.getresponse()
            data = answer.read(MOST + 1)
            if late.is_set():
                raise TimeoutError
            if len(data) > MOST:
                raise ToolError("too_large", f"{name} answered with more than {MOST >> 20} MiB")
            return answer.status, answer.headers, _unpacked(name, answer.headers, data)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if run.stop.is_set():
            raise ToolError("cancelled", f"{name} was not waited for") from None
        if late.is_set() or isinstance(error, TimeoutError):
            raise ToolError("timeout", f"{name} did not answer within {seconds:g} s") from None
        if isinstance(error, http.client.HTTPException | ValueError):
            raise ToolError("bad_answer", f"{name} does not speak HTTP: {type(error).__name__}") from None
        raise ToolError("unreachable", f"{name} cannot be reached: {error.strerror or error}") from None
    finally:
        timer.cancel()
        connection.close()


def _connection(
    settings: SearchSettings, request: WebRequest, seconds: float
) -> tuple[http.client.HTTPConnection, str]:
    """The connection, through the system's proxy if there is one, and the request target."""
    try:
        parts = urlsplit(request.url)
        host, port, scheme = parts.hostname or "", parts.port, parts.scheme
    except ValueError:
        host, port, scheme = "", None, ""
    if scheme not in ("http", "https") or not host or parts.username is not None:
        raise ToolError("not_configured", f"webSearch.url of {settings.name} is no http(s) address without a login")
    target = parts.path or "/"
    words = "&".join(text for text in (parts.query, urlencode(request.query)) if text)
    target = f"{target}?{words}" if words else target
    proxy = None if host in _LOCAL or proxy_bypass(host) else getproxies().get(scheme)
    secure = scheme == "https"
    if proxy is None:
        if secure:
            return http.client.HTTPSConnection(host, port, timeout=seconds, context=_context()), target
        return http.client.HTTPConnection(host, port, timeout=seconds), target
    way = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if secure:
        tunnel = http.client.HTTPSConnection(way.hostname or "", way.port, timeout=seconds, context=_context())
        tunnel.set_tunnel(host, port)
        return tunnel, target
    return http.client.HTTPConnection(way.hostname or "", way.port, timeout=seconds), f"http://{parts.netloc}{target}"


def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _unpacked(name: str, headers: http.client.HTTPMessage, data: bytes) -> bytes:
    if headers.get("Content-Encoding", "identity").strip().lower() not in ("gzip", "x-gzip"):
        return data
    unpack = zlib.decompressobj(wbits=31)
    try:
        plain = unpack.decompress(data, MOST + 1)
    except zlib.error:
        raise ToolError("bad_answer", f"{name} answered with damaged gzip") from None
    if len(plain) > MOST:
        raise ToolError("too_large", f"{name} answered with more than {MOST >> 20} MiB")
    return plain


def _refused(settings: SearchSettings, status: int, headers: http.client.HTTPMessage, data: bytes) -> ToolError:
    name = settings.name
    if 300 <= status < 400:
        return ToolError(
            "http_error", f"{name} answered {status}: it redirects; set webSearch.url to the final address"
        )
    code, why = _MEANING.get(status, ("http_error", http.client.responses.get(status, "")))
    peer = _peer_error(data)
    said = _said(peer)
    if settings.key:
        said = said.replace(settings.key, "***")
    after = headers.get("Retry-After", "")
    wait = f"; again in {after} s" if code == "rate_limited" and after.isdecimal() and len(after) < 7 else ""
    text = f"{name} answered {status}: {': '.join(word for word in (why, said) if word)}{wait}"
    return ToolError(code, text, peer_code=str(peer.get("code", "")))


def _peer_error(data: bytes) -> Json:
    """The peer's error, if it is JSON; nothing for HTML."""
    try:
        value = parse_json(data)
    except ValueError:
        return {}
    for key in ("error", "detail"):  # tavily has detail.error, brave error.code and error.detail
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value = value[key]
    return value if isinstance(value, dict) else {}


def _said(value: Json) -> str:
    words = (value.get(key) for key in ("code", "error", "detail", "message"))
    return " ".join(" ".join(word for word in words if isinstance(word, str)).split())[:ERROR_TEXT_MOST]


def _kind(headers: http.client.HTTPMessage) -> str:
    return headers.get_content_type()
