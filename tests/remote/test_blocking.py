"""The blocking face says the same words as the asynchronous one."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from worldfs.ground.errors import NotFound, NotPermitted
from worldfs.remote import blocking
from worldfs.testing.waiting import PATIENCE_S

from .far import INPUT, TOKEN, Far, far_thread


@pytest.fixture
def far() -> Iterator[Far]:
    far = Far()
    far.files["/agents/self/jobs/job-1/status.json"] = b'{"state":"done"}'
    far.files["/agents/self/jobs/job-1/result.txt"] = b"cleared"
    with far_thread(far):
        yield far


def test_a_program_without_a_loop_reads_writes_walks_and_waits(far: Far) -> None:
    with blocking.connect(far.url, token=TOKEN) as world:
        assert world.read("/README.md") == b"# Far\n"
        assert world.list("/meta") == ["protocol.json"]
        assert world.stat(INPUT).writable and world.exists("/meta") and not world.exists("/nope")
        assert [place.path for place, _ in world.walk("/meta")] == ["/meta", "/meta/protocol.json"]
        assert world.chat("clear the table").result().text == "cleared"
        assert world.job("job-1").state() == "done"
        assert world.control("ping") == {}
        assert world.bound.agent == "mother"
        with pytest.raises(NotFound):
            world.read("/nope")


def test_its_threads_end_with_it_also_after_a_refusal(far: Far) -> None:
    before = threading.active_count()
    with blocking.connect(far.url, token=TOKEN) as world:
        assert world.exists("/")
    with pytest.raises(NotPermitted):
        blocking.connect(far.url, token="wrong")
    assert threading.active_count() == before


def test_many_threads_share_it(far: Far) -> None:
    found: list[bytes] = []
    with blocking.connect(far.url, token=TOKEN) as world:
        threads = [threading.Thread(target=lambda: found.append(world.read("/README.md"))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert found == [b"# Far\n"] * 20


def test_a_walk_that_is_left_half_way_is_ended(far: Far) -> None:
    with blocking.connect(far.url, token=TOKEN) as world:
        walking = world.walk("/")
        assert next(walking)[0].path == "/"
        walking.close()  # type: ignore[attr-defined] # a generator, declared as what it is for
        assert world.exists("/")
