"""A session that kept its pictures becomes an episode of a LeRobot dataset: what was seen, then what was done."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="recording is an extra")

from tests.robots.recording.test_recording import rows_of

from worldfs.interfaces.cli.main import main
from worldfs.plugins.recording import lerobot_dataset
from worldfs.testing.null_target import NullAdapter, NullRuntime, null_parts
from worldfs.world.world import World

TARGET = {"id": "arm", "type": "sim", "adapter": {"class": "SimTargetAdapter"}}


class Filmed(NullAdapter):
    """Its picture is as bright as it has made steps."""

    steps = 0

    def step(self, action, representation):
        self.steps += 1
        return super().step(np.asarray(action) + 0.1 * self.steps, representation)

    def observe(self):
        return {"joint_states": self.q[:2].copy(), "rgb.front": np.full((32, 48, 3), 20 * self.steps, np.uint8)}


class Led(NullRuntime):
    name = "Led"

    def perform(self, request, context):
        outcome = super().perform(request, context)
        return type(outcome)(outcome.ok, outcome.message, evidence={**outcome.evidence, "control_hz": 10.0})


@pytest.fixture
def home(tmp_path):
    """Sessions `one` and `two`, which failed, were recorded; `three` was not."""
    ends = {"one": {}, "two": {"fail": "let go"}, "three": {}}
    sessions = [
        {"session_id": name, "target_ref": "arm", "skill_ref": "lead", "task_description": f"words of {name}",
         "execution": {"params": {"steps": 5, **more}, "record": name != "three"}}
        for name, more in ends.items()
    ]  # fmt: skip
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "TARGETS.md").write_text(json.dumps({"targets": [TARGET]}))
    (root / "SKILLS.md").write_text(json.dumps({"skills": [{"id": "lead", "runtime": "Led"}]}))
    (root / "SESSIONS.md").write_text(json.dumps({"sessions": sessions}))
    parts = null_parts()
    parts = parts._replace(targets={"SimTargetAdapter": Filmed}, skills={"Led": Led})
    with World.open(root, serve=True, parts=parts) as world:
        world.run(stop=threading.Event(), until_idle=True)
        assert world.jobs.load("one").status.outcome.ok
    return tmp_path


def test_recorded_sessions_are_episodes_with_cameras_and_the_action_follows_what_was_seen(home, tmp_path, capsys):
    made = tmp_path / "set"
    assert main(["--home", str(home), "robot", "record", str(made), "one"]) == 0
    assert main(["--home", str(home), "robot", "record", str(made), "two"]) == 0
    info = json.loads((made / lerobot_dataset.INFO).read_text())
    assert (info["total_episodes"], info["total_frames"], info["fps"], info["robot_type"]) == (2, 8, 10, "arm")
    assert info["features"]["observation.images.front"]["shape"] == [32, 48, 3]
    frames = rows_of(made, "data")
    assert [row["observation.state"][0] for row in frames[:4]] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert [row["next.reward"] for row in frames] == [0, 0, 0, 1, 0, 0, 0, 0]  # two failed
    assert [row["tasks"] for row in rows_of(made, "meta/episodes")] == [["words of one"], ["words of two"]]
    stats = json.loads((made / lerobot_dataset.STATS).read_text())["observation.images.front"]
    assert np.ravel(stats["max"])[0] > np.ravel(stats["min"])[0]


def test_a_session_that_kept_no_pictures_is_refused_with_what_to_write(home, tmp_path, capsys):
    assert main(["--home", str(home), "robot", "record", str(tmp_path / "set"), "three"]) == 2
    assert "record: true" in capsys.readouterr().err
    (home / "workspace/artifacts/runtime/one/frames/front/000002.jpg").unlink()
    assert main(["--home", str(home), "robot", "record", str(tmp_path / "set"), "one"]) == 2
    assert "000002.jpg" in capsys.readouterr().err and not (tmp_path / "set").exists()
