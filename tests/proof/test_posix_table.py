"""The areas of pjdfstest's list on three places: a disk in memory, libfuse's C passthrough of it, and the artifacts of
a mounted tree. Each difference has its reason here and in docs/tour-directory.md, and no reason is left without one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from bench.mount import FILE, c_passthrough
from tests.interfaces.mount.mounted import WITHOUT, mounting

from worldfs.interfaces.cli.main import main
from worldfs.testing.crashes import scratch_directory

from .posix_table import CHECKS, answers

pytestmark = pytest.mark.proof

Difference = tuple[str, str, str]  # the row, the disk's answer, ours


def _has(*words: str) -> Callable[[str], bool]:
    return lambda row: any(word in row for word in words)


REASONS: Final[Mapping[str, Callable[[str, str, str], bool]]] = {
    "symbolic links are not made, but under an editor's own names": lambda row, disk, ours: (
        ours == "EPERM" and not row.startswith("link:") and _has("symlink:", "a link", "what a link")(row)
    ),
    "hard links are not made": lambda row, disk, ours: row.startswith("link:") and ours == "EPERM",
    "devices and pipes with a name are not made": lambda row, disk, ours: (
        ours == "EPERM" and _has("a pipe with", "a device", "by mknod")(row)
    ),
    "rights are those of the tree: mode and owner are taken and not kept": lambda row, disk, ours: (
        (row.startswith(("chmod:", "chown:")) and ours != "EPERM")
        or row in ("mkdir: mode 700", "open: mode 600 of a new file")
    ),
    "a name is text in one line": lambda row, disk, ours: (
        _has("with a newline", "no UTF-8")(row) and ours in ("EINVAL", "EACCES")
    ),
    "a directory keeps no times and counts no directories": lambda row, disk, ours: _has(
        "mtime of the directory", "utimensat: a directory", "counts as a link"
    )(row),
    "one time, to the millisecond": lambda row, disk, ours: "to the nanosecond" in row,
    "the number of a file is that of its path and revision": lambda row, disk, ours: (
        row == "rename: a file keeps its inode number"
    ),
    "a removed file that is open counts one link": lambda row, disk, ours: row == "unlink: an open file",
    "two files are not exchanged": lambda row, disk, ours: row == "rename: EXCHANGE" and ours == "EINVAL",
    "no file without a name": lambda row, disk, ours: row == "open: O_TMPFILE" and ours == "ENOTSUP",
}
PASSTHROUGH: Final = {
    "open: O_TMPFILE": "done -> ENOTSUP",
    "rename: EXCHANGE": "b'other' -> EINVAL",
    "rename: NOREPLACE to a new name": "b'data' -> EINVAL",
}


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[Difference]:
    return [(row, said, other[row]) for row, said in one.items() if other[row] != said]


@pytest.fixture(scope="module")
def places():
    """A disk in memory, its C passthrough (None: it cannot be compiled), and the artifacts of a mounted tree."""
    if WITHOUT:
        pytest.skip(f"nothing can be mounted here: {WITHOUT}")
    with scratch_directory() as scratch, ExitStack() as stack:
        plain, home, at = scratch / "plain", scratch / "home", scratch / "tree"
        plain.mkdir()
        (plain / FILE).touch()  # shows that the passthrough is there
        at.mkdir()
        assert main(["--home", str(home), "onboard"]) == 0
        c = stack.enter_context(c_passthrough(scratch, plain))
        tree = stack.enter_context(mounting(at, home=home))
        yield plain, c, tree / "projects/main/artifacts"


def test_each_difference_from_a_disk_has_its_reason(places: tuple[Path, Path | None, Path]) -> None:
    plain, _, ours = places
    disk = answers(plain)
    assert len(disk) == len(CHECKS), "two rows have one name"
    counts: Counter[str] = Counter()
    for found in differences(disk, answers(ours)):
        reasons = [reason for reason, holds in REASONS.items() if holds(*found)]
        assert len(reasons) == 1, (found, reasons)
        counts.update(reasons)
    assert counts.keys() == REASONS.keys()
    print(f"{len(CHECKS)} rows, {counts.total()} differ from a disk: {dict(counts)}")


def test_the_documents_name_each_reason() -> None:
    words = " ".join((Path(__file__).parents[2] / "docs/tour-directory.md").read_text().split())
    assert [reason for reason in REASONS if reason not in words] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away, and the passthrough does it for its users")
def test_the_passthrough_in_c_differs_from_the_disk_as_declared(places: tuple[Path, Path | None, Path]) -> None:
    plain, c, _ = places
    if c is None:
        pytest.skip("libfuse's passthrough_ll cannot be compiled here")
    found = {row: f"{disk} -> {through}" for row, disk, through in differences(answers(plain), answers(c))}
    print(found)
    assert found == PASSTHROUGH
