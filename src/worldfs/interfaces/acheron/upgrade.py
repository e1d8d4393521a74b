"""The WebSocket upgrade: liberal in what it accepts, strict in what it sends (RFC 6455)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from websockets.exceptions import InvalidHeaderValue
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.utils import accept_key

from worldfs.interfaces.web.sign_in import agreed_protocol

_KEY, _VERSION = "Sec-WebSocket-Key", "Sec-WebSocket-Version"
_PLAIN_KEY: Final = "AAAAAAAAAAAAAAAAAAAAAA=="


class Upgrade(ServerProtocol):
    """The library's protocol, which also takes a key that is not 16 bytes of base64, and a request without a version.

    A server need not decode the key (section 4.2.2): it proves that it has read the request by hashing it as it is.
    Real clients send a fixed text.
    """

    def select_subprotocol(self, subprotocols: Sequence[Subprotocol]) -> Subprotocol | None:
        """`acheron` of a browser; a client that offers others is served without one, as before."""
        agreed = agreed_protocol(subprotocols)
        return None if agreed is None else Subprotocol(agreed)

    def process_request(self, request: Request) -> tuple[str, str | None, str | None]:
        keys = request.headers.get_all(_KEY)
        if len(keys) != 1 or not keys[0]:
            return super().process_request(request)  # the library's response names the error
        if not keys[0].isascii():
            raise InvalidHeaderValue(_KEY, keys[0])
        headers = request.headers.copy()
        del headers[_KEY]
        headers[_KEY] = _PLAIN_KEY
        if _VERSION not in headers:
            headers[_VERSION] = "13"
        _, extensions, subprotocol = super().process_request(replace(request, headers=headers))
        return accept_key(keys[0]), extensions, subprotocol
