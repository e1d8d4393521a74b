"""A coroutine begun at once."""

import asyncio

import pytest

from worldfs.namespace.suspended_coroutine import SuspendedCoroutine, start_eagerly


def test_what_needs_not_wait_needs_no_loop():
    async def add(one, other):
        return one + other

    assert start_eagerly(add(1, 2)) == 3


def test_what_it_raises_is_raised_here():
    async def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        start_eagerly(fail())


def test_what_waits_is_gone_on_with_by_a_task():
    async def life():
        opened = asyncio.get_running_loop().create_future()

        async def work():
            first = await opened
            await asyncio.sleep(0)
            return first + 1

        rest = start_eagerly(work())
        assert isinstance(rest, SuspendedCoroutine)

        async def go_on():
            return await rest

        task = asyncio.ensure_future(go_on())
        await asyncio.sleep(0)
        opened.set_result(41)
        assert await task == 42

    asyncio.run(life())


def test_cancelling_the_task_cancels_the_work():
    ended = []

    async def life():
        async def work():
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        rest = start_eagerly(work())

        async def go_on():
            return await rest

        task = asyncio.ensure_future(go_on())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(life())
    assert ended == ["cancelled"]


def test_an_error_in_what_it_waits_for_reaches_the_work():
    async def life():
        future = asyncio.get_running_loop().create_future()

        async def work():
            try:
                await future
            except KeyError:
                return "caught"

        rest = start_eagerly(work())

        async def go_on():
            return await rest

        task = asyncio.ensure_future(go_on())
        await asyncio.sleep(0)
        future.set_exception(KeyError("x"))
        assert await task == "caught"

    asyncio.run(life())
