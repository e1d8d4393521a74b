"""One command line in this process, as a process of its own would answer it: its exit code and both streams.

A start of Python with what a world needs takes half a second of the processor: a test whose subject is not the process
runs the command here.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess  # for the form of the answer
import sys
from collections.abc import Iterator, Mapping
from unittest import mock

from worldfs.interfaces.cli.main import main


def run_command(
    *words: str, text: str = "", environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`environ` is added to the environment of this process meanwhile; `text` is the standard input."""
    with (
        _stream() as out,
        _stream() as err,
        _stream(text.encode()) as given,
        mock.patch.dict(os.environ, environ or {}),
        mock.patch.object(sys, "stdin", given),
    ):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words))
        return subprocess.CompletedProcess(words, code, *(_said(stream) for stream in (out, err)))


@contextlib.contextmanager
def _stream(data: bytes = b"") -> Iterator[io.TextIOWrapper]:
    with io.TextIOWrapper(io.BytesIO(data), "utf-8") as stream:
        yield stream


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined,no-any-return]
