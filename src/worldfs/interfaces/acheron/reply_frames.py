"""The frames that the server sends: prepared heads, one encoder, keys in the recorded order.

Source: acheron §1.3.
"""

from __future__ import annotations

from typing import Final

import msgspec

from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.messages import as_plain
from worldfs.formats.wire.error_codes import code_of
from worldfs.formats.wire.frames import ACHERON, BadFrame

_ENCODE: Final = msgspec.json.Encoder(enc_hook=as_plain).encode
GATES: Final = frozenset({
    "runtime_warming", "queue_saturated", "execution_failed", "invalid_agent", "invalid_project", "forbidden",
    "provisioning_required", "last_target_invalid", "session_not_found", "protocol_mismatch", "conflict",
})  # fmt: skip
"""Codes of the protocol that name no error of a file."""
UNSUPPORTED: Final = "unsupported acheron operation"


def acheron(op: str, tag: int | None, payload: object) -> bytes:
    head = b'{"channel":"acheron","type":"acheron.r_' + op.encode()
    if tag is None:
        return head + b'","ok":true,"payload":' + _ENCODE(payload) + b"}"
    return head + b'","tag":%d,"ok":true,"payload":' % tag + _ENCODE(payload) + b"}"


def acheron_error(tag: int | None, code: str, message: str) -> bytes:
    head = b'{"channel":"acheron","type":"acheron.error"'
    if tag is not None:
        head += b',"tag":%d' % tag
    return head + b',"ok":false,"error":' + _ENCODE({"code": code, "message": message}) + b"}"


def control(op: str, id: str | None, payload: object) -> bytes:
    frame: dict[str, object] = {"channel": "control", "type": f"control.{op}"}
    if id is not None:
        frame["id"] = id
    return _ENCODE({**frame, "ok": True, "payload": payload})


def control_error(
    id: str | None, code: str, message: str, correlation: str | None = None, *, named: bool = False
) -> bytes:
    """`named`: the error names the correlation id, null included (operations of the control plane)."""
    frame: dict[str, object] = {"channel": "control", "type": "control.error"}
    if id is not None:
        frame["id"] = id
    error: dict[str, object] = {"code": code, "message": message}
    if named:
        error["correlation_id"] = correlation
    return _ENCODE({**frame, "ok": False, "error": error})


def malformed(bad: BadFrame) -> bytes:
    """The answer to a malformed message, with its tag or its id where one could be read.

    The reference names neither; a client that waits for its tag would hang.
    """
    if bad.channel == ACHERON and bad.tag is not None:
        if str(bad) == "UnsupportedType":
            return acheron_error(bad.tag, "unsupported", UNSUPPORTED)
        return acheron_error(bad.tag, "invalid_envelope", str(bad))
    return control_error(bad.id, "invalid_envelope", str(bad))


def service_event(payload: bytes) -> bytes:
    """A push to a watcher of services; `payload` is JSON already."""
    return b'{"channel":"control","type":"control.node_service_event","ok":true,"payload":' + payload + b"}"


def debug(category: str, request: str, payload: object, now_ms: int) -> bytes:
    """The older shape, in which debug frames are sent."""
    return _ENCODE(
        {"type": "debug.event", "request": request, "category": category, "payload": payload, "timestamp": now_ms}
    )


def rejection_frame(code: str, message: str, now_ms: int) -> bytes:
    """The only frame of a rejected connection."""
    return _ENCODE({"type": "error", "request": "unknown", "code": code, "message": message, "timestamp": now_ms})


def now_ms(clock: Clock) -> int:
    return int(clock.now().timestamp() * 1000)


def error_fields(error: WorldError) -> tuple[str, str]:
    """The code and the message of an error: what was found, what was expected, the fix."""
    code = error.code if error.code in GATES else code_of(error)
    text = error.found
    if error.expected:
        text += f"; expected {error.expected}"
    if error.fix:
        text += f"; {error.fix}"
    return code, text
