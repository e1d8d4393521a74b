"""The official conformance suite of the Model Context Protocol against our server, on its served port."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S

from .npm_package import installed

pytest.importorskip("mcp")
pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
PINNED = Path(__file__).parent / "mcp_conformance"
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
SLICE = ROOT / "tests/fixtures/mcp/conformance.jsonl"
NODE = 22  # the suite's own minimum
SCENARIOS = 32
# What the suite only recommends: streams that a client may take up again (we answer with a job, and `wait`).
RECOMMENDED = {"server-sse-priming-event", "server-sse-retry-field"}


@pytest.fixture(scope="session")
def suite() -> list[str]:
    """The command of the pinned suite. Skips, saying so, where it cannot be had."""
    home = installed(PINNED, "mcp-conformance", SUITE)
    bundled = next(iter(sorted(home.glob("node_modules/node-linux-*/bin/node"))), None)
    for node in (bundled, shutil.which("node")):
        if node is not None and _major(str(node)) >= NODE:
            return [str(node), str(home / SUITE)]
    pytest.skip(f"node {NODE} or newer is not installed, and not published for this machine")


def _major(node: str) -> int:
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return int(found.stdout.lstrip("v").partition(".")[0]) if found.returncode == 0 else 0


def test_the_official_conformance_suite_passes(suite: list[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    recorded = tmp_path / "recorded.jsonl"
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "mcp_conformance_server.py"), str(home), str(recorded)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            url = server.stdout.readline().strip()
            found = subprocess.run(
                [*suite, "server", "--suite", "all", "--url", url, "-o", str(tmp_path / "results")],
                capture_output=True, text=True, timeout=600, check=False,
            )  # fmt: skip
            server.stdin.close()
            assert server.wait(PATIENCE_S) == 0
        finally:
            server.kill()
    results = sorted((tmp_path / "results").glob("*/checks.json"))
    assert len(results) == SCENARIOS, found.stdout[-2_000:]
    checks = [(file.parent.name, check) for file in results for check in json.loads(file.read_text())]
    failed = [(name, check["id"], check.get("errorMessage")) for name, check in checks if check["status"] == "FAILURE"]
    assert failed == []
    assert {check["id"] for _, check in checks if check["status"] == "WARNING"} <= RECOMMENDED
    assert found.returncode == 0, found.stdout[-2_000:]
    if os.environ.get("PAOS_RECORD"):  # what tests/interfaces/mcp/test_conformance_slice.py sends again
        SLICE.parent.mkdir(parents=True, exist_ok=True)
        SLICE.write_text("".join(dict.fromkeys(recorded.read_text().splitlines(keepends=True))))
    passed = sum(check["status"] == "SUCCESS" for _, check in checks)
    print(f"conformance: {passed} checks of {len(results)} scenarios pass")
