"""docs/robots.md, run as it stands by a shell in a fresh home."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="robots speak in arrays")

from worldfs.testing import pages  # after the question whether it is there

ROOT = Path(__file__).resolve().parents[2]


def test_the_tour_says_what_the_page_promises(tmp_path: Path) -> None:
    declared, mended, ran, seen, hung, rest = pages.run(ROOT / "docs/robots.md", tmp_path, source=ROOT / "src")
    assert re.search(r"config\.safety\n +found +watchdog\n", declared) and "joint_speed" in declared
    assert "config.safety" not in mended
    assert "every file reads well" in ran and "sess_wave_001  shadow wave  succeeded: waved" in ran
    assert re.search(r"stands, shoulder at 0\.8", ran)
    lines = seen.splitlines()
    last = json.loads(lines[1])
    assert int(lines[0]) >= 50 and last["ee_pose"][1] == pytest.approx(0.3, abs=1e-3)
    assert {"joint limit shoulder", "joint speed", "ee speed", "workspace"} <= set(last["clamped"])
    assert re.search(r'"joint_speed": \[3\.0, 3\.0\]', seen) and '"ee_speed": 0.25' in seen
    assert "no step and no heartbeat for" in hung and '"code": "TARGET_STOPPED"' in hung
    assert rest == ""
