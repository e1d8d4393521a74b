"""One service of a node: a program run for each payload, one at a time, switched on and off, and counted."""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, SystemClock, epoch_ns
from worldfs.base.json_text import parse_json
from worldfs.formats.wire.frames import Json

from .fs_errors import FsError, invalid
from .service_manifest import TIMEOUT_MAX, ServiceManifest
from .service_process import OUTPUT_MAX, ProcessResult, ServiceProcess

HIDDEN: Final = (
    "PAOS_TOKEN",
    "PAOS_INVITE",
    "PAOS_PROJECT_TOKEN",
)  # variables that are removed from the program's environment
PAYLOAD_MAX: Final = 1 << 20
IDLE_RESULT: Final = b'{"ok":false,"result":null,"error":null}'
CONFIG_MAX: Final = 64 << 10
_WORDS: Final = {
    "timeout": "timeout: not done in {timeout:g} s",
    "stopped": "cancelled: the service was restarted or stopped",
    "too_much": f"error: printed more than {OUTPUT_MAX} bytes",
    "spawn": "error: cannot be started: {said}",
}


class ServiceConfig(NamedTuple):
    """The configuration that peers may set. `failures`: in a row, until it is switched off (0: never)."""

    timeout_ms: int
    failures: int = 0
    cooldown_ms: int = 0

    def to_json(self) -> Json:
        watch = {"max_consecutive_failures": self.failures, "cooldown_ms": self.cooldown_ms}
        return {"timeout_ms": self.timeout_ms, "supervision": watch}


class ServiceCounts(NamedTuple):
    invokes_total: int = 0
    failures_total: int = 0
    timeouts_total: int = 0
    restarts_total: int = 0
    consecutive_failures: int = 0
    last_duration_ms: int = 0
    last_started_ms: int = 0
    last_finished_ms: int = 0
    last_exit_code: int = 0


