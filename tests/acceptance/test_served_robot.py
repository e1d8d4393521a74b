"""A robot moved over the socket: by a letter to the chat, and by one order to its service."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("websockets", reason="the server is an extra")

from worldfs.client import connect  # after the question whether they are there
from worldfs.testing.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
PAOS = (sys.executable, "-m", "worldfs.interfaces.cli.main")
THINGS = ("apple_01", "cube_01", "can_01", "bar_01", "brick_01")


@contextmanager
def served(home: Path, *, seed: int):
    """`paos up --serve` over a fresh home: (url, admin token)."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PAOS_HOME": str(home)}
    subprocess.run([*PAOS, "onboard"], env=environ, check=True, capture_output=True, timeout=PATIENCE_S)
    words = ["up", "--serve", "--port", "0", "--json", "--no-cameras", "--seed", str(seed)]
    process = subprocess.Popen([*PAOS, *words], env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if told.get("event") == "serve":
                break
        token = json.loads((home / "auth_tokens.json").read_text())["admin_token"]
        yield told["url"], token
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, rest[-2000:]


async def lying_where(world) -> dict[str, str]:
    page = (await world.read("/projects/main/ENVIRONMENT.md")).decode()
    data = json.loads(page.split("```json\n", 1)[1].split("\n```", 1)[0])
    return {node["id"]: node["status"] for node in data["scene_graph"]["nodes"] if node["id"] in THINGS}


@pytest.mark.proof  # in `make test` the README writes such a letter, and test_chat_and_invoke.py reads its evidence
def test_a_letter_to_the_chat_clears_the_table_and_the_answer_holds_the_evidence(tmp_path: Path) -> None:
    async def go() -> None:
        async with connect(url, token=token) as world:
            job = await world.chat("clear the table")
            ended = await job.result(timeout=PATIENCE_S)
            assert ended.ok, ended.text
            for thing in THINGS:
                assert f"place basket_01: {thing} rests" in ended.text
            assert '"evidence_class":"sim"' in ended.text and "- [x] table clear" in ended.text
            assert set((await lying_where(world)).values()) == {"in_basket"}
            again = await (await world.chat("clear the table")).result(timeout=PATIENCE_S)
            assert again.ok and "pick_up" not in again.text  # nothing is left to do

    with served(tmp_path, seed=7) as (url, token):
        asyncio.run(go())


@pytest.mark.proof
def test_one_order_to_its_service_clears_the_table_and_what_cannot_be_is_refused(tmp_path: Path) -> None:
    async def go() -> None:
        async with connect(url, token=token) as world:
            body = "/nodes/franka_001/body"
            order = {"op": "real_execute", "args": {"nl_task": "clear the table"}}
            written = await world.write(f"{body}/control/invoke.json", json.dumps(order).encode())
            status = json.loads(await world.read(f"/agents/self/jobs/{written.job}/status.json"))
            assert status["state"] == "done", status
            result = json.loads(await world.read(f"{body}/result.json"))
            assert result["evidence"]["evidence_class"] == "sim"
            assert set((await lying_where(world)).values()) == {"in_basket"}
            await world.write(f"{body}/control/pick_up.json", b'{"object_id": "moon"}')
            assert json.loads(await world.read(f"{body}/status.json"))["state"] == "failed"
            refused = json.loads(await world.read(f"{body}/result.json"))["error"]
            assert refused["code"] == "rejected" and "moon" in refused["message"]

    with served(tmp_path, seed=8) as (url, token):
        asyncio.run(go())
