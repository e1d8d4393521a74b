"""docs/tour-policy.md, run as it stands by a shell in a fresh home."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("pyarrow", reason="recording is an extra")
pytest.importorskip("onnxruntime", reason="local policies are an extra")

from worldfs.testing import pages

ROOT = Path(__file__).resolve().parents[2]


def test_the_tour_says_what_the_page_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE", str(ROOT))
    recorded, shown, trained, compared, declared, ran, refused, served, rest = pages.run(
        ROOT / "docs/tour-policy.md", tmp_path, source=ROOT / "src"
    )
    assert "40 episodes, " in recorded and "44 episodes, " in recorded
    assert "v3.0 44 episodes" in shown and "observation.environment_state" in shown
    assert re.search(r"epoch +\d+ +loss 0\.0", trained) and "pick.onnx" in trained
    rows = dict(re.findall(r"^\| (\w+) \| (\d)/6 ", compared, re.M))
    assert int(rows["skills"]) >= 5 and int(rows["mine"]) >= 3
    assert declared.count("bytes written") == 2
    assert re.search(r"sess_pick_001\n.*?status: succeeded\n.*?policy: pick\n", ran, re.S)
    assert re.search(r"sess_pick_002\n.*?status: failed\n.*?POLICY_ENDPOINT_UNREACHABLE", refused, re.S)
    assert "paos policy serve --port 8799" in refused
    assert re.search(r"sess_pick_003\n.*?status: succeeded\n", served, re.S)
    assert rest == ""
