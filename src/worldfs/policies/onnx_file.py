"""A policy in an ONNX file, run here by onnxruntime on the CPU.

An input is named as the observation that it wants (`ee_pose`, `rgb.front` …), with or without a batch of 1; an input of
strings takes the words. The first output is the chunk. What the file says of itself stands in its metadata under
`worldfs.policy`, as JSON (docs/policies.md).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from worldfs.base.clock import Clock
from worldfs.base.extras import needs
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from .policy_client import ActionChunk, Array, PolicyError, PolicyInfo, chunk_of
from .policy_contract import parse_policy_info, rename_observations

if TYPE_CHECKING:
    import onnxruntime as ort

SAID: Final = "worldfs.policy"
_DTYPES: Final = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(uint8)": "uint8",
    "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool",
}  # fmt: skip
_WORDS: Final = "tensor(string)"


class OnnxPolicy:
    """`policy_client`: checkpoint, `threads` (1) of one inference."""

    def __init__(self, spec: PolicySpec, path: str, clock: Clock) -> None:
        self.spec, self._path, self._clock = spec, path, clock
        self._session: ort.InferenceSession | None = None
        self._info = PolicyInfo()
        self._options: ort.RunOptions | None = None  # of the inference under way

    def connect(self, timeout_s: float) -> PolicyInfo:
        if self._session is None:
            self._session = self._loaded()
            self._info = self._read_info(self._session)
        return rename_observations(self._info, self.spec)

    def reset(self) -> None:
        return

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        self.connect(timeout_s)
        session = self._session
        if session is None:
            raise PolicyError(coded("session.closed_meanwhile"), path=self._path, code="POLICY_CONNECTION")
        given = {node.name: self._input(node, observation, words) for node in session.get_inputs()}
        import onnxruntime as ort

        self._options = options = ort.RunOptions()
        guard = threading.Timer(timeout_s, self._end)  # a model may loop without end
        guard.daemon = True
        guard.start()
        began = self._clock.monotonic()
        try:
            found = session.run(None, given, options)
        except Exception as error:  # onnxruntime's own errors share no base
            if options.terminate:
                raise PolicyError(
                    coded("session.late_answer", s=timeout_s), path=self._path, code="POLICY_TIMEOUT",
                    fix=coded("session.smaller_model"),
                ) from None  # fmt: skip
            raise self._trouble(coded("session.model_fails", why=_line(error)), coded("session.an_answer")) from error
        finally:
            guard.cancel()
        actions = np.asarray(found[0])
        while actions.ndim > 2 and actions.shape[0] == 1:
            actions = actions[0]
        chunk = chunk_of(actions, dim=self._info.action_dim, where=f"{self._path}: actions")
        return replace(chunk, server_ms=1000 * (self._clock.monotonic() - began))

    def close(self) -> None:
        """From any thread: an inference under way ends."""
        self._end()
        self._session = None

    # -- inside ----------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        options = self._options
        if options is not None:
            with suppress(Exception):  # it may just have ended by itself
                options.terminate = True

    def _loaded(self) -> ort.InferenceSession:
        with needs("local", op="open a policy", path=self._path):
            import onnxruntime as ort
        options = ort.SessionOptions()
        threads = self.spec.extra.get("threads")
        options.intra_op_num_threads = threads if type(threads) is int and 0 < threads <= 64 else 1
        options.log_severity_level = 4  # errors are reported by this package
        try:
            return ort.InferenceSession(self._path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors share no base
            raise self._trouble(_line(error), coded("session.onnx_file")) from error

    def _read_info(self, session: ort.InferenceSession) -> PolicyInfo:
        """By the file's own metadata; without it, by the shapes of its inputs and its first output."""
        inputs = session.get_inputs()
        shapes = {node.name: (_sizes(node.shape), _DTYPES.get(node.type, "")) for node in inputs if node.type != _WORDS}
        text = session.get_modelmeta().custom_metadata_map.get(SAID)
        try:
            info = parse_policy_info(parse_json(text)) if text else PolicyInfo()
        except ValueError as error:
            raise self._trouble(
                coded("session.metadata", name=SAID, why=str(error)), coded("file.json_object")
            ) from None
        out = _sizes(session.get_outputs()[0].shape)
        return replace(
            info,
            observations=info.observations or shapes,
            action_dim=info.action_dim or (out[-1] if out and out[-1] > 0 else 0),
            horizon=info.horizon or (out[-2] if len(out) > 1 and out[-2] > 0 else 0),
        )

    def _input(self, node: ort.NodeArg, observation: Mapping[str, Array], words: str) -> Array:
        if node.type == _WORDS:
            return np.array([words], dtype=object).reshape([1] * max(1, len(node.shape)))
        value, dtype = observation.get(node.name), _DTYPES.get(node.type)
        if value is None or dtype is None:
            raise PolicyError(
                coded("session.model_needs", name=node.name, type=node.type),
                path=self._path,
                expected=", ".join(sorted(observation)),
                fix=coded("session.name_observation"),
                code="POLICY_CLIENT",
            )
        shape = tuple(node.shape)
        array = np.asarray(value, dtype=dtype)
        if array.ndim == len(shape) - 1:
            array = array[None]
        if array.ndim != len(shape) or any(
            type(want) is int and want != have for want, have in zip(shape, array.shape, strict=True)
        ):
            if math.prod(size for size in shape if type(size) is int) != array.size:
                raise self._trouble(
                    coded("session.of_shape", where=node.name, shape=tuple(value.shape)),
                    f"{shape}",
                    coded("session.other_robot"),
                )
            array = array.reshape([size if type(size) is int else 1 for size in shape])
        return np.ascontiguousarray(array)

    def _trouble(self, found: str, expected: str, fix: str = "") -> PolicyError:
        return PolicyError(
            found, path=self._path, expected=expected, fix=fix or coded("session.export_again"), code="POLICY_CLIENT"
        )


def _sizes(shape: Iterable[object]) -> tuple[int, ...]:
    """Without a batch of 1 in front of others; what is free is 0."""
    sizes = tuple(size if isinstance(size, int) else 0 for size in shape)
    return sizes[1:] if len(sizes) > 1 and sizes[0] in (0, 1) else sizes


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
