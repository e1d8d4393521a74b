"""What a command says reaches who listens to us; a bad listener holds up nothing that matters."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

LOTS = "head -c 1000000 /dev/zero | tr '\\0' x"


def test_both_streams_are_passed_on(stage: Any) -> None:
    out_end, out = os.pipe()
    err_end, err = os.pipe()
    ended = stage.run("/bin/sh", "-c", "echo one; echo two >&2", out=out, err=err)
    assert (os.read(out_end, 100), os.read(err_end, 100)) == (b"one\n", b"two\n")
    assert sorted(stage.log(ended).splitlines()) == [b"one", b"two"]
    for fd in (out_end, out, err_end, err):
        os.close(fd)


def test_a_listener_that_has_gone_costs_nothing(stage: Any) -> None:
    end, out = os.pipe()
    os.close(end)
    ended = stage.run("/bin/sh", "-c", LOTS, out=out)
    assert ended.outcome == "completed" and ended.output_bytes == 1_000_000
    assert len(stage.log(ended)) == 1_000_000
    os.close(out)


def test_a_listener_that_takes_nothing_makes_no_silence_and_keeps_no_session_open(stage: Any) -> None:
    end, out = os.pipe()
    taken = bytearray()

    def listen() -> None:
        while stage.book.calls[-1:] != ["finish"]:
            time.sleep(0.01)
        while data := os.read(end, 1 << 16):
            taken.extend(data)

    thread = threading.Thread(target=listen)
    thread.start()
    line = "head -c 200000 /dev/zero | tr '\\0' x"
    ended = stage.run("/bin/sh", "-c", line, out=out, silence_s=4.0, timeout_s=5.0)
    os.close(out)
    thread.join()
    # It could not say it all before its deadline, because nobody listened; what it had said reached the listener.
    assert (ended.outcome, ended.cause) == ("timeout", "deadline")
    assert 0 < ended.output_bytes == len(stage.log(ended)) == len(taken) <= 200_000
    os.close(end)


def test_an_output_that_does_not_block_is_waited_for(stage: Any) -> None:
    end, out = os.pipe()
    os.set_blocking(out, False)
    taken = bytearray()

    def listen() -> None:
        while len(taken) < 1_000_000:
            time.sleep(0.001)
            taken.extend(os.read(end, 1 << 16))

    thread = threading.Thread(target=listen)
    thread.start()
    assert stage.run("/bin/sh", "-c", LOTS, out=out).outcome == "completed"
    thread.join()
    assert taken == b"x" * 1_000_000
    os.close(end)
    os.close(out)
