"""A secret comes from a file that only its owner can read; nothing waits for one, and no message holds it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.secret_file import header_secret, read_secret_file


def written(path: Path, data: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_the_line_of_a_private_file_is_the_secret(tmp_path) -> None:
    assert read_secret_file(written(tmp_path / "key", b" sk-1 \n"), "key") == "sk-1"
    assert read_secret_file(written(tmp_path / "word", "密码\n".encode()), "word") == "密码"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode) -> None:
    with pytest.raises(BadInput) as refused:
        read_secret_file(written(tmp_path / "key", b"sk-1", mode), "keys/mine")
    assert refused.value.fix == "chmod 600 keys/mine" and "sk-1" not in str(refused.value)
    for named, fix in (("my keys/a", "chmod 600 'my keys/a'"), ("~/my keys/a", "chmod 600 ~/'my keys/a'")):
        with pytest.raises(BadInput) as refused:
            read_secret_file(tmp_path / "key", named)
        assert refused.value.fix == fix


@pytest.mark.parametrize("data", [b"", b"\n\n", b"one\ntwo", b"a\x00b", b"a\x1bb"])
def test_what_is_no_line_is_refused_and_not_said(tmp_path, data) -> None:
    with pytest.raises(BadInput, match="key holds no secret") as refused:
        read_secret_file(written(tmp_path / "key", data), "key")
    assert "two" not in str(refused.value)


def test_a_pipe_is_not_waited_for(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for odd in ("pipe", "."):
        with pytest.raises(BadInput, match="no regular file"):
            read_secret_file(tmp_path / odd, odd)
    with pytest.raises(BadInput, match="No such file"):
        read_secret_file(tmp_path / "none", "none")


def test_a_header_takes_ascii_only() -> None:
    assert header_secret("sk-1", "KEY") == "sk-1"
    for odd in ("", "密码", "a\r\nX-Role: operator"):
        with pytest.raises(BadInput, match="KEY holds no secret"):
            header_secret(odd, "KEY")
