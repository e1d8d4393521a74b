"""Pairing as files: pending join requests, active invites, and the last decisions (004; reference 4.7)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from worldfs.access.binding import Binding
from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import compact_json, parse_json
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import FileBehaviour, Names

from ..namespace_ports import PlaneReader
from .bound_file import BoundFile, ViewContext

Json = dict[str, object]
TOPIC: Final = "/debug/pairing"
_SECRET: Final = frozenset({"node_secret", "lease_token"})  # the node fetches its own (acheron D15, D35)
_OPTIONS: Final = {"include_redeemed": "redeemed", "include_expired": "expired"}
PlaneCall = Callable[[str, Json, Binding, str], Json]  # op, payload, binding, correlation


class PairingAction(NamedTuple):
    queue: str  # pending | invites
    op: str = ""  # of the control plane; "": refresh


ACTIONS: Final = {
    "approve": PairingAction("pending", "node_join_approve"),
    "deny": PairingAction("pending", "node_join_deny"),
    "refresh": PairingAction("pending"),
    "invites_create": PairingAction("invites", "node_invite_create"),
    "invites_refresh": PairingAction("invites"),
}


class PairingControl:
    """The last decisions of one home; the control plane keeps the queues."""

    def __init__(self, plane: PlaneReader, call: PlaneCall, clock: Clock, feed: ChangeFeed) -> None:
        self._plane, self._call, self._clock, self._feed = plane, call, clock, feed
        self._lock = threading.Lock()
        self._results: dict[str, bytes] = {}
        self._errors: dict[str, bytes] = {}
        self._options: dict[str, bool] = {}
        self._numbers = itertools.count(1)

    def pending(self) -> bytes:
        return compact_json({"pending": self._plane.pending()})

    def invites(self) -> bytes:
        return compact_json({"invites": self._plane.invites(**self._options)})

    def result(self, queue: str) -> bytes:
        return self._results.get(queue, b'{"status":"idle"}')

    def error(self, queue: str) -> bytes:
        return self._errors.get(queue, b"null")

    def act(self, name: str, data: bytes, binding: Binding, ask: WriteContext) -> None:
        """Raises `BadInput` with the error's name when it was refused; both files then hold it (acheron D33)."""
        action = ACTIONS[name]
        correlation = ask.correlation or f"pairing-{next(self._numbers)}"
        at = int(self._clock.now().timestamp() * 1000)
        try:
            response = self._run(action, data, binding, correlation)
        except WorldError as error:
            word = _word(error)
            text = compact_json({"ok": False, "action": name, "error": word, "at_ms": at})
            self._keep(action.queue, text, text)
            raise BadInput(word, path=TOPIC, op=name, actor=ask.actor, code="invalid") from error
        self._keep(
            action.queue, compact_json({"ok": True, "action": name, "at_ms": at, "response": _shown(response)}), b"null"
        )

    def _run(self, action: PairingAction, data: bytes, binding: Binding, correlation: str) -> Json:
        if action.op:
            return self._call(action.op, _payload(data), binding, correlation)
        if action.queue == "pending":
            return {"pending": self._plane.pending()}
        try:
            asked = _payload(data)
        except BadInput:  # any content refreshes; only an object has options (acheron D34)
            asked = {}
        with self._lock:
            self._options = {option: asked.get(name) is True for name, option in _OPTIONS.items()}
        return {"invites": self._plane.invites(**self._options)}

    def _keep(self, queue: str, result: bytes, error: bytes) -> None:
        with self._lock:
            self._results[queue], self._errors[queue] = result, error
        self._feed.publish(TOPIC)


def _payload(data: bytes) -> Json:
    text = data.strip()
    if not text:
        return {}
    try:
        value = parse_json(text)
    except ValueError as error:
        raise BadInput("SyntaxError", code="syntax_error") from error
    if not isinstance(value, dict):
        raise BadInput("InvalidPayload", code="invalid_payload")
    return value


def _word(error: WorldError) -> str:
    """An error's name as the protocol's files spell it: "PendingJoinNotFound"."""
    return "".join(part.capitalize() for part in error.code.split("_")) if error.code.islower() else "InvalidPayload"


def _shown(value: object) -> object:
    """The value without the secrets that only the node itself gets."""
    if isinstance(value, Mapping):
        return {key: None if key in _SECRET else _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value


class PairingContext(ViewContext, Protocol):
    @property
    def pairing(self) -> PairingControl: ...


def views(context: PairingContext) -> dict[str, FileBehaviour]:
    return {
        # The log of pushes belongs to a connection: an interface that pushes serves its own log there.
        "stream_log": PairingFile(context, lambda names: b""),
        "pairing_pending": PairingFile(context, lambda names: context.pairing.pending()),
        "pairing_active": PairingFile(context, lambda names: context.pairing.invites()),
        "pairing_result": PairingFile(context, lambda names: context.pairing.result(names["queue"])),
        "pairing_error": PairingFile(context, lambda names: context.pairing.error(names["queue"])),
        "pairing_control": PairingActionFile(context),
    }


class PairingFile(BoundFile):
    def __init__(self, context: ViewContext, render: Callable[[Names], bytes]) -> None:
        super().__init__(context)
        self._render = render

    def read(self, names: Names) -> bytes:
        return self._render(names)


class PairingActionFile(BoundFile):
    """Reads empty: a payload may hold the operator's token."""

    light = False  # a decision of the control plane is durable first

    def __init__(self, context: PairingContext) -> None:
        super().__init__(context)
        self._pairing = context.pairing

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        self._pairing.act(names["action"], data, self.context.visible.binding, ask)
