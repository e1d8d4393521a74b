"""Reading foreign directories: no link followed, every size limited, every fault named with its place."""

import os

import pytest

from worldfs.base.errors import BadInput, NotFound, NotPermitted, Unsafe
from worldfs.plugins.importers import source_dir
from worldfs.plugins.importers.source_dir import SourceDir, json_objects


def read_lines(place, path="f.jsonl"):
    left = []
    with SourceDir(place) as opened:
        found = [value for _, value in json_objects(opened, path, left)]
    return found, left


def test_lines_of_any_length_and_ending_are_read_with_their_place(build, monkeypatch):
    monkeypatch.setattr(source_dir, "_CHUNK", 7)
    text = b'{"a":1}\r\n\n{"bbbbbbbbbbbb":22}\nlast without an end'
    with SourceDir(build({"f": text})) as place:
        lines = list(place.lines("f"))
    assert [(line.number, line.offset, line.data, line.ended) for line in lines] == [
        (1, 0, b'{"a":1}', True),
        (2, 9, b"", True),
        (3, 10, b'{"bbbbbbbbbbbb":22}', True),
        (4, 30, b"last without an end", False),
    ]


def test_a_line_of_100_mb_is_named_and_the_rest_goes_on(tmp_path):
    with open(tmp_path / "f.jsonl", "wb") as file:
        file.write(b'{"a":1}\n{"b":"')
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n{"c":3}\n')
    found, left = read_lines(tmp_path)
    assert found == [{"a": 1}, {"c": 3}]
    assert left[0].location == "f.jsonl:2" and "100.0 MiB" in left[0].found and "16 MiB" in left[0].expected
    assert not left[0].whole and len(left[0].data) <= source_dir.SHOWN


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b'{"a": 1', "line 1, column"),
        (b'{"a": "\xff"}', "0xff"),
        (b'{"a": "x\0y"}', "zero byte"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"[1, 2]", "a JSON list"),
        (b"\x00" * 40, "zero bytes"),
        (b'{"a":' * 5000, "JSON"),
    ],
)
def test_a_broken_line_is_named_with_its_place_and_its_bytes_and_the_rest_goes_on(build, raw, word):
    found, left = read_lines(build({"f.jsonl": b'{"one":1}\n' + raw + b'\n{"two":2}\n'}))
    assert found == [{"one": 1}, {"two": 2}]
    assert len(left) == 1 and left[0].location == "f.jsonl:2" and word in left[0].found
    assert left[0].data == raw and left[0].expected


def test_a_last_line_that_breaks_off_is_unfinished_and_one_that_is_whole_counts(build):
    found, left = read_lines(build({"f.jsonl": b'{"one":1}\n{"two"'}))
    assert found == [{"one": 1}] and "breaks off" in left[0].found and "again" in left[0].fix
    assert read_lines(build({"f.jsonl": b'{"one":1}\n{"two":2}'}, "other")) == ([{"one": 1}, {"two": 2}], [])


def test_what_is_written_while_we_read_is_not_waited_for(build):
    place = build({"f": b"one\ntwo\n"})
    with SourceDir(place) as opened:
        lines = opened.lines("f")
        first = next(lines)
        with open(place / "f", "ab") as file:
            file.write(b"three\n")
        assert [first.data, *(line.data for line in lines)] == [b"one", b"two"]


def test_a_link_a_fifo_and_a_file_that_is_too_large_are_refused_with_words(build, tmp_path):
    place = build({"large": b"x" * 100})
    (tmp_path / "secret").write_text("outside")
    os.symlink(tmp_path / "secret", place / "link")
    os.symlink(tmp_path, place / "folder")
    os.mkfifo(place / "pipe")
    with SourceDir(place) as opened:
        with pytest.raises(Unsafe):
            opened.document("link")
        with pytest.raises(Unsafe):
            opened.document("folder/secret")
        with pytest.raises(BadInput, match="FIFO"):
            opened.document("pipe")
        with pytest.raises(BadInput, match="100 bytes"):
            opened.document("large", 50)
        with pytest.raises(NotFound):
            opened.document("none")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a right away from itself and back")
def test_a_file_that_may_not_be_read_is_named_and_how_to_mend_it(build, tmp_path):
    place = build({"open.md": "a", "closed.md": "b"})
    os.chmod(place / "closed.md", 0o000)
    with SourceDir(place) as opened:
        os.seteuid(65534)
        try:
            assert opened.document("open.md") == b"a"
            with pytest.raises(NotPermitted) as caught:
                opened.document("closed.md")
        finally:
            os.seteuid(0)
    assert "readable" in caught.value.fix


def test_a_pattern_is_found_from_wherever_on_its_way_one_begins(build):
    place = build({"repo/ops/sessions/1.json": "{}", "repo/ops/sessions/2.txt": "", "repo/other/sessions/3.json": "{}"})
    pattern = ("ops", "sessions", "*.json")
    found = {}
    for start in ("repo", "repo/ops", "repo/ops/sessions", "repo/other"):
        with SourceDir(place / start) as opened:
            found[start] = opened.find(pattern)
    assert found == {
        "repo": ["ops/sessions/1.json"],
        "repo/ops": ["sessions/1.json"],
        "repo/ops/sessions": ["1.json"],
        "repo/other": [],
    }


def test_a_link_that_fits_a_pattern_is_found_so_that_reading_it_says_so(build, tmp_path):
    place = build({"a/x.json": "{}"})
    os.symlink(tmp_path / "elsewhere.json", place / "a" / "y.json")
    os.symlink(tmp_path, place / "b")
    with SourceDir(place) as opened:
        assert opened.find(("a", "*.json")) == ["a/x.json", "a/y.json"]
        assert opened.find(("b", "*.json")) == ["b"]


def test_sizes_are_said_as_people_say_them():
    sizes = (12, 9_999, 10_240, 104_857_600, 20_508_250_000)
    assert [source_dir.format_bytes(size) for size in sizes] == [
        "12 bytes",
        "9,999 bytes",
        "10 KiB",
        "100 MiB",
        "19.1 GiB",
    ]
