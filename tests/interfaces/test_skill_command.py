"""`paos skill`: a trial is done once, a run goes on where it stopped, and the restricted reader judges the text."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("gymnasium", reason="the simulation is an extra")

from worldfs.base.model import Outcome, Relation, Thing
from worldfs.formats import environment
from worldfs.interfaces.cli.main import main
from worldfs.plugins.rekep import skill_trial, trial_scene
from worldfs.robots.mujoco.random_scene import random_scene
from worldfs.sessions.skill_records import RECORDS, SkillTrial
from worldfs.testing.waiting import until

SKILL = """# Put the apple away

```python
num_stages = 2
grasp_keypoints = [0, -1]
release_keypoints = [-1, 0]
keypoints = ["apple_01.centre", "basket_01.floor"]
goal = ["place", "apple_01", "basket_01"]


def stage1_subgoal_constraint1(end_effector, keypoints):
    return np.linalg.norm(end_effector - keypoints[0]) - 0.02


def stage2_subgoal_constraint1(end_effector, keypoints):
    return np.linalg.norm(keypoints[0][:2] - keypoints[1][:2]) - 0.05


def stage2_subgoal_constraint2(end_effector, keypoints):
    return abs(keypoints[0][2] - keypoints[1][2] - 0.06) - 0.02


def stage2_path_constraint1(end_effector, keypoints):
    return get_grasping_cost_by_keypoint_idx(0)
```
"""


class Place:
    def __init__(self, home: Path) -> None:
        self.home, self.workspace = home, home / "workspace"
        assert self.paos("onboard")[0] == 0
        (self.workspace / "skills").mkdir()
        self.write(SKILL)

    def write(self, text: str) -> None:
        (self.workspace / "skills/away.md").write_text(text)

    def paos(self, *words: str) -> tuple[int, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(["--home", str(self.home), *words])
        assert "Traceback" not in said.getvalue()
        return code, said.getvalue()

    def listed(self) -> dict:
        code, said = self.paos("--json", "skill", "list")
        assert code == 0
        (skill,) = json.loads(said)["skills"]
        return skill

    def logs(self) -> list[Path]:
        return sorted((self.workspace / RECORDS).glob("*.trials.jsonl"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.proof
def test_trials_are_disturbed_measured_and_never_done_again(place: Place) -> None:
    code, said = place.paos("skill", "try", "away", "--seeds", "2")
    assert code == 1 and "draft; 2 of 100 trials" in said
    assert said.count("midway: moved") + said.count("midway: taken out of the gripper") == 2, said
    code, said = place.paos("skill", "try", "away", "--seeds", "3")
    assert "3/3  seed 9002" in said and "seed 9000" not in said and place.listed()["trials"] == 3
    code, said = place.paos("skill", "list")
    assert "away: draft; 3 of 100 trials in simulation since it was written or edited" in said
    place.write(SKILL + "\n")
    assert place.listed()["trials"] == 0


@pytest.mark.proof
def test_a_trial_run_that_is_killed_goes_on_where_it_was(place: Place) -> None:
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(place.home), "skill", "try", "away"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}) as process:
        until(lambda: bool(place.logs()) and place.logs()[0].read_bytes().count(b'"seed"') >= 2)
        process.send_signal(signal.SIGKILL)
    (log,) = place.logs()
    log.write_bytes(log.read_bytes() + b'{"seed": 9001, "ok": f')  # what a kill may leave
    done = place.listed()["trials"]
    assert 2 <= done < 100
    code, said = place.paos("--json", "skill", "try", "away", "--seeds", str(done + 1))
    events = [json.loads(line) for line in said.splitlines()]
    assert [event["seed"] for event in events if event["event"] == "trial"] == [9000 + done]
    assert code == 1 and events[-1]["trials"] == done + 1


def test_a_hundred_good_trials_make_it_simulated_and_bad_ones_do_not(place: Place, monkeypatch) -> None:
    monkeypatch.setattr(
        skill_trial, "run_trial", lambda tried, seed, clock, own: SkillTrial(seed, seed % 25 != 0, "slipped")
    )
    code, said = place.paos("skill", "try", "away", "--seeds", "100")
    assert (code, place.listed()["state"]) == (0, "simulated") and "96/100" in said
    place.write(SKILL + "\n")
    monkeypatch.setattr(
        skill_trial, "run_trial", lambda tried, seed, clock, own: SkillTrial(seed, seed % 20 != 0, "slipped")
    )
    code, said = place.paos("skill", "try", "away")
    assert (code, place.listed()["state"]) == (1, "draft") and "95/100" in said and "slipped" in said


def own_scene(place: Place, *things: Thing) -> None:
    """ENVIRONMENT.md as a body has written it: the table and the basket of a random scene, and these things on it."""
    scene = random_scene(3, 0)
    scene = replace(scene, objects=things, relations=tuple(Relation(one.id, "on", "table_01") for one in things))
    page = place.workspace / "ENVIRONMENT.md"
    page.write_bytes(environment.merge(page.read_bytes(), scene, robot_id="franka_001", now="2026-11-23T00:00:00Z"))


MUG = Thing("mug_07", "mug", "cup", (0.5, 0.0, 0.045), size=(0.06, 0.06, 0.09), shape="cylinder", mass=0.2)
APPLE = Thing("apple_01", "apple", "fruit", (0.5, 0.2, 0.033), size=(0.066, 0.066, 0.066), shape="sphere", mass=0.15)


@pytest.mark.proof
def test_trials_are_with_the_things_of_the_workspace_that_a_skill_names(place: Place) -> None:
    own_scene(place, MUG, APPLE)
    place.write(SKILL.replace("apple_01", "mug_07"))
    _, said = place.paos("--json", "skill", "try", "away", "--seeds", "3")
    trials = [event for event in map(json.loads, said.splitlines()) if event["event"] == "trial"]
    assert [trial["own"] for trial in trials] == [True] * 3
    assert [trial["ok"] for trial in trials] == [True] * 3, said  # picked up where the seed has put it, and put away


def test_every_second_trial_is_with_the_workspace_s_own_things_where_both_have_them(place: Place, monkeypatch) -> None:
    own_scene(place, MUG, APPLE)
    scenes: list[object] = []

    def seen(names, seed, robot_id, own):
        scenes.append(trial_scene.trial_scene(names, seed, robot_id, own))
        return scenes[-1]

    monkeypatch.setattr(skill_trial, "trial_scene", seen)
    monkeypatch.setattr(skill_trial, "_performed", lambda tried, context: Outcome.success())
    assert place.paos("skill", "try", "away", "--seeds", "4")[0] == 1
    assert [is_own for _, is_own in scenes] == [False, True, False, True]
    (_, _), (one, _), (_, _), (other, _) = scenes
    assert {thing.id for thing in one.objects} == {"apple_01", "mug_07"}
    assert {thing.position for thing in one.objects}.isdisjoint(
        thing.position for thing in other.objects
    )  # by the seed


def test_a_skill_that_misses_its_goal_or_moves_others_fails_its_trials(place: Place) -> None:
    place.write(SKILL.replace('["place", "apple_01", "basket_01"]', '["place", "apple_01", "table_01"]'))
    code, said = place.paos("skill", "try", "away", "--seeds", "1")
    assert code == 1 and "its goal does not hold: place apple_01 table_01" in said
    place.write(SKILL.replace("apple_01.centre", "moon_01.centre"))
    code, said = place.paos("skill", "try", "away", "--seeds", "1")
    assert code == 1 and "moon_01" in said


def test_a_trial_that_moves_something_else_has_failed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = skill_trial.ReKepPolicyRuntime

    class Clumsy(runtime):
        def perform(self, request, context):
            outcome = super().perform(request, context)
            moved = [{"id": "can_01", "moved_m": 0.04, "turned_rad": 0.0}]
            return replace(outcome, evidence={**outcome.evidence, "also_moved": moved})

    monkeypatch.setattr(skill_trial, "ReKepPolicyRuntime", Clumsy)
    code, said = place.paos("skill", "try", "away", "--seeds", "1")
    assert code == 1 and "can_01 by 40 mm" in said and place.listed()["successes"] == 0


def test_a_skill_file_of_a_name_for_words_is_its_file_and_asks_no_model(place: Place) -> None:
    (place.workspace / "skills/away.md").rename(place.workspace / "skills/rekep_real.md")
    code, said = place.paos("skill", "try", "rekep_real", "--seeds", "1")
    assert code == 1 and "1/1  seed 9000: done" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```python\nimport os\n```", "an import"),
        ("```python\ndef stage1_subgoal_constraint1(e, k):\n    return e.__class__\n```", "away.md:2"),
        ("```python\nwhile True:\n    pass\n```", "while"),
        ("I would rather not.", "no Python"),
        (SKILL.replace("keypoints = [", "points = ["), "grasp_points, which nothing reads"),
        (SKILL.replace('goal = ["place"', 'goal = ["destroy"'), "goal"),
        (SKILL.replace('"apple_01", "basket_01"]', '"apple_01", "../../x"]'), "no ../../x on the table"),
        (SKILL.replace('["place", "apple_01", "basket_01"]', '["stack", "apple_01", "nothing"]'), "no nothing on the"),
        (SKILL.replace('["place", "apple_01", "basket_01"]', '["pick", "../x"]'), "no ../x on the table"),
        (SKILL.replace('["place", "apple_01", "basket_01"]', '["place", "apple_01"]'), "goal = "),
        (SKILL.replace('["place", "apple_01", "basket_01"]', '["stack", "apple_01", ""]'), "goal = "),
        ("#" * 200_000, "at most"),
    ],
)
def test_what_the_restricted_reader_refuses_is_never_simulated(place: Place, text: str, words: str) -> None:
    place.write(text)
    code, said = place.paos("skill", "try", "away", "--seeds", "1")
    assert code == 2 and words in said and not place.logs(), said


def test_names_that_are_not_there_are_a_mistake_with_a_hint(place: Place) -> None:
    code, said = place.paos("skill", "try", "awy")
    assert code == 2 and "one of away" in said
    code, said = place.paos("skill", "allow", "awy", "arm")
    assert code == 2 and "one of away" in said
    assert place.paos("skill", "allow", "away", "nowhere")[0] == 2


def test_allow_is_the_operators_and_says_what_is_missing(place: Place) -> None:
    targets = {"targets": [{"id": "arm", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter"}}]}
    (place.workspace / "TARGETS.md").write_text(json.dumps(targets))
    code, said = place.paos("skill", "allow", "away", "arm")
    assert code == 2 and "0 of 100 trials" in said and "paos skill try away" in said
    (place.workspace / RECORDS).mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(SkillTrial(seed, True)._asdict()) + "\n" for seed in range(100))
    (place.workspace / RECORDS / f"{place.listed()['sha256']}.trials.jsonl").write_text(lines)
    assert place.paos("--as", "planner", "skill", "allow", "away", "arm")[0] == 2
    assert place.listed()["targets"]["arm"]["state"] == "simulated"
    code, said = place.paos("skill", "allow", "away", "arm")
    assert code == 0 and "allowed on arm" in said
    code, said = place.paos("skill", "list")
    assert "away: allowed; allowed on arm by operator" in said