class NodeService:
    """Usable from many threads. `changed`: called after each change, with the names of the changed files."""

    def __init__(
        self,
        manifest: ServiceManifest,
        environ: Mapping[str, str],
        kept: Json | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.id, self.manifest = manifest.id, manifest
        self._env = {key: value for key, value in environ.items() if key not in HIDDEN} | {"PAOS_SERVICE": manifest.id}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._program: ServiceProcess | None = None
        self.changed: Callable[[tuple[str, ...]], None] = lambda names: None
        self.state, self.error, self.result = "idle", "", IDLE_RESULT
        self.last_error = b""
        self.invocation = 0
        self.updated_ms = 0
        self.cool_ms = 0  # until then nothing is run
        self.counts = ServiceCounts()
        self.enabled = True
        self.config = ServiceConfig(manifest.timeout_ms)
        if kept is not None:
            self.enabled = kept.get("enabled") is not False
            self.config = config_in(kept.get("config"), self.config)

    # -- operations of peers  ----------------------------------------------------------------------------------------

    def invoke(self, payload: bytes) -> None:
        """Start a run; `FsError` 16 while one is running, 13 when it is switched off."""
        if len(payload) > PAYLOAD_MAX:
            raise FsError(errno.EFBIG, f"a payload of more than {PAYLOAD_MAX} bytes")
        with self._lock:
            if not self.enabled:
                raise FsError(errno.EACCES, "the service is disabled: write to control/enable")
            if self.state == "running":
                raise FsError(errno.EBUSY, "the service is running")
            if self._now() < self.cool_ms:
                raise FsError(errno.EAGAIN, "the service rests after too many failures")
            self._set_state("running")
            self.invocation += 1
            self._program = ServiceProcess(self.clock)
            config, program = self.config, self._program
            self._thread = threading.Thread(
                target=self._run, args=(program, payload, config), name=f"service {self.id}", daemon=True
            )
            self._thread.start()
        self.changed(("status.json", "health.json"))

    def reset(self) -> None:
        """Forget the last run. `FsError` 16 while one is running."""
        with self._lock:
            if self.state == "running":
                raise FsError(errno.EBUSY, "the service is running: write to control/restart to end it")
            self._set_state("idle")
            self.result, self.last_error, self.cool_ms = IDLE_RESULT, b"", 0
            self.counts = self.counts._replace(consecutive_failures=0)
        self.changed(("status.json", "result.json", "last_error.txt", "health.json", "metrics.json"))

    def restart(self) -> None:
        """End the run, and reset the state."""
        self.stop()
        with self._lock:
            self.counts = self.counts._replace(restarts_total=self.counts.restarts_total + 1)
        self.reset()

    def enable(self) -> None:
        self._switch(True)

    def disable(self) -> None:
        """A running program may end; no new one is started."""
        self._switch(False)

    def configure(self, payload: bytes) -> None:
        """`{"timeout_ms","supervision":{"max_consecutive_failures","cooldown_ms"}}`; omitted fields stay."""
        try:
            value = parse_json(payload) if len(payload) <= CONFIG_MAX else None
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise invalid("config.json is no JSON object")
        with self._lock:
            self.config = config_in(value, self.config, strict=True)
        self.changed(("config.json",))

    def stop(self) -> None:
        """End the run, and wait until it has ended."""
        with self._lock:
            program, thread = self._program, self._thread
            if program is not None:
                program.stop()
        if thread is not None and thread is not threading.current_thread():
            thread.join(10)

    # -- status  --------------------------------------------------------------------------------------

    def status(self) -> Json:
        with self._lock:
            return {
                "service_id": self.id,
                "state": self.state,
                "enabled": self.enabled,
                "invocation": self.invocation,
                "updated_at_ms": self.updated_ms,
                "error": self.error or None,
            }

    def health(self) -> Json:
        with self._lock:
            return {
                "healthy": self.enabled and not self.counts.consecutive_failures,
                "state": self.state,
                "enabled": self.enabled,
                "consecutive_failures": self.counts.consecutive_failures,
                "cooldown_until_ms": self.cool_ms,
            }

    def kept(self) -> Json:
        """The state that outlives this process."""
        return {"enabled": self.enabled, "config": self.config.to_json()}

    # -- inside ----------------------------------------------------------------------------------------------------

    def _now(self) -> int:
        return epoch_ns(self.clock.now()) // 1_000_000

    def _switch(self, on: bool) -> None:
        with self._lock:
            self.enabled, self.cool_ms = on, 0
            self.updated_ms = self._now()
        self.changed(("status.json", "health.json"))

    def _set_state(self, state: str, error: str = "") -> None:
        self.state, self.error, self.updated_ms = state, error, self._now()

    def _run(self, program: ServiceProcess, payload: bytes, config: ServiceConfig) -> None:
        began = self.clock.monotonic()
        started = self._now()
        timeout = config.timeout_ms / 1000
        ran = program.run(self.manifest.argv, payload, timeout, self.manifest.folder, self._env)
        error = _why(ran, timeout)
        with self._lock:
            was = self.counts
            self.counts = was._replace(
                invokes_total=was.invokes_total + 1,
                failures_total=was.failures_total + bool(error),
                timeouts_total=was.timeouts_total + (ran.cause == "timeout"),
                consecutive_failures=was.consecutive_failures + 1 if error else 0,
                last_duration_ms=round((self.clock.monotonic() - began) * 1000),
                last_started_ms=started,
                last_finished_ms=self._now(),
                last_exit_code=ran.code,
            )
            self.last_error = (error.encode() + b"\n" + ran.errors) if error else b""
            self.result = _failed(error) if error else _json(ran.output)
            if error and 0 < config.failures <= self.counts.consecutive_failures:
                if config.cooldown_ms:
                    self.cool_ms = self._now() + config.cooldown_ms
                else:
                    self.enabled = False
            self._set_state(
                "failed" if error else "done", error
            )  # last: a peer that reads the end reads the result as well
            self._program = self._thread = None
            program.close()
        self.changed(("status.json", "result.json", "last_error.txt", "metrics.json", "health.json"))


def config_in(value: object, before: ServiceConfig, *, strict: bool = False) -> ServiceConfig:
    """`FsError` 22 for an invalid field, if `strict`; else it is ignored."""
    if not isinstance(value, dict):
        return before
    watch = value.get("supervision", {})
    if not isinstance(watch, dict):
        watch = {}
        if strict:
            raise invalid("supervision is no object")

    def number(where: dict[str, object], key: str, least: int, was: int) -> int:
        given = where.get(key, was)
        if isinstance(given, int) and not isinstance(given, bool) and least <= given <= TIMEOUT_MAX:
            return given
        if strict:
            raise invalid(f"{key} is not a number from {least} to {TIMEOUT_MAX}")
        return was

    return ServiceConfig(
        number(value, "timeout_ms", 1, before.timeout_ms),
        number(watch, "max_consecutive_failures", 0, before.failures),
        number(watch, "cooldown_ms", 0, before.cooldown_ms),
    )


def _why(ran: ProcessResult, timeout: float) -> str:
    if ran.cause:
        said = ran.errors.decode(errors="replace").strip()
        return _WORDS[ran.cause].format(timeout=timeout, said=said)
    if ran.code:
        said = ran.errors.decode(errors="replace").strip().rpartition("\n")[2][:500]
        how = f"killed by signal {-ran.code}" if ran.code < 0 else f"exit status {ran.code}"
        return f"error: {how}" + (f": {said}" if said else "")
    return ""


def _json(output: bytes) -> bytes:
    """The output as JSON: itself, or as a text in an object."""
    text = output.strip()
    try:
        parse_json(text)
    except ValueError:
        return json.dumps({"text": output.decode(errors="replace")}, ensure_ascii=False).encode()
    return text


def _failed(error: str) -> bytes:
    code, _, message = error.partition(": ")
    return json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False).encode()
