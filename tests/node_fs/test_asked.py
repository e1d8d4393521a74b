"""What a peer asks is read strictly: every field that is none is refused by its name, whatever stands there."""

import json

import pytest

from worldfs.formats.wire.frames import read
from worldfs.plugins.node_fs.fs_errors import FsError
from worldfs.plugins.node_fs.fs_operations import FsRequest


def asked(payload, **top):
    frame = {"channel": "acheron", "type": "acheron.t_fs_read", "tag": 1, "payload": payload, **top}
    return FsRequest("read", read(json.dumps(frame)))


def refused(ask, *words):
    with pytest.raises(FsError) as error:
        ask()
    assert error.value.number == 22 and all(word in str(error.value) for word in words)


@pytest.mark.parametrize("value", [True, "7", 1.5, -1, 101, None, [], {}])
def test_a_number_is_a_whole_one_within_its_bounds(value):
    refused(lambda: asked({"off": value}).number("off", most=100), "a.off")
    assert asked({"off": 100}).number("off", most=100) == 100 and asked({}).number("off", 3) == 3


@pytest.mark.parametrize("value", ["a", 7, {"a": 1}, ["a", 7], [None], [], ["a"] * 5000])
def test_names_are_a_list_of_words_of_some_length(value):
    refused(lambda: asked({"path": value}).names("path"), "a.path")
    assert asked({"path": ["a", "b"]}).names("path") == ["a", "b"] and asked({}).names("path") is None


@pytest.mark.parametrize("value", [7, None, ["a"]])
def test_a_text_is_a_text(value):
    refused(lambda: asked({"name": value}).text("name"), "a.name")


def test_a_node_that_is_not_named_is_asked_for():
    refused(lambda: asked({}).node, "node")
