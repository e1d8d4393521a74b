"""A package's policy client: made and called in a thread of its own, and each call ends in time for its caller.

What has not returned by then is left behind with its thread; the next session is given another client.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec
from worldfs.base.plugin_calls import plugin_name
from worldfs.policies.policy_client import ActionChunk, Array, PolicyClient, PolicyError, PolicyInfo
from worldfs.runtime.worker_threads import WorkerThreads

from .bounded_call import bounded

T = TypeVar("T")
MORE_S: Final = 1.0  # beside its limit: the client keeps the time, and is insisted on
RESET_S: Final = 10.0
CLOSE_S: Final = 1.0


class PolicyCalls:
    """The `PolicyClient` that `make` makes. `name`: what messages call it."""

    def __init__(self, make: Callable[[], PolicyClient], name: str, spec: PolicySpec, clock: Clock) -> None:
        self.spec = spec
        self._make, self._name, self._clock = make, name, clock
        self._lock = threading.Lock()
        self._thread = WorkerThreads(f"policy {name}")
        self._client: PolicyClient | None = None
        self._waits: Future[None] | None = None  # for the call that has not returned

    def prepare(self, limit_s: float) -> None:
        """Make the client, if there is none: it may load a model."""
        self._call("", limit_s, lambda client: None)

    def connect(self, timeout_s: float) -> PolicyInfo:
        return self._call("connect", timeout_s + MORE_S, lambda client: client.connect(timeout_s))

    def reset(self) -> None:
        self._call("reset", RESET_S, lambda client: client.reset())

    def infer(self, observation: Mapping[str, Array], words: str, timeout_s: float) -> ActionChunk:
        return self._call("infer", timeout_s + MORE_S, lambda client: client.infer(observation, words, timeout_s))

    def close(self) -> None:
        """From any thread, also beside a call, which ends with it. A later call makes another client."""
        with self._lock:
            client, self._client = self._client, None
            waits, self._waits = self._waits, None
            thread, self._thread = self._thread, WorkerThreads(self._thread.name)
        thread.close(0.0)
        if client is not None:
            with suppress(Exception):  # nothing depends on it
                bounded(f"{self._name} close", self._clock, client.close, self._clock.monotonic() + CLOSE_S)
        if waits is not None:
            waits.cancel()

    def _call(self, name: str, limit_s: float, call: Callable[[PolicyClient], T]) -> T:
        answer: Future[T] = Future()
        returned: Future[None] = Future()
        calling = self._name

        def work() -> None:
            nonlocal calling
            try:
                with self._lock:
                    client = self._client
                if client is None:
                    client = self._make()
                calling = f"{plugin_name(client)} {name}".rstrip()
                with self._lock:
                    if self._waits is returned:
                        self._client = client
                answer.set_result(call(client))
            except BaseException as error:  # its caller's thread raises it
                answer.set_exception(error)
            with suppress(InvalidStateError):  # it is not waited for any more
                returned.set_result(None)

        with self._lock:
            self._waits = returned
            self._thread.submit(work)
        try:
            returned.result(limit_s)
        except (TimeoutError, CancelledError):
            self.close()
            raise PolicyError(
                coded("plugin.silent", call=calling, s=round(limit_s, 1)), path=calling, code="POLICY_TIMEOUT",
                expected=coded("plugin.answer_in_time"), fix=coded("plugin.correct"),
            ) from None  # fmt: skip
        finally:
            with self._lock:
                if self._waits is returned:
                    self._waits = None
        return answer.result()
