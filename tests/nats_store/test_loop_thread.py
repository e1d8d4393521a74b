"""A loop in a thread of its own: closed at any moment, it leaves no caller waiting."""

import asyncio
import threading

import pytest

from worldfs.plugins.nats_store.loop_thread import LoopClosed, LoopThread
from worldfs.testing.waiting import until


async def _forever():
    await asyncio.Event().wait()


@pytest.mark.parametrize("work", [lambda: asyncio.sleep(0), lambda: asyncio.sleep(0.001), _forever])
def test_a_caller_that_runs_something_while_it_is_closed_is_refused_and_does_not_wait(work):
    for _ in range(50):
        loop = LoopThread("closing")
        started, refused = threading.Barrier(5), []

        def call(loop=loop, started=started, refused=refused):
            started.wait()
            try:
                while True:
                    loop.run(work())
            except LoopClosed:
                refused.append(1)

        threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        started.wait()
        loop.close()
        until(lambda threads=threads: not any(thread.is_alive() for thread in threads), "a caller waits without end")
        assert len(refused) == 4
        with pytest.raises(LoopClosed):
            loop.run(work())
        loop.close()


def test_it_is_closed_from_a_coroutine_of_another_loop():
    loop = LoopThread("closing")

    async def close():
        loop.close()

    asyncio.run(close())
    with pytest.raises(LoopClosed):
        loop.run(asyncio.sleep(0, None))
