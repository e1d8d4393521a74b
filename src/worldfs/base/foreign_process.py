"""A program of another environment, started by this process: it gets no secret of ours, it and all that it has started
end when this process does, however that ends, and of what it prints the last part is kept."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Final
from uuid import uuid4

from . import proc
from .forked_child import keep_from_children

KEPT: Final = 4000  # bytes of what it prints
LINE: Final = 300  # signs of its last line
READ_S: Final = 1.0  # for what it printed before it ended to be read
_OURS = re.compile(  # variables that are not for it
    r"^(PAOS_|PYTHON)|TOKEN|SECRET|PASSW|PASSPHRASE|CRED|APIKEY|_PWD$|(^|_)(KEY|PASS|PAT|AUTH)(_|$)", re.I
)
_LOGIN = re.compile(r"://[^/\s@]+@")  # in an address: `postgres://user:password@host`


def find_program(name: str) -> str | None:
    return shutil.which(os.path.expanduser(name))


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is ours alone, by its name or by a login in its value."""
    return _OURS.search(name) is not None or _LOGIN.search(value) is not None


class ForeignProcess:
    """`talks`: its standard input and output are pipes to us; else what it writes to either output is only kept. `fds`
    stay open in it. Raises `OSError` where it cannot be started."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], *, talks: bool = False, fds: Sequence[int] = ()
    ) -> None:
        self._mark = uuid4().hex  # of it and of all that it starts
        given = {name: value for name, value in os.environ.items() if not is_secret(name, value)}
        reader, writer = os.pipe()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else writer, stderr=writer,
                env={**given, **environ, "PYTHONUNBUFFERED": "1", proc.MARK: self._mark},
                pass_fds=fds, start_new_session=True,
            )  # fmt: skip
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        self._guard = _guard(self._mark)
        guarded = self._guard.stdin if self._guard is not None else None
        for pipe in (self.stdin, self.stdout, guarded):
            if pipe is not None:  # the other process waits for its end
                keep_from_children(pipe.fileno())
        self._printed = bytearray()
        self._reading = threading.Thread(target=self._read, args=(reader,), name="foreign output", daemon=True)
        self._reading.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._process.stdout

    def last_line(self) -> str:
        """The last line that it printed, once it has ended; "": none."""
        self._reading.join(READ_S)
        lines = bytes(self._printed).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:LINE] if lines else ""

    def end(self) -> None:
        """Kill it and all that it has started. The caller closes `stdin` and `stdout`."""
        proc.end_family(self.pid, self._mark)
        self._process.wait()
        if self._guard is not None:
            self._guard.communicate()  # its input ends, and so does it

    def _read(self, pipe: int) -> None:
        with suppress(OSError):
            while part := os.read(pipe, 1 << 16):
                self._printed = (self._printed + part)[-KEPT:]
        os.close(pipe)


def _guard(mark: str) -> subprocess.Popen[bytes] | None:
    """A process that waits for the end of ours, then kills the program and all that it has started. The program need
    do nothing for that: it may hang, or hold its interpreter. None: it cannot be started."""
    command = [sys.executable, "-I", "-S", proc.__file__, mark]
    needed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    with suppress(OSError):
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=needed, cwd="/",
            start_new_session=True,
        )  # fmt: skip
    return None
