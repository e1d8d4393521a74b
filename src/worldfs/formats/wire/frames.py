"""The frames of the Acheron protocol: one JSON object a message, read strictly, written one way.

Source: acheron §1.3 (envelope) and 7 (node FS). Both ends use this module.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from worldfs.base.json_text import brackets, nests_deeper
from worldfs.base.messages import as_plain

UNSET: Final = msgspec.UNSET
Json = dict[str, Any]

CONTROL: Final = "control"
ACHERON: Final = "acheron"
U32: Final = 2**32 - 1
U64: Final = 2**64 - 1
DEPTH_MOST: Final = 100  # containers in containers of a message, itself included (acheron D50)
Small = Annotated[int, msgspec.Meta(ge=0, le=U32)] | None
Large = Annotated[int, msgspec.Meta(ge=0)] | None  # to 2**64 - 1, which the decoder's own limits cannot say


class Frame(msgspec.Struct, omit_defaults=True):
    """A request, a reply or a push; `None` stands for a key that is not there. Unknown keys are ignored."""

    channel: str
    type: str
    id: str | None = None
    correlation_id: str | None = None
    session_key: str | None = None
    tag: Small = None
    oldtag: Small = None
    fid: Small = None
    newfid: Small = None
    count: Small = None
    msize: Small = None
    node: Large = None
    h: Large = None
    offset: Large = None
    wait_ms: Small = None
    mode: str | None = None
    version: str | None = None
    path: list[str] | None = None
    extensions: list[str] | None = None  # of t_version: words beyond the reference's that are understood
    stage: bool | None = None  # of t_open: what is written is one content, given when the fid is clunked
    truncate: bool | None = None  # of t_open: what was there is gone with the first write, or with the clunk
    stats: bool | None = None  # of t_read of a directory: a line of JSON for each name, as t_stat says it
    repeat: Small = None  # of t_read: so many replies, each once there is something new
    revision: str | None = None  # of t_write: refused unless this is what is stored
    data: str | None = None
    data_b64: str | None = None
    payload: msgspec.Raw = msgspec.Raw()
    ok: bool | None = None
    error: Json | None = None

    def body(self) -> Json:
        """The payload as an object; `{}` when there is none. Raises `BadFrame`."""
        raw = bytes(self.payload)
        if not raw or raw == b"null":
            return {}
        value = decode(raw)
        if not isinstance(value, dict):
            raise BadFrame("InvalidType")
        return value

    def bytes(self) -> bytes | None:
        """What a write carries: `data_b64` decoded, else `data` as UTF-8, else None. Raises `BadFrame`."""
        if self.data_b64 is not None:
            try:
                return decode_base64(self.data_b64)
            except BadFrame as bad:
                raise self.bad(str(bad)) from None
        return None if self.data is None else self.data.encode()

    def bad(self, word: str) -> BadFrame:
        """The error of this frame, naming it."""
        return BadFrame(word, self.channel, self.tag, self.id)


class BadFrame(Exception):
    """A message that is no frame. The text is one of the protocol's five words.

    `channel`, `tag` and `id` are what could be read of the message, so that its sender finds the error it caused.
    """

    def __init__(self, word: str, channel: str = "", tag: int | None = None, id: str | None = None) -> None:
        super().__init__(word)
        self.channel, self.tag, self.id = channel, tag, id


_DECODER: Final = msgspec.json.Decoder(Frame)
_ENCODER: Final = msgspec.json.Encoder(enc_hook=as_plain)
# All that decoding can raise: ValueError is the parent of msgspec's errors and of UnicodeDecodeError.
_UNDECODED: Final = (ValueError, RecursionError)


def read(text: str | bytes) -> Frame:
    """One message. Raises `BadFrame`: SyntaxError, MissingField, InvalidType, UnsupportedType.

    A message that nests deeper than `DEPTH_MOST` is a SyntaxError.
    """
    if brackets(text) > DEPTH_MOST:
        decode(text)  # the decoder of a frame skips over a payload
    try:
        if isinstance(text, bytes) and not text.isascii():
            text.decode()  # the decoder skips over a payload without looking at its bytes
        frame = _DECODER.decode(text)
    except msgspec.ValidationError as error:
        # The decoder stops at the first wrong value: what follows may be no JSON at all.
        word = "MissingField" if "missing required field" in str(error) else "InvalidType"
        raise _bad(word, decode(text)) from None
    except _UNDECODED:
        raise BadFrame("SyntaxError") from None
    if (frame.offset or 0) > U64 or (frame.node or 0) > U64 or (frame.h or 0) > U64:
        raise frame.bad("InvalidType")
    if frame.channel not in (CONTROL, ACHERON) or not frame.type.startswith(frame.channel + "."):
        raise frame.bad("UnsupportedType")
    return frame


def decode(text: str | bytes) -> Any:
    """Any JSON value. Raises `BadFrame` ("SyntaxError") for what is none, too large or deeper than `DEPTH_MOST`."""
    try:
        value = msgspec.json.decode(text)
    except _UNDECODED:
        raise BadFrame("SyntaxError") from None
    if nests_deeper(text, value, DEPTH_MOST):
        raise BadFrame("SyntaxError")
    return value


def _bad(word: str, value: object) -> BadFrame:
    """The error for a JSON value that is no frame, with what names it."""
    if not isinstance(value, dict):
        return BadFrame(word)
    channel, tag, id = value.get("channel"), value.get("tag"), value.get("id")
    numbered = isinstance(tag, int) and not isinstance(tag, bool) and 0 <= tag <= U32
    return BadFrame(
        word,
        channel if isinstance(channel, str) else "",
        tag if numbered else None,
        id if isinstance(id, str) else None,
    )


def write(value: Mapping[str, Any] | msgspec.Struct) -> bytes:
    """The bytes of a frame, compact; keys in the order given."""
    return _ENCODER.encode(value)


def encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def decode_base64(text: str) -> bytes:
    """Raises `BadFrame` ("InvalidBase64")."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadFrame("InvalidBase64") from None
