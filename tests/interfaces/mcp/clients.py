"""Clients of the SDK: in this process, over stdio, over HTTP; a call that works, and one that is refused."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from worldfs.base.clock import SystemClock
from worldfs.interfaces.mcp.local_actor import local_actor
from worldfs.interfaces.mcp.protocol_server import protocol_server
from worldfs.interfaces.mcp.tool_service import ToolService
from worldfs.testing.waiting import PATIENCE_S


@asynccontextmanager
async def client_of(home: Path, role: str = "operator", agent: str = "", **options: Any) -> AsyncIterator[Client]:
    """The SDK's client and our server in this process."""
    async with local_actor(home, home / "agents", role, agent, SystemClock()) as tree:
        service = ToolService(tree, SystemClock())
        options.setdefault("mode", "legacy")
        async with Client(protocol_server(lambda ctx: service), **options) as client:
            yield client


def command(home: Path, *words: str) -> StdioServerParameters:
    """`paos mcp` as a client starts it."""
    args = ["-m", "worldfs.interfaces.cli.main", "--home", str(home), *words, "mcp"]
    path = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # the SDK passes few on
    return StdioServerParameters(command=sys.executable, args=args, env=path)


def patient(work: Awaitable[None]) -> None:
    async def life() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await work

    asyncio.run(life())


async def call(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """The structured content of a call that worked, which is also its text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: object) -> str:
    """The sentence of a call that was refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert result.structured_content is None
    return str(result.content[0].text)
