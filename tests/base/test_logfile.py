"""A log file says what is durable only once the disk has said so."""

import pytest

from worldfs.base.durable import Root
from worldfs.base.logfile import LogFile
from worldfs.testing.faulty_disk import CountingDisk


@pytest.fixture
def log(tmp_path):
    log = LogFile(Root(tmp_path, CountingDisk()), "a.log")
    yield log
    log.close()


def since(log):
    """The boundaries since this was asked last."""
    found = [f"{name} {path}".strip() for name, path in log.root.disk.seen]
    log.root.disk.seen.clear()
    return found


def test_a_line_waits_for_the_disk_and_the_first_for_its_name(log):
    log.append(b"one\n")
    assert since(log) == ["create a.log", "append a.log", "fsync a.log", "fsync_dir"]
    log.append(b"two\n")
    assert since(log) == ["append a.log", "fsync a.log"]


def test_what_is_not_to_be_durable_waits_for_nothing_until_it_is_synced(log):
    log.append(b"one\n", durable=False)
    log.write(b"two\n")
    assert since(log) == ["create a.log", "append a.log", "append a.log"]
    log.sync()
    assert since(log) == ["fsync a.log", "fsync_dir"]


def test_a_cut_waits_for_the_disk_unless_it_is_told_not_to(log, tmp_path):
    log.append(b"one\ntwo\nthr")
    since(log)
    log.cut(8)
    assert since(log) == ["truncate a.log", "fsync a.log"] and log.size == 8
    log.cut(4, durable=False)
    assert since(log) == ["truncate a.log"] and (tmp_path / "a.log").read_bytes() == b"one\n"
