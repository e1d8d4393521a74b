"""Copies of what was read: one reader's own, within a bound, and no copy where one is damaged."""

import os

import pytest

from worldfs.base.errors import BadInput
from worldfs.interfaces.posix.read_copies import ReadCopies, ReadCopy, directory_of
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Stat

AT = "2026-11-23T12:00:00Z"


def test_a_copy_comes_back_as_it_was_and_a_damaged_one_does_not(tmp_path):
    place = tmp_path / "copies"
    first = ReadCopy(Stat(False, 4, True, "r1", 7, FileKind.RECORD), AT, b"\n{}\xff")
    second = ReadCopy(Stat(True), AT, None, ("a/", "b", "new\nline"))
    copies = ReadCopies(place)
    copies.put("/a", first)
    copies.put("/", second)
    copies.close()
    copies = ReadCopies(place)
    assert copies.get("/a") == first and copies.get("/") == second and copies.get("/b") is None
    for path in place.iterdir():
        path.write_bytes(path.read_bytes()[:20])
    assert copies.get("/a") is copies.get("/") is None
    copies.forget("/a")
    copies.forget("/a")
    copies.close()


def test_the_copies_stay_within_their_bound_and_the_oldest_go_first(tmp_path):
    copies = ReadCopies(tmp_path / "copies", most=100_000)
    for number in range(40):
        copies.put(f"/{number}", ReadCopy(Stat(False, 10_000), AT, bytes(10_000)))
        assert sum(path.stat().st_size for path in (tmp_path / "copies").iterdir()) < 112_000
    assert copies.get("/39") is not None and copies.get("/0") is None
    copies.close()


def test_another_actor_has_another_directory_and_one_that_others_may_read_is_refused(tmp_path):
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    one, other = (directory_of(environ, "ws://host", token) for token in ("first token", "second token"))
    assert one != other and "token" not in str(one)
    ReadCopies(one).close()
    os.chmod(one, 0o755)
    with pytest.raises(BadInput, match="other users"):
        ReadCopies(one)
