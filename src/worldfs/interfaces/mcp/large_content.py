"""Work over the bytes of a file: of many bytes in a thread, since the loop serves everybody else meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from worldfs.storage.revision import of
from worldfs.tree.verb_values import Content

T = TypeVar("T")
LOOP_BYTES: Final = 256 << 10  # so many are hashed in less than a millisecond


async def work_on(data: bytes, work: Callable[[bytes], T]) -> T:
    return work(data) if len(data) <= LOOP_BYTES else await asyncio.to_thread(work, data)


async def revision_of(content: Content) -> str:
    return content.revision or await work_on(content.data, of)
