"""A slice of the official conformance suite, recorded: its requests, sent again, have the results that passed it.

`PAOS_RECORD=1 make proof ARGS=tests/proof/test_mcp_conformance.py` records it anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2

from worldfs.testing.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
SLICE = [json.loads(line) for line in (ROOT / "tests/fixtures/mcp/conformance.jsonl").read_text().splitlines()]
ACCEPT = {"Accept": "application/json, text/event-stream"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


def message(method: str, params: object, id: int) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def answer(response: httpx2.Response, id: int) -> Any:
    """The message with this id among the events of a response."""
    assert response.status_code == 200, response.text
    data = [line.removeprefix("data:") for line in response.text.splitlines() if line.startswith("data:")]
    found = [json.loads(one) for one in data if one.strip()]
    return next(one for one in found if one.get("id") == id)


def test_the_recorded_requests_of_the_suite_have_the_recorded_results(home: Path) -> None:
    assert len(SLICE) >= 15
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests/proof/mcp_conformance_server.py"), str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            with httpx2.Client(headers=ACCEPT, timeout=PATIENCE_S) as http:
                begun = http.post(url, json=message("initialize", HELLO, 0))
                http.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
                ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                assert http.post(url, json=ready).status_code == 202
                for id, one in enumerate(SLICE, 1):
                    found = answer(http.post(url, json=message(one["method"], one["params"], id)), id)
                    told = {name: value for name, value in found["result"].items() if name in one["result"]}
                    assert told == {name: value for name, value in one["result"].items() if name in told}, one
                    assert set(one["result"]) - set(told) <= OF_LATER_ERAS, one
            server.stdin.close()
            assert server.wait(PATIENCE_S) == 0
        finally:
            server.kill()


OF_LATER_ERAS = {"resultType", "ttlMs", "cacheScope"}  # members of a result that the era of this session does not have
