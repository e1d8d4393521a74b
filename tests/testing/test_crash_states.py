"""What a power cut may leave: what was synced is there, and of the rest anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from worldfs.base.durable import Root
from worldfs.testing.crash_log import DiskOp, Recorder, snapshot
from worldfs.testing.crash_states import DiskOpHistory, materialise, states
from worldfs.testing.crashes import CrashCheckFailure, enumerate_crashes
from worldfs.testing.torn_writes import torn_contents


def found(tmp_path: Path, *ops: DiskOp, upto: int | None = None) -> list[dict[str, bytes]]:
    """Every directory that a crash after `upto` operations may leave."""
    upto = len(ops) if upto is None else upto
    return [
        {path: data for path, (_, data, _) in state.files.items()}
        for state in states(snapshot(tmp_path), ops, upto, lots=50)
    ]


def test_before_anything_is_synced_anything_may_be_missing(tmp_path: Path) -> None:
    left = found(tmp_path, DiskOp("create", "a"), DiskOp("write", "a", data=b"12"))
    assert {} in left and {"a": b""} in left and {"a": b"1"} in left and {"a": b"\0\0"} in left and {"a": b"12"} in left


def test_the_bytes_of_a_synced_file_are_there_but_its_name_may_not_be(tmp_path: Path) -> None:
    left = found(tmp_path, DiskOp("create", "a"), DiskOp("write", "a", data=b"1"), DiskOp("sync", "a"))
    assert {} in left and {"a": b"1"} in left
    assert all(one in ({}, {"a": b"1"}) for one in left)


def test_a_synced_name_may_lead_to_no_bytes(tmp_path: Path) -> None:
    left = found(tmp_path, DiskOp("create", "a"), DiskOp("write", "a", data=b"1"), DiskOp("sync_dir", ""))
    assert {"a": b""} in left and {} not in left


def test_a_rename_may_arrive_before_the_data_and_happens_whole(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    ops = (DiskOp("create", "new"), DiskOp("write", "new", data=b"new"), DiskOp("rename", "new", "old"))
    left = found(tmp_path, *ops)
    assert {"old": b""} in left and {"old": b"old"} in left and {"old": b"old", "new": b"new"} in left
    assert all("old" in one for one in left)
    assert all(
        one == {"old": b"new"}
        for one in found(tmp_path, *ops[:2], DiskOp("sync", "new"), ops[2], DiskOp("sync_dir", ""))
    )


def test_a_directory_that_was_not_synced_by_name_takes_what_lies_in_it_with_it(tmp_path: Path) -> None:
    ops = [DiskOp("mkdir", "d"), DiskOp("create", "d/a"), DiskOp("sync_dir", "d")]
    assert {} in found(tmp_path, *ops) and {"d/a": b""} in found(tmp_path, *ops)
    assert all(one == {"d/a": b""} for one in found(tmp_path, *ops, DiskOp("sync_dir", "")))


def test_an_exchange_is_there_or_not(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode())
    left = found(tmp_path, DiskOp("swap", "a", "b"))
    assert {tuple(one.items()) for one in left} == {(("a", b"a"), ("b", b"b")), (("a", b"b"), ("b", b"a"))}


def test_an_unsynced_removal_may_be_undone(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    assert {"a": b"a"} in found(tmp_path, DiskOp("unlink", "a")) and {} in found(tmp_path, DiskOp("unlink", "a"))
    assert all(one == {} for one in found(tmp_path, DiskOp("unlink", "a"), DiskOp("sync_dir", "")))


def test_an_append_is_torn_at_pages_and_sectors_and_may_have_holes() -> None:
    base, more = b"a" * 100, b"b" * 10000
    left = {data for _, data in torn_contents(base, [DiskOp("write", "a", at=100, data=more)])}
    assert {base, base + more} < left
    assert {len(data) for data in left} >= {100, 512, 4096, 10100}
    assert (base + more)[:512].ljust(10100, b"\0") in left
    assert any(data.startswith(base + b"\0") and data.endswith(b"b") for data in left)
    assert all(data.startswith(base) for data in left)


def test_an_overwrite_may_be_half_old_and_half_new() -> None:
    left = {data for _, data in torn_contents(b"a" * 1024, [DiskOp("write", "a", data=b"b" * 1024)])}
    assert b"b" * 512 + b"a" * 512 in left and b"a" * 512 + b"b" * 512 in left


def test_a_state_can_be_put_on_a_disk_with_second_names_and_stamps(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    recorder = Recorder(tmp_path / "a")
    root = Root(tmp_path / "a", recorder)
    root.replace("d/one", b"1")
    place = root.locate("d/one")
    assert place is not None
    root.link(place, root.ensure_parent("two"))
    with (tmp_path / "a/two").open("rb") as file:
        recorder.stamp(file.fileno(), b"mine", "two")
    materialise(DiskOpHistory(recorder.start, recorder.ops).everything(len(recorder.ops)), tmp_path / "b")
    assert (tmp_path / "b/two").read_bytes() == b"1"
    assert (tmp_path / "b/two").samefile(tmp_path / "b/d/one")
    assert not recorder.stamps or os.getxattr(tmp_path / "b/two", "user.paos") == b"mine"


def replace(path: Path, disk: object, ack: object) -> None:
    Root(path, disk).replace("a", b"new")  # type: ignore[arg-type]
    ack("a")  # type: ignore[operator]


def whole(path: Path, acked: tuple[str, ...]) -> None:
    assert (path / "a").read_bytes() in ((b"new",) if acked else (b"new", b"old"))


def old(path: Path) -> None:
    (path / "a").write_bytes(b"old")


def test_a_durable_replacement_survives_every_crash() -> None:
    tally = enumerate_crashes(old, replace, whole)
    assert tally.operations == 6 and tally.states > 10
    assert "nothing lost" in str(tally)


@pytest.mark.parametrize("kind", ["fsync", "fsync_dir"])
def test_without_one_of_its_syncs_it_does_not_and_the_crash_is_told(kind: str) -> None:
    with pytest.raises(CrashCheckFailure, match="power was cut after"):
        enumerate_crashes(old, replace, whole, without=[kind])  # type: ignore[list-item]


def test_a_plain_rewrite_does_not() -> None:
    def rewrite(path: Path, disk: object, ack: object) -> None:
        root = Root(path, disk)  # type: ignore[arg-type]
        place = root.ensure_parent("a")
        fd = root.disk.create(place.folder.fd, "a", "a", os.O_WRONLY | os.O_TRUNC)
        root.disk.write(fd, b"new", "a")
        os.close(fd)

    with pytest.raises(CrashCheckFailure, match="b''"):
        enumerate_crashes(old, rewrite, whole)
