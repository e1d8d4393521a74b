"""GR00T's ZeroMQ service (Isaac-GR00T, gr00t/policy/server_client.py): one msgpack map there, one back.

The server first names its videos, states and actions (`get_modality_config`). `kill` is never sent.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.extras import needs
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from . import policy_errors
from .arrays import KINDS, is_picture, npy_array
from .endpoint import endpoint, max_answer_bytes, secret
from .msgpack_arrays import read_msgpack
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from .policy_contract import rename_observations

if TYPE_CHECKING:
    import zmq

SCHEMES = {"tcp": 5555}
LOOK_UP_S = 0.05  # how often a wait checks for `close`
RESET_S = 5.0
_REFUSED = {"CONNECT_RETRIED": "nothing listens there", "CLOSED": "nothing listens there"}
_DROPPED = {"DISCONNECTED": "the connection was dropped (or the answer is larger than policy_client.max_bytes)"}


@dataclass(frozen=True, slots=True)
class Modalities:
    """Names by modality, in the server's order; `deltas`: how many frames of it are sent."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deltas: Mapping[str, int] = field(default_factory=dict)


def client(spec: PolicySpec, clock: Clock) -> Gr00tPolicy:
    return Gr00tPolicy(spec, clock)


class Gr00tPolicy:
    """`policy_client: {type: gr00t, endpoint: tcp://HOST:5555, observations: {rgb.front: video.front, …}}`.

    Names of theirs are `video.KEY` and `state.KEY`; actions are joined in the server's order of keys, or that of
    `policy_client.actions: [KEY, …]`.
    """

    def __init__(self, spec: PolicySpec, clock: Clock) -> None:
        with needs("policies", op="open a policy"):
            import msgpack
            import zmq
        self.spec, self._clock = spec, clock
        self._zmq, self._msgpack = zmq, msgpack
        self._where = endpoint(spec, SCHEMES, "")
        self._token, self._most = secret(spec), max_answer_bytes(spec)
        self._context: zmq.Context[zmq.Socket[bytes]] | None = None
        self._socket: zmq.Socket[bytes] | None = None
        self._modalities: Modalities | None = None
        self._monitor: zmq.Socket[bytes] | None = None  # reports the connection's events
        self._closed = self._busy = False

    def connect(self, timeout_s: float) -> PolicyInfo:
        self._closed = False
        deadline = self._clock.monotonic() + timeout_s
        self._call("ping", None, deadline, timeout_s, found="no answer to a ping")
        if self._modalities is None:
            self._modalities = self._read(self._call("get_modality_config", None, deadline, timeout_s))
        modalities = self._modalities
        observations = {f"video.{key}": ((0, 0, 3), "uint8") for key in modalities.keys.get("video", ())}
        info = PolicyInfo(
            "gr00t", observations={}, horizon=modalities.deltas.get("action", 0),
            extra={"modalities": dict(modalities.keys), "videos": list(observations)},
        )  # fmt: skip
        return rename_observations(info, self.spec)

    def reset(self) -> None:
        if self._modalities is not None:
            self._call("reset", {"options": None}, self._clock.monotonic() + RESET_S, RESET_S)

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        deadline = self._clock.monotonic() + timeout_s
        if self._modalities is None:
            self.connect(timeout_s)
        assert self._modalities is not None
        request = self._observation_json(observation, words, self._modalities)
        answer = self._call("get_action", {"observation": request, "options": None}, deadline, timeout_s)
        with policy_errors.of_server(self._where):
            return self._chunk(answer, self._modalities)

    def close(self) -> None:
        """From any thread: a wait ends. The socket itself is closed by the thread that uses it."""
        self._closed = True
        if not self._busy:
            self._hang_up(context=True)

    # -- requests -------------------------------------------------------------------------------------------------

    def _observation_json(
        self, observation: Mapping[str, Array], words: str, modalities: Modalities
    ) -> dict[str, object]:
        """In GR00T's nesting: video (B, T, H, W, 3) uint8, state (B, T, D) float32, language {key: [[words]]}."""
        pictures = {name: array for name, array in observation.items() if is_picture(array)}
        videos = {
            key: self._one(key, pictures, ("video.", "rgb.", ""))[None, None]
            for key in modalities.keys.get("video", ())
        }
        states = {
            key: np.asarray(self._one(key, observation, ("state.", "")), np.float32).reshape(1, 1, -1)
            for key in modalities.keys.get("state", ())
        }
        for kind in ("video", "state"):
            frames = modalities.deltas.get(kind, 1)
            if frames > 1:  # the past is not stored here: the present stands for it
                held = videos if kind == "video" else states
                held.update({key: np.repeat(array, frames, axis=1) for key, array in held.items()})
        return {
            "video": videos,
            "state": states,
            "language": {k: [[words]] for k in modalities.keys.get("language", ())},
        }

    def _one(self, key: str, observation: Mapping[str, Array], prefixes: tuple[str, ...]) -> Array:
        for prefix in prefixes:
            if (array := observation.get(prefix + key)) is not None:
                return array
        raise policy_errors.policy_unusable(
            self._where,
            coded("session.policy_needs", name=prefixes[0], key=key, names=[*observation] or coded("common.none")),
            coded("session.map_it", name=prefixes[0], key=key),
        )

    def _chunk(self, answer: object, modalities: Modalities) -> ActionChunk:
        action = answer[0] if isinstance(answer, list | tuple) and answer else answer
        if not isinstance(action, dict) or not action:
            raise policy_errors.protocol_error(
                self._where, coded("plugin.a_kind", kind=type(action).__name__), coded("session.gr00t_action")
            )
        given = {str(key).removeprefix("action."): value for key, value in action.items()}
        chosen = self.spec.extra.get("actions")
        order = [str(key) for key in chosen] if isinstance(chosen, list) else [*modalities.keys.get("action", given)]
        parts = []
        for key in order:
            value = given.get(key)
            if not isinstance(value, np.ndarray) or value.ndim != 3 or value.shape[0] != 1 or value.dtype.kind != "f":
                found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
                raise policy_errors.protocol_error(
                    self._where, coded("session.action_is", key=key, found=found), coded("session.gr00t_shape")
                )
            parts.append(value[0])
        if len({part.shape[0] for part in parts}) != 1:
            raise policy_errors.protocol_error(
                self._where, coded("session.steps_of", n=[p.shape[0] for p in parts]), coded("session.one_length")
            )
        return chunk_of(np.concatenate(parts, axis=1))

    def _read(self, response: object) -> Modalities:
        """`{video: {modality_keys, delta_indices}, …}`, each perhaps in its class's wrapping."""
        keys: dict[str, tuple[str, ...]] = {}
        deltas: dict[str, int] = {}
        for kind, config in response.items() if isinstance(response, dict) else ():
            if isinstance(config, dict) and isinstance(config.get("modality_keys"), list):
                keys[str(kind)] = tuple(str(key).removeprefix(f"{kind}.") for key in config["modality_keys"])
                if kind == "language":  # its keys are whole names, such as annotation.human.task_description
                    keys[kind] = tuple(map(str, config["modality_keys"]))
                deltas[str(kind)] = len(config.get("delta_indices") or [0])
        if "action" not in keys:
            raise policy_errors.protocol_error(
                self._where, coded("session.no_modalities"), coded("session.modalities"), coded("session.see_gr00t")
            )
        return Modalities(keys, deltas)

    # -- the wire ------------------------------------------------------------------------------------------------

    def _call(self, name: str, data: object, deadline: float, timeout_s: float, found: str = "no answer") -> object:
        request: dict[str, object] = {"endpoint": name}
        if data is not None:
            request["data"] = data
        if self._token:
            request["api_token"] = self._token
        with self._using():
            answer = self._exchange(self._packed(request), deadline, timeout_s, found)
        if answer == b"ERROR":
            raise policy_errors.policy_unusable(self._where, coded("session.reports", why="ERROR"))
        response = self._unpacked(answer)
        if isinstance(response, dict) and "error" in response:
            if "nauthorized" in str(response["error"]):
                raise PolicyError(
                    policy_errors.printable(str(response["error"])),
                    path=str(self._where),
                    expected=coded("session.let_in"),
                    fix=coded("session.name_token"),
                    code="POLICY_CONNECTION",
                )
            raise policy_errors.policy_unusable(self._where, coded("session.reports", why=response["error"]))
        return response

    @contextmanager
    def _using(self) -> Iterator[None]:
        self._busy = True
        try:
            yield
        except BaseException:
            self._hang_up()  # a REQ socket that missed its answer is stuck: the next call makes a new one
            raise
        finally:
            self._busy = False
            if self._closed:
                self._hang_up(context=True)

    def _exchange(self, request: bytes, deadline: float, timeout_s: float, found: str) -> bytes:
        zmq = self._zmq
        try:
            if self._socket is not None and self._lost(("DISCONNECTED",)):
                self._hang_up()  # its server went away between two requests
            socket = self._open()
            if not self._ready(socket, zmq.POLLOUT, deadline, _REFUSED):  # IMMEDIATE: once there is a peer
                raise policy_errors.unreachable(self._where, coded("session.no_listener"))
            socket.send(request)
            if not self._ready(socket, zmq.POLLIN, deadline, _DROPPED):
                raise policy_errors.timed_out(self._where, timeout_s, found)
            return socket.recv()
        except zmq.ZMQError as error:
            raise policy_errors.unreachable(self._where, str(error)) from None

    def _ready(self, socket: zmq.Socket[bytes], what: int, deadline: float, bad: Mapping[str, str]) -> bool:
        """In slices, since a socket may not be closed from another thread. `bad`: what of the line ends the wait."""
        assert self._monitor is not None
        poller = self._zmq.Poller()
        poller.register(socket, what)
        poller.register(self._monitor, self._zmq.POLLIN)
        while True:
            left = deadline - self._clock.monotonic()
            ready = dict(poller.poll(ceil(1000 * max(0.0, min(left, LOOK_UP_S)))))
            if socket in ready:
                return True
            if self._monitor in ready and (word := self._lost(bad)):
                raise policy_errors.unreachable(self._where, bad[word])
            if self._closed:
                raise policy_errors.unreachable(self._where, coded("session.closed_meanwhile"))
            if left <= 0:
                return False

    def _lost(self, words: Iterable[str]) -> str:
        """The first of `words` among the socket's events; all events are read."""
        from zmq.utils.monitor import recv_monitor_message

        found = ""
        while self._monitor is not None and self._monitor.poll(0):
            happened = recv_monitor_message(self._monitor)["event"]
            name = next((word for word in words if happened == getattr(self._zmq, f"EVENT_{word}")), "")
            found = found or name
        return found

    def _open(self) -> zmq.Socket[bytes]:
        zmq = self._zmq
        if self._socket is None:
            self._context = self._context or zmq.Context()
            socket = self._context.socket(zmq.REQ)
            for option, value in ((zmq.LINGER, 0), (zmq.IMMEDIATE, 1), (zmq.MAXMSGSIZE, self._most)):
                socket.setsockopt(option, value)
            self._monitor = socket.get_monitor_socket()
            socket.connect(f"tcp://{self._where.authority}")
            self._socket = socket
        return self._socket

    def _hang_up(self, *, context: bool = False) -> None:
        socket, self._socket = self._socket, None
        monitor, self._monitor = self._monitor, None
        if socket is not None:
            socket.disable_monitor()
            socket.close(0)
        if monitor is not None:
            monitor.close(0)
        if context and self._context is not None:
            self._context.term()
            self._context = None

    def _packed(self, value: object) -> bytes:
        return bytes(self._msgpack.packb(value, default=_as_npy))

    def _unpacked(self, data: bytes) -> object:
        try:
            return read_msgpack(data, _plain, strict_map_key=False)
        except (ValueError, TypeError, self._msgpack.UnpackException, RecursionError) as error:
            raise policy_errors.protocol_error(
                self._where, coded("session.no_msgpack", why=str(error)), coded("session.gr00t_map")
            ) from None


def _as_npy(value: object) -> object:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in KINDS:
        raise PolicyError(
            coded("session.unsendable", why=type(value).__name__), expected=coded("session.number_arrays"),
            fix=coded("session.send_numbers"), code="POLICY_CLIENT",
        )  # fmt: skip
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=False)
    return {"__ndarray_class__": True, "as_npy": stream.getvalue()}


def _plain(value: dict[object, object]) -> object:
    if "__ndarray_class__" in value:
        data = value.get("as_npy")
        if not isinstance(data, bytes):
            raise ValueError("as_npy holds no bytes")
        return npy_array(data)
    if "__ModalityConfig_class__" in value:
        config = value.get("as_json")
        return parse_json(config) if isinstance(config, str) else config
    return value
