"""The specification's example while `paos policy serve` answers its endpoint, and while nobody does."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("websockets", reason="the policies extra is not installed: pip install 'worldfs[policies]'")

from worldfs.base.clock import SystemClock
from worldfs.base.model import JobState
from worldfs.policies.policy_server import PolicyServer
from worldfs.policies.served_policies import load_policy
from worldfs.sessions.plugins import POLICIES
from worldfs.testing.free_port import free_port
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import null_parts
from worldfs.world.world import World

FIXTURES = Path(__file__).parent.parent / "fixtures" / "runtime"


def outcome(root, port):
    """Of the example's session, with targets and runtimes that do nothing and the real clients of policies."""
    for file in FIXTURES.glob("*.md"):
        shutil.copy(file, root / file.name)
    targets = (root / "TARGETS.md").read_text()  # the example's scene file is a placeholder: there is none
    (root / "TARGETS.md").write_text(targets.replace("scene_xml: /path/to/tabletop.xml", "seed: 7"))
    skills = (root / "SKILLS.md").read_text()
    assert "http://localhost:8765/predict" in skills
    (root / "SKILLS.md").write_text(skills.replace("localhost:8765", f"localhost:{port}"))
    made = null_parts()._replace(policies=POLICIES)
    with World.open(root, clock=ManualClock(), serve=True, threads=False, parts=made) as world:
        while world.tick():
            pass
        return world.jobs.load("sess_pick_apple_001").status


def test_it_succeeds_while_the_policy_is_served(tmp_path):
    with PolicyServer(load_policy("scripted", lambda kind: None, SystemClock()), SystemClock()) as server:
        status = outcome(tmp_path, server.port)
    assert status.state is JobState.SUCCEEDED, status.outcome


def test_without_it_the_refusal_says_how_to_start_it(tmp_path):
    port = free_port()
    status = outcome(tmp_path, port)
    assert status.state is JobState.FAILED and status.outcome.code == "POLICY_ENDPOINT_UNREACHABLE"
    assert f"start it: paos policy serve --port {port}" in status.outcome.message
