"""LeRobot's asynchronous inference over gRPC (lerobot/async_inference, service transport.AsyncInference).

The client names the checkpoint and the server loads it. What goes over the wire are pickles: see `lerobot_pickle` for
how an answer is read without running it. A server, though, runs what it receives, and everyone who reaches it may send:
so it belongs on this machine, and another one is used only if the operator sets `policy_client.trust: true`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.extras import needs
from worldfs.base.json_values import as_int, as_object
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from . import policy_errors
from .arrays import is_picture
from .endpoint import endpoint, max_answer_bytes
from .lerobot_bytes import HELPERS, as_instance, pieces, read_actions, setup
from .lerobot_pickle import load_actions
from .pickle_reader import UnsafePickle
from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from .policy_contract import rename_observations

if TYPE_CHECKING:
    import grpc

SCHEMES = {"grpc": 8080}
SERVICE = "/transport.AsyncInference/"
LOAD_S = 120.0  # for the server to load the checkpoint, without policy_client.load_timeout_s
TASK = "task"


def client(spec: PolicySpec, clock: Clock) -> LeRobotPolicy:
    return LeRobotPolicy(spec, clock)


class LeRobotPolicy:
    """`policy_client: {type: lerobot, endpoint: HOST:8080, checkpoint: user/model, policy_type: act}`.

    Further: `device` (cpu), `actions_per_chunk` (50), `rename_map`, `load_timeout_s`, `trust`. Arrays of one dimension
    become motors `NAME.0`, `NAME.1` …, joined again as `observation.state`; pictures are `observation.images.NAME`.
    """

    def __init__(self, spec: PolicySpec, clock: Clock) -> None:
        with needs("policies", op="open a policy"):
            import grpc
        self.spec, self._clock, self._grpc = spec, clock, grpc
        self._where = endpoint(spec, SCHEMES, "")
        if not self._where.loopback and spec.extra.get("trust") is not True:
            raise PolicyError(
                coded("session.runs_code", host=self._where.host),
                path=str(self._where), expected=coded("session.local_server"), code="POLICY_CLIENT",
                fix=coded("session.tunnel"),
            )  # fmt: skip
        kind = spec.extra.get("policy_type")
        if not spec.checkpoint or not isinstance(kind, str):
            raise PolicyError(
                coded("session.checkpoint", checkpoint=spec.checkpoint, kind=kind), path="SKILLS.md policy_client",
                expected=coded("session.lerobot_names"), fix=coded("session.lerobot_example"),
                code="POLICY_CLIENT",
            )  # fmt: skip
        self._kind = kind
        self._channel: grpc.Channel | None = None
        self._instructed = False
        self._step = 0

    def connect(self, timeout_s: float) -> PolicyInfo:
        """Checks the connection, and resets the server. The checkpoint is loaded at `infer`: shapes are known then."""
        deadline = self._clock.monotonic() + timeout_s
        self._call("Ready", b"", deadline, timeout_s)
        info = PolicyInfo("lerobot", extra={"policy_type": self._kind, "checkpoint": self.spec.checkpoint})
        return rename_observations(info, self.spec)

    def reset(self) -> None:
        self._step = 0
        if self._channel is not None:
            self._call("Ready", b"", self._clock.monotonic() + 5.0, 5.0)

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        if not self._instructed:
            self._instruct(observation)
        deadline = self._clock.monotonic() + timeout_s
        for last in (False, True):
            self._show(observation, words, deadline, timeout_s)
            answer = self._call("GetActions", b"", deadline, timeout_s)
            try:
                data = read_actions(answer)
                if data:
                    return chunk_of(np.stack([action.reshape(-1) for action in load_actions(data)]))
            except UnsafePickle as error:
                raise policy_errors.protocol_error(
                    self._where, coded("session.refused_read", why=str(error)), coded("session.timed_actions"), _FIX
                ) from None
            except ValueError as error:
                raise policy_errors.protocol_error(
                    self._where, coded("session.bad_actions", why=str(error)), coded("session.one_size")
                ) from None
            if last:
                break
        raise policy_errors.policy_unusable(self._where, coded("session.no_actions"), coded("session.see_own_log"))

    def close(self) -> None:
        """From any thread: what waits is cancelled."""
        channel, self._channel = self._channel, None
        self._instructed = False
        if channel is not None:
            channel.close()

    # -- requests -------------------------------------------------------------------------------------------------

    def _instruct(self, observation: Mapping[str, Array]) -> None:
        extra = self.spec.extra
        given = extra.get("load_timeout_s")
        load_s = float(given) if isinstance(given, int | float) and given > 0 else LOAD_S
        config = {
            "policy_type": self._kind,
            "pretrained_name_or_path": self.spec.checkpoint,
            "lerobot_features": features(observation),
            "actions_per_chunk": as_int(extra.get("actions_per_chunk")) or 50,
            "device": str(extra.get("device") or "cpu"),
            "rename_map": dict(as_object(extra.get("rename_map"))),
        }
        data = setup(as_instance(self._module, "RemotePolicyConfig", config))
        self._call(
            "SendPolicyInstructions", data, self._clock.monotonic() + load_s, load_s, "the checkpoint is not loaded"
        )
        self._instructed = True

    def _show(self, observation: Mapping[str, Array], words: str, deadline: float, timeout_s: float) -> None:
        self._step += 1
        timed = {
            "timestamp": self._clock.now().timestamp(),
            "timestep": self._step,
            "observation": {**raw_observation(observation), TASK: words},
            "must_go": True,  # else it drops an observation similar to the last
        }
        self._call(
            "SendObservations", pieces(as_instance(self._module, "TimedObservation", timed)), deadline, timeout_s
        )

    @property
    def _module(self) -> str:
        return str(self.spec.extra.get("module") or HELPERS)

    # -- the wire ------------------------------------------------------------------------------------------------

    def _call(
        self, name: str, data: bytes | Iterator[bytes], deadline: float, timeout_s: float, found: str = "no answer"
    ) -> bytes:
        grpc, channel = self._grpc, self._open()
        make = channel.unary_unary if isinstance(data, bytes) else channel.stream_unary
        left = max(1e-3, deadline - self._clock.monotonic())
        try:
            return bytes(make(SERVICE + name, None, None)(data, timeout=left))
        except grpc.RpcError as error:
            self.close()  # whatever it was, the server begins anew: it may be another one
            raise self._trouble(error, timeout_s, found) from None
        except ValueError:  # the channel was closed from another thread
            raise policy_errors.unreachable(self._where, coded("session.closed_meanwhile")) from None

    def _trouble(self, error: grpc.RpcError, timeout_s: float, found: str) -> PolicyError:
        status, details = error.code(), policy_errors.printable(error.details() or "")
        word = self._grpc.StatusCode
        if status is word.DEADLINE_EXCEEDED:
            return policy_errors.timed_out(self._where, timeout_s, found)
        if status is word.UNAVAILABLE:
            return policy_errors.unreachable(
                self._where, details if "refused" not in details else coded("session.no_listener")
            )
        if status is word.CANCELLED:
            return policy_errors.unreachable(self._where, coded("session.closed_meanwhile"))
        if status is word.RESOURCE_EXHAUSTED:
            return policy_errors.protocol_error(
                self._where, details, coded("session.smaller_answer"), coded("session.raise_max")
            )
        if status in (word.UNIMPLEMENTED, word.INTERNAL):
            return policy_errors.protocol_error(self._where, f"{status.name}: {details}", "transport.AsyncInference")
        return policy_errors.policy_unusable(self._where, f"{status.name}: {details}")

    def _open(self) -> grpc.Channel:
        if self._channel is None:
            most = max_answer_bytes(self.spec)
            self._channel = self._grpc.insecure_channel(
                self._where.authority,
                options=(
                    ("grpc.max_receive_message_length", most),
                    ("grpc.enable_http_proxy", 0),
                    ("grpc.enable_retries", 0),
                ),
            )
        return self._channel


_FIX = "it answers with objects that are not LeRobot's actions: do not trust it"


def raw_observation(observation: Mapping[str, Array]) -> dict[str, object]:
    """LeRobot's RawObservation: pictures by camera, numbers by motor."""
    found: dict[str, object] = {}
    for name, array in observation.items():
        if is_picture(array):
            found[_camera(name)] = array
        elif array.ndim == 1 and array.dtype.kind in "iuf":
            found.update({f"{name}.{i}": float(value) for i, value in enumerate(array)})
    return found


def features(observation: Mapping[str, Array]) -> dict[str, dict[str, object]]:
    """LeRobot's dataset features of the same: what its server builds `observation.state` and the images from."""
    raw = raw_observation(observation)
    motors = [name for name, value in raw.items() if isinstance(value, float)]
    found: dict[str, dict[str, object]] = {}
    if motors:
        found["observation.state"] = {"dtype": "float32", "shape": (len(motors),), "names": motors}
    for name, array in raw.items():
        if isinstance(array, np.ndarray):
            axes = ["height", "width", "channels"]
            found[f"observation.images.{name}"] = {"dtype": "image", "shape": array.shape, "names": axes}
    return found


def _camera(name: str) -> str:
    for prefix in ("observation.images.", "rgb."):
        name = name.removeprefix(prefix)
    return name
