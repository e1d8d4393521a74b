"""The MCP memory server over its own standard input and output: one entity an operation. It syncs nothing to the disk.

A client of ours, as every agent that uses it has one, with a server process of its own over the one file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from turns import serve

SERVER = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
PROTOCOL = "2025-06-18"


class Memory:
    def __init__(self, place: Path, node: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(node / SERVER)],
            env={**os.environ, "MEMORY_FILE_PATH": str(place / "memory.jsonl")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._asked = 0
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._tell({"method": "notifications/initialized"})

    def item(self, key: str, text: str) -> Any:
        return {"entities": [{"name": key, "entityType": "note", "observations": [text]}]}

    def put(self, item: Any) -> None:
        self._call("create_entities", item)

    def count(self) -> int:
        return len(self._call("read_graph", {})["entities"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(answer["content"][0]["text"])
        found: dict[str, Any] = answer["structuredContent"]
        return found

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._asked += 1
        self._tell({"id": self._asked, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if said.get("id") != self._asked:
                continue  # a notification
            if "error" in said:
                raise RuntimeError(said["error"]["message"])
            answer: dict[str, Any] = said["result"]
            return answer
        raise RuntimeError("the server has gone")

    def _tell(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


memory = Memory(Path(sys.argv[1]), Path(sys.argv[2]))
try:
    serve(memory)
finally:
    memory.close()
