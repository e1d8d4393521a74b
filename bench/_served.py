"""A server as people start it, `paos serve`, in a process of its own; and the bare echo beside it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ._stand import ROOT, environ


class Served(NamedTuple):
    home: Path
    port: int
    pid: int
    admin: str  # token

    def kib(self) -> int:
        """What it holds in memory now."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])


@contextmanager
def served(home: Path) -> Iterator[Served]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home), "serve", "--port", "0"],
            cwd=ROOT, env=environ(), stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if found := re.search(r"ws://[\w.]+:(\d+)", line):
                break
        else:
            raise RuntimeError((home / "serve.log").read_text()[-2000:])
        tokens = json.loads((home / "auth_tokens.json").read_text())
        yield Served(home, int(found.group(1)), process.pid, tokens["admin_token"])
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextmanager
def echo() -> Iterator[int]:
    """The port of a bare echo server."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench._echo"],
        cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def load(what: str, **more: Any) -> dict[str, Any]:
    """The load generator, in a process of its own; what it found."""
    done = subprocess.run(
        [sys.executable, "-m", "bench._wsload", what],
        cwd=ROOT, env=environ(), input=json.dumps(more) + "\n",
        stdout=subprocess.PIPE, text=True, check=True, timeout=600,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found
