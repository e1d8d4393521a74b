"""A thread that waits for the change feed, on a clock in hand."""

import threading

import pytest

from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.feed_reader import FeedReader


def test_what_was_published_since_the_last_read_is_read_once_in_order():
    feed = ChangeFeed()
    feed.publish("/a/before")
    with FeedReader(feed, ManualClock(), "/a") as reader:
        feed.publish("/a/x", kind="put")
        feed.publish("/b")
        feed.publish("/a/y", kind="delete")
        assert [(one.topics, one.kind) for one in reader.read(0)] == [(("/a/x",), "put"), (("/a/y",), "delete")]
        assert reader.read(0) == []


@pytest.mark.parametrize(
    ("published", "hears"),
    [
        (("/a/b",), True),
        (("/a/b/c",), True),
        (("/a",), True),
        (("/",), True),
        ((), True),
        (("/ab",), False),
        (("/a/bc",), False),
    ],
)
def test_it_hears_of_its_topic_of_what_is_below_and_of_what_is_above(published, hears):
    feed = ChangeFeed()
    with FeedReader(feed, ManualClock(), "/a/b") as reader:
        feed.publish(*published)
        assert bool(reader.read(0)) is hears


def test_the_time_of_a_wait_is_that_of_the_clock_in_hand():
    clock = ManualClock()
    with FeedReader(ChangeFeed(), clock, "/a") as reader:
        assert reader.read(3600) == []
    assert clock.monotonic() == 3600


def test_a_publication_in_another_thread_wakes_a_reader_that_waits_for_ever():
    feed, found = ChangeFeed(), []
    with FeedReader(feed, ManualClock(), "/a") as reader:
        thread = threading.Thread(target=lambda: found.extend(reader.read()), daemon=True)
        thread.start()
        feed.publish("/b")
        feed.publish("/a")
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    assert [one.topics for one in found] == [("/a",)]
