"""docs/tour-tree.md, run as it stands by a shell in a fresh home."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("websockets", reason="the server is an extra")

from worldfs.testing import pages  # after the question whether they are there

ROOT = Path(__file__).resolve().parents[2]


def test_the_tour_says_what_the_page_promises(tmp_path: Path) -> None:
    served, told, asked, known, other, python, rest = pages.run(
        ROOT / "docs/tour-tree.md", tmp_path, source=ROOT / "src"
    )
    assert "nodes/" in served and "body/" in served and '"service_id":"body"' in served
    assert "apple_01" in told and "in basket_01" in told and '"state":"done"' in told
    assert '"distance_to_goal"' in asked and "PROFILE_LIMIT" in asked
    assert "<EOT>" in known and '"results":[{' in known
    assert "from the other machine" in other and "written through the tree" in other and '"state":"online"' in other
    assert "franka_001" in python and "apple" in python.lower()
    assert rest == ""
