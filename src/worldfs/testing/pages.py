"""A page of the docs whose shell blocks are run as they stand, one after the other, in a fresh home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

MARK = "@@ block"


def blocks(page: Path) -> list[str]:
    """Every block that begins with ```sh."""
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def run(page: Path, home: Path, *, source: Path, timeout: float = 300) -> list[str]:
    """What each block said, both streams together. `source`: where `worldfs` is imported from.

    Raises `AssertionError` with the end of what was said when a block fails or the page takes longer than `timeout` s.
    Whatever the page started in the background is ended with it.
    """
    programs = home / "bin"
    programs.mkdir()
    for name, what in (("paos", "-m worldfs.doors.cli.main "), ("python", ""), ("python3", "")):
        command = programs / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {what}"$@"\n')
        command.chmod(0o755)
    environ = {key: text for key, text in os.environ.items() if not key.startswith("PAOS_")} | {
        "HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(source),
    }  # fmt: skip
    said = home / "said.txt"
    script = "set -eu\n" + "".join(f"{block}\necho '{MARK}'\n" for block in blocks(page))
    with said.open("wb") as out:  # a file: a pipe would be held open by what the page leaves in the background
        process = subprocess.Popen(  # the page is ours
            ["bash", "-c", script], cwd=home, env=environ, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code: int | str = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = "out of time"
        finally:
            _end(process.pid)
    text = said.read_text("utf-8", "replace")
    assert code == 0, f"{page.name}: {code}\n{text[-3000:]}"
    return text.split(f"{MARK}\n")


def _end(group: int) -> None:
    import signal
    from contextlib import suppress

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
