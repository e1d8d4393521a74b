"""The ticker of a server ends when it is stopped, also in the moment of a change."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from worldfs.interfaces.acheron.plane_ticker import PlaneTicker
from worldfs.testing.waiting import PATIENCE_S


@pytest.mark.parametrize("turns", range(6))
def test_a_stop_just_after_a_change_ends_it(turns: int) -> None:
    async def life() -> bool:
        ears = []

        def listen(ear):
            ears.append(ear)
            return lambda: None

        async def tick() -> float | None:
            return 3600.0

        ticker = PlaneTicker(SimpleNamespace(feed=SimpleNamespace(listen=listen)), tick, asyncio.get_running_loop())
        ticker.start()
        for _ in range(10):
            await asyncio.sleep(0)  # it waits
        ears[0](1, ("/nodes/shelf",))
        for _ in range(turns):
            await asyncio.sleep(0)
        stopping = asyncio.ensure_future(ticker.stop())
        done, _ = await asyncio.wait({stopping}, timeout=PATIENCE_S)
        if not done:
            ticker._task.cancel()  # once more, so that the loop can end
            await stopping
        return bool(done)

    assert asyncio.run(life())
