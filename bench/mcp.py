"""MCP: a tool call against the same verb in the process, the first answer of a fresh server, what the SDK costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from ._stand import ROOT, environ, percentile, scratch

FIGURES = ("mcp.call_overhead_ms", "mcp.first_answer_ms", "mcp.import_ms")
CALLS = 300
ROUNDS = 9
FILE = "/projects/main/ENVIRONMENT.md"
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}  # fmt: skip
_PAOS = ("-m", "worldfs.interfaces.cli.main")


def run() -> dict[str, float]:
    with scratch() as place:
        home = place / "home"
        onboard = [sys.executable, *_PAOS, "--home", str(home), "onboard"]
        subprocess.run(onboard, cwd=ROOT, env=environ(), stdout=subprocess.DEVNULL, check=True)
        call, verb = asyncio.run(_calls(home))
        first = [_first_answer(home) for _ in range(ROUNDS + 1)][1:]
    loads = [_load("mcp.server.lowlevel, mcp.server.subscriptions") - _load("json") for _ in range(ROUNDS)]
    return {
        "mcp.call_overhead_ms": 1000 * (percentile(call, 0.5) - percentile(verb, 0.5)),
        "mcp.call_ms": 1000 * percentile(call, 0.5),
        "mcp.first_answer_ms": 1000 * percentile(first, 0.5),
        "mcp.import_ms": 1000 * percentile(loads, 0.5),
    }


async def _calls(home: Path) -> tuple[list[float], list[float]]:
    """Seconds of `read` through the SDK's client and server, and of the tree's own read, by turns."""
    from mcp import Client

    from worldfs.base.clock import SystemClock
    from worldfs.interfaces.mcp.local_actor import local_actor
    from worldfs.interfaces.mcp.protocol_server import protocol_server
    from worldfs.interfaces.mcp.tool_service import ToolService

    calls: list[float] = []
    verbs: list[float] = []
    async with local_actor(home, home / "agents", "operator", "", SystemClock()) as tree:
        service = ToolService(tree, SystemClock())
        async with Client(protocol_server(lambda ctx: service), mode="legacy") as client:
            for _ in range(CALLS):
                began = time.perf_counter()
                found = await client.call_tool("read", {"path": FILE})
                between = time.perf_counter()
                await tree.read(FILE)
                calls.append(between - began)
                verbs.append(time.perf_counter() - between)
                assert not found.is_error
    return calls, verbs


def _first_answer(home: Path) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *_PAOS, "--home", str(home), "mcp"],
        cwd=ROOT, env=environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        took = time.perf_counter() - began
        process.kill()
    assert answer["id"] == 1
    return took


def _load(modules: str) -> float:
    """Seconds of a process that loads these modules."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {modules}"], cwd=ROOT, env=environ(), check=True)
    return time.perf_counter() - began
