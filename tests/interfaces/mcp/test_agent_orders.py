"""Orders and resources on a tree that says what it likes: no job, no end, a failure, no object, more than was said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from worldfs.base.errors import BadInput, WorldError
from worldfs.interfaces.mcp.agent_orders import answer, order
from worldfs.interfaces.mcp.file_resources import CONTENT_MOST, content
from worldfs.tree.verb_values import Content, Stat, Written

SERVICE = "/agents/self/memory/control/invoke.json"


class SaidTree:
    """Files by the ends of their paths, and the fields of the reply to a write."""

    def __init__(self, files: Mapping[str, bytes], size: int = 0, **reply: str) -> None:
        self.files, self.size, self.reply = files, size, reply

    async def stat(self, path: str) -> Stat:
        return Stat(False, self.size)

    async def read(self, path: str) -> Content:
        return Content(self.files[path.rpartition("/")[2]])

    async def write(self, path: str, data: bytes, *, expect: str = "") -> Written:
        return Written(len(data), self.reply)

    @asynccontextmanager
    async def changes(self, path: str) -> Any:
        yield asyncio.sleep


def test_an_order_that_became_no_job_is_refused() -> None:
    with pytest.raises(BadInput, match="it started no job"):
        asyncio.run(order(SaidTree({}), SERVICE, {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "result", "code", "said"),
    [
        (b'{"state": "running"}', b"{}", "TIMEOUT", "no answer within 0 s"),
        (b'{"state": "failed", "error": "the disk is full"}', b"{}", "FAILED", "the disk is full"),
        (b'{"state": "failed"}', b"a word", "FAILED", "a word"),
        (b'{"state": "done"}', b'["x"]', "PROTOCOL", '["x"]'),
    ],
)
def test_a_service_that_gives_no_answer_is_an_error_that_says_why(
    status: bytes, result: bytes, code: str, said: str
) -> None:
    tree = SaidTree({"status.json": status, "result.txt": result}, job="j-1")
    with pytest.raises(WorldError) as caught:
        asyncio.run(answer(tree, SERVICE, {}, 0))  # type: ignore[arg-type]
    assert caught.value.code == code and said in str(caught.value)


@pytest.mark.parametrize("size", [CONTENT_MOST + 7, 0])
def test_a_resource_that_is_too_large_is_refused_with_its_size_also_if_it_grew_meanwhile(size: int) -> None:
    with pytest.raises(BadInput, match=rf"{CONTENT_MOST + 7:,} bytes"):
        asyncio.run(content(SaidTree({"x": bytes(CONTENT_MOST + 7)}, size), "paos:///x"))  # type: ignore[arg-type]
