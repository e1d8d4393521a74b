"""A document that is larger than the limit is refused by its name, and none is written that could not be read again."""

import pytest

from worldfs.base import document_size
from worldfs.base.document_size import DOCUMENT_MOST
from worldfs.base.errors import BadInput
from worldfs.base.model import Scene, Thing
from worldfs.formats import config, embodied, environment, lessons_file, task

READERS = {
    "ENVIRONMENT.md": environment.read,
    "EMBODIED.md": embodied.read,
    "LESSONS.md": lessons_file.read,
    "TASK.md": task.read,
    "config.json": config.read,
}


@pytest.mark.parametrize("name", READERS)
def test_a_document_that_is_too_large_is_refused_by_its_name(name):
    with pytest.raises(BadInput, match="at most 8,388,608") as refused:
        READERS[name](b" " * (DOCUMENT_MOST + 1))
    assert refused.value.path == name and refused.value.fix


def test_an_observation_that_would_make_the_page_too_large_is_not_merged(monkeypatch):
    seen = Scene(objects=tuple(Thing(f"cube_{n:02d}") for n in range(50)))
    page = environment.merge(b"", seen, robot_id="arm", now="2026-01-01T00:00:00Z")
    monkeypatch.setattr(document_size, "DOCUMENT_MOST", len(page) - 1)
    with pytest.raises(BadInput, match="ENVIRONMENT"):
        environment.merge(b"", seen, robot_id="arm", now="2026-01-01T00:00:00Z")
