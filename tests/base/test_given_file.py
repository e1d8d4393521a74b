"""A file that a person names: opened without waiting, of a known type, of a bounded size."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError
from worldfs.base.given_file import check_made_file, open_given_file, read_given_file


def test_a_file_is_read_whole_and_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert (
        read_given_file(tmp_path / "file", op="read") == read_given_file(str(tmp_path / "link"), op="read") == b"text"
    )
    assert read_given_file(os.devnull, op="read") == b""


def test_what_is_no_file_is_refused_at_once_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    (tmp_path / "dangling").symlink_to("nothing")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "to_fifo").symlink_to("fifo")
    listener = socket.socket(socket.AF_UNIX)
    with listener:
        listener.bind(str(tmp_path / "socket"))
        for name, found in {
            "fifo": "FIFO", "to_fifo": "FIFO", "socket": "FIFO, socket", "directory": "directory", "dangling": "a link",
        }.items():  # fmt: skip
            with pytest.raises(BadInput, match=found) as raised:
                read_given_file(tmp_path / name, op="read")
            assert raised.value.path == str(tmp_path / name)
    with pytest.raises(BadInput, match="FIFO, socket or device"):
        read_given_file("/dev/zero", op="read")
    with pytest.raises(UserError):
        read_given_file(tmp_path / "loop" / "x", op="read")
    with pytest.raises(NotFound):
        read_given_file(tmp_path / "absent", op="read")
    with pytest.raises(BadInput, match="NUL"):
        read_given_file("a\0b", op="read")
    (tmp_path / "closed").write_bytes(b"")
    (tmp_path / "closed").chmod(0)
    if os.geteuid():
        with pytest.raises(NotPermitted):
            read_given_file(tmp_path / "closed", op="read")


def test_a_larger_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BadInput, match="more than 1000 bytes"):
        read_given_file(tmp_path / "file", op="read", most=1000)
    (tmp_path / "exact").write_bytes(b"x" * 1000)
    assert len(read_given_file(tmp_path / "exact", op="read", most=1000)) == 1000


def test_a_pipe_that_the_caller_has_opened_is_read_to_its_end() -> None:
    """As a shell's `<(command)`."""
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb") as file:
            file.write(b"x" * 100_000)

    thread = threading.Thread(target=write)
    thread.start()
    assert len(read_given_file(f"/dev/fd/{reading}", op="read")) == 100_000
    thread.join()
    os.close(reading)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_bytes(b"")
    before = sorted(os.listdir("/proc/self/fd"))
    for name in ("fifo", "file", ".", "absent"):
        with contextlib.suppress(UserError):
            read_given_file(tmp_path / name, op="read")
    assert sorted(os.listdir("/proc/self/fd")) == before
    fd = open_given_file(tmp_path / "file", op="read")
    assert not os.get_inheritable(fd)
    os.close(fd)


def test_what_will_be_written_is_a_new_or_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_bytes(b"")
    for name in ("new", "file", "absent/new"):
        check_made_file(tmp_path / name, op="write")
    for name in ("fifo", "."):
        with pytest.raises(BadInput):
            check_made_file(tmp_path / name, op="write")
