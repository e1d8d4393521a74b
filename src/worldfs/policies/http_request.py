"""A request of HTTP/1.1, read from a line: its head, and a body of bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .deadline_socket import DeadlineSocket

MOST_HEAD = 64 * 1024
BODY_S = 30.0  # for a body to come whole


class BadRequest(Exception):
    """A request that is refused; `status`: of the response."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`head`: the bytes as they came, up to and with the empty line; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    head: bytes
    keeps: bool

    @property
    def upgrades(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"


def read_request(line: DeadlineSocket, rest: bytes, most: int) -> tuple[HttpRequest | None, bytes]:
    """The next request and what came after it; None when the peer has ended. `rest`: what came before."""
    data = bytearray(rest)
    while (end := data.find(b"\r\n\r\n")) < 0:
        if len(data) > MOST_HEAD:
            raise BadRequest(431, "a head that does not end")
        piece = line.receive()
        if not piece:
            return None, b""
        data += piece
    head = bytes(data[: end + 4])
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400, "no HTTP/1.1")
    headers: dict[str, str] = {}
    for text in lines:
        name, colon, value = text.partition(":")
        if (
            not colon
            or name != name.strip()
            or (name.lower() in ("content-length", "transfer-encoding") and name.lower() in headers)
        ):
            raise BadRequest(400, "a header that is none")
        headers[name.lower()] = value.strip()
    if "transfer-encoding" in headers:
        raise BadRequest(411, "send Content-Length")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or not length.isascii():
        raise BadRequest(400, f"a length of {length!r}")
    if int(length) > most:
        raise BadRequest(413, f"a body of {length} bytes; at most {most}")
    size = int(length)
    if size and headers.get("expect", "").lower() == "100-continue":
        line.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    line.within(BODY_S)
    stop = len(head) + size
    while len(data) < stop:
        piece = line.receive()
        if not piece:
            return None, b""
        data += piece
    connection = headers.get("connection", "").lower()
    keeps = "close" not in connection and (words[2] == "HTTP/1.1" or "keep-alive" in connection)
    path = words[1].partition("?")[0]
    return HttpRequest(words[0], path, headers, bytes(data[len(head) : stop]), head, keeps), bytes(data[stop:])
