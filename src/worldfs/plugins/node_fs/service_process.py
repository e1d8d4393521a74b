"""One run of a program: payload on its standard input, bounded output, ended after the timeout."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from worldfs.base.clock import Clock

OUTPUT_MAX: Final = 1 << 20  # bytes of standard output; more is a failure
ERRORS_MAX: Final = 64 << 10  # bytes of standard error kept, the last ones
GRACE: Final = 2.0  # s between TERM and KILL
PIECE: Final = 1 << 16


class ProcessResult(NamedTuple):
    """`cause`: "" when it ended by itself, else timeout, stopped, too_much or spawn."""

    code: int
    output: bytes
    errors: bytes
    cause: str = ""


class ServiceProcess:
    """One process and everything it starts, in a process group of its own. `stop` from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stop, self._stopped = os.pipe()
        self._told = False

    def stop(self) -> None:
        with suppress(OSError):
            os.write(self._stopped, b"x")

    def close(self) -> None:
        for fd in (self._stop, self._stopped):
            with suppress(OSError):
                os.close(fd)

    def run(
        self, argv: Sequence[str], payload: bytes, timeout: float, cwd: str, env: Mapping[str, str]
    ) -> ProcessResult:
        """Blocks until the program and its children have ended."""
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=dict(env),
                start_new_session=True,
            )
        except OSError as error:
            return ProcessResult(-1, b"", (error.strerror or str(error)).encode(), "spawn")
        output, errors = bytearray(), bytearray()
        try:
            cause = self._talk(process, payload, timeout, output, errors)
        finally:
            _end(process)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
        return ProcessResult(process.returncode, bytes(output), bytes(errors), cause)

    def _talk(
        self, process: subprocess.Popen[bytes], payload: bytes, timeout: float, output: bytearray, errors: bytearray
    ) -> str:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        until = self._clock.monotonic() + timeout
        left = memoryview(payload)
        with selectors.DefaultSelector() as watch:
            os.set_blocking(process.stdin.fileno(), False)
            watch.register(self._stop, selectors.EVENT_READ)
            watch.register(process.stdin, selectors.EVENT_WRITE)
            watch.register(process.stdout, selectors.EVENT_READ)
            watch.register(process.stderr, selectors.EVENT_READ)
            while len(watch.get_map()) > 1:
                wait = until - self._clock.monotonic()
                if wait <= 0:
                    return "timeout"
                for key, _ in watch.select(wait):
                    if key.fileobj == self._stop:
                        return "stopped"
                    if key.fileobj is process.stdin:
                        try:
                            left = left[os.write(key.fd, left[:PIECE]) :]
                        except BlockingIOError:
                            continue
                        except BrokenPipeError:
                            left = left[len(left) :]
                        if not left:
                            watch.unregister(process.stdin)
                            with suppress(BrokenPipeError):
                                process.stdin.close()
                        continue
                    data = os.read(key.fd, PIECE)
                    if not data:
                        watch.unregister(key.fileobj)
                    elif key.fileobj is process.stdout:
                        output += data
                        if len(output) > OUTPUT_MAX:
                            return "too_much"
                    else:
                        errors += data
                        del errors[:-ERRORS_MAX]
            try:
                process.wait(max(0.0, until - self._clock.monotonic()))
            except subprocess.TimeoutExpired:
                return "timeout"
        return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process group: TERM first, then KILL."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
