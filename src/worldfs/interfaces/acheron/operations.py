"""The operations of the acheron channel: from a frame's fields to a verb, and from the verb's result to the reply's
payload.

Source: acheron §2. `version` and `flush` concern the connection and are in peer.py.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Final, Protocol

from worldfs.base.errors import BadInput, Conflict, MissingRequirement, UserError
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import LANGUAGES, render
from worldfs.formats.wire.frames import Frame, encode_base64, write
from worldfs.namespace.bound_tree import BoundNode
from worldfs.namespace.verbs import Verbs
from worldfs.storage.store_interface import ANY, Expected
from worldfs.tree.verb_values import Stat

IOUNIT: Final = 65_536
REPEAT_MAX: Final = 64  # replies to one read

Answer = dict[str, object]


class RequestContext(Protocol):
    """One request of a peer, as an operation sees it."""

    @property
    def data(self) -> bytes | None:
        """What the frame carries, decoded."""
        ...

    @property
    def max_bytes(self) -> int:
        """Bytes that fit into one reply."""
        ...

    def has_extension(self, extension: str) -> bool:
        """Whether client and server agreed on this protocol extension."""
        ...

    def defer(self) -> None:
        """From now on the request waits, and later requests do not wait for it."""
        ...

    def reply(self, answer: Answer) -> bool:
        """Send an answer that others follow. False: the peer does not read, and nothing is sent."""
        ...

    def count_write(self, answer: Answer) -> None:
        """Count a write that started a job."""
        ...


Operation = Callable[[Verbs, Frame, RequestContext], Coroutine[object, object, Answer]]


def _qid(node: BoundNode) -> Answer:
    return {"path": node.id, "type": "dir" if node.directory else "file"}


def _needed(value: int | None, name: str) -> int:
    if value is None:
        raise BadInput(coded("access.required", name=name), code="invalid")
    return value


async def _attach(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    return {"qid": _qid(await verbs.attach(_needed(frame.fid, "fid")))}


async def _walk(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    names = frame.path or ()
    found = await verbs.walk(_needed(frame.fid, "fid"), _needed(frame.newfid, "newfid"), names)
    return {"qid": _qid(found), "walked": len(names)}


async def _open(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    stage = frame.stage is True
    truncate = stage or (frame.truncate is True and request.has_extension("truncate"))
    found = await verbs.open(frame.fid, "r" if frame.mode is None else frame.mode, stage=stage, truncate=truncate)
    return {"qid": _qid(found), "iounit": IOUNIT}


async def _create(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    """Extension: a new file (or, mode "dir", a directory) in the directory of `fid`; `path` holds its one name."""
    fid, newfid = _needed(frame.fid, "fid"), _needed(frame.newfid, "newfid")
    (name,) = _names(frame, 1)
    return {"qid": _qid(await verbs.create(fid, newfid, name, directory=frame.mode == "dir"))}


async def _remove(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    """Extension: remove a file, or an empty directory, of the one name in `path`, in the directory of `fid`."""
    (name,) = _names(frame, 1)
    await verbs.remove(_needed(frame.fid, "fid"), name)
    return {}


async def _rename(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    """Extension: the first name of `path` in the directory of `fid` becomes the second one in that of `newfid`."""
    old, new = _names(frame, 2)
    fid = _needed(frame.fid, "fid")
    await verbs.rename(fid, old, fid if frame.newfid is None else frame.newfid, new)
    return {}


async def _setattr(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    """Ours: the attributes that the payload names. With `times` agreed on, the answer says which of them are kept."""
    asked, times = frame.body(), request.has_extension("times")
    able = ("size", "mtime_ms", "mode") if times else ("size",)
    others = sorted(asked.keys() - set(able))
    if others:
        message = coded("access.not_settable", names=[*others], able=" and ".join(f"`{name}`" for name in able))
        raise MissingRequirement(message, op="setattr", code="unsupported")
    if not asked or not all(isinstance(value, int) and not isinstance(value, bool) for value in asked.values()):
        raise BadInput(coded("access.whole_number", names=[*asked] or "size"), op="setattr", code="invalid")
    fid, kept = _needed(frame.fid, "fid"), []
    if "size" in asked:
        await verbs.truncate(fid, asked["size"])
        kept.append("size")
    if asked.keys() - {"size"} and await verbs.touch(fid, asked.get("mtime_ms")):
        kept.append("mtime_ms")
    return {"kept": kept} if times else {}


def _names(frame: Frame, count: int) -> list[str]:
    names = frame.path or []
    if len(names) != count:
        raise BadInput(coded("access.path_name" if count == 1 else "access.path_names", n=count), code="invalid")
    return names


async def _read(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    count = IOUNIT if frame.count is None else frame.count
    lines = None
    if frame.stats is True:
        lines = _line_with_attributes if request.has_extension("attributes") else _line
    most, replies = min(count, request.max_bytes), _replies(frame, request)
    data, end = await verbs.read(frame.fid, frame.offset or 0, most, frame.wait_ms, request.defer, lines=lines)
    answer = _content(data, end)
    if replies > 1 and end and verbs.repeats(frame.fid) and request.reply(answer):

        def send(data: bytes) -> bool:
            return len(data) <= most and request.reply(_content(data, True))

        timeout = None if frame.wait_ms is None else frame.wait_ms / 1000
        data = await verbs.read_on(frame.fid, replies - 1, timeout, request.defer, send)
        answer = _content(data[:most], len(data) <= most)
    return answer


def _content(data: bytes, end: bool) -> Answer:
    return {"data_b64": encode_base64(data), "n": len(data), "eof": end}


def _replies(frame: Frame, request: RequestContext) -> int:
    """Extension: how many replies the read may have. Each but the last says `more`."""
    if frame.repeat is None or frame.offset or frame.wait_ms == 0 or not request.has_extension("repeat"):
        return 1
    return min(frame.repeat, REPEAT_MAX)


async def _write(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    if request.data is None:
        raise BadInput(coded("access.write_data"), code="invalid")
    correlation = frame.correlation_id or frame.id or ""
    compares = frame.revision is not None and request.has_extension("revision")
    expect: Expected = frame.revision if compares and frame.revision is not None else ANY
    try:
        done = await verbs.write(frame.fid, frame.offset or 0, request.data, correlation, request.defer, expect=expect)
    except Conflict as error:
        error.code = "conflict" if compares else error.code
        raise
    answer: Answer = {"n": done.n, **done.extra}
    if done.revision and request.has_extension("revision"):
        answer["revision"] = done.revision
    request.count_write(answer)
    return answer


async def _stat(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    found = await verbs.stat(frame.fid)
    attributes = request.has_extension("attributes")
    line = _entry_line(found, attributes)
    if found.real and attributes:
        line["real"] = found.real
    if found.revision and request.has_extension("revision"):
        line["revision"] = found.revision
    if not found.directory and not found.writable and request.has_extension("why"):
        refused = await verbs.refusal(frame.fid)
        if refused is not None:
            line["why"] = _in_each_language(refused)
    return line


def _in_each_language(error: UserError) -> Answer:
    """The finding, the roles that may do it, and the fix, as one text a language."""
    parts = [part for part in (error.found, error.expected, error.fix) if part]
    return {language: "; ".join(render(part, language) for part in parts) for language in LANGUAGES}


def _line(found: Stat) -> bytes:
    return write(_entry_line(found))


def _line_with_attributes(found: Stat) -> bytes:
    return write(_entry_line(found, True))


def _entry_line(found: Stat, attributes: bool = False) -> Answer:
    more = {"mtime_ms": found.mtime_ms} if attributes and found.mtime_ms else {}
    return {
        "id": found.id,
        "name": found.name,
        "kind": "dir" if found.directory else "file",
        "size": found.size,
        "mode": found.mode,
        "writable": found.writable,
        **more,
    }


async def _clunk(verbs: Verbs, frame: Frame, request: RequestContext) -> Answer:
    await verbs.clunk(frame.fid)
    return {}


# Operations of clients that named them in t_version; for all other clients they do not exist.
AGREED: Final = frozenset({"remove", "rename", "setattr"})
OPERATIONS: Final[dict[str, tuple[str, Operation]]] = {
    f"acheron.t_{name}": (name, operation)
    for name, operation in (
        ("attach", _attach),
        ("walk", _walk),
        ("open", _open),
        ("read", _read),
        ("write", _write),
        ("stat", _stat),
        ("create", _create),
        ("remove", _remove),
        ("rename", _rename),
        ("setattr", _setattr),
        ("clunk", _clunk),
    )
}
