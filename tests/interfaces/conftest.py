"""The command in this process: its exit code, and what it wrote to its two streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from worldfs.interfaces.cli.main import main

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Command:
    def call(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(words)
        said = capsysbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return call


@pytest.fixture
def command_and_children(capfd: pytest.CaptureFixture[str]) -> Command:
    """Also what its child processes write."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main(words)
        out, err = capfd.readouterr()
        return code, out, err

    return call
