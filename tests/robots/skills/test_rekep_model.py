"""Words to constraints: a model behind the port, on loopback; its answers are data, and rehearsed before they run."""

from __future__ import annotations

import base64
import io
import json
import re
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai", reason="the extra `models`")

from PIL import Image

from worldfs.base.chat_model import ConfiguredModel
from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Cause
from worldfs.formats.config_models import ModelConfig
from worldfs.formats.runtime import skill_file
from worldfs.models.open_model import open_model
from worldfs.plugins.rekep.keypoint_image import PICTURE, free_box
from worldfs.plugins.rekep.program_sources import words_of
from worldfs.skills.skill_runtime import SkillRequest
from worldfs.testing.model_api import USAGE, RawAnswer, serving
from worldfs.testing.waiting import PATIENCE_S

KEY = "sk-very-secret"
GOOD = """Here is the plan.
```python
num_stages = 2
grasp_keypoints = [{grasp}, -1]
release_keypoints = [-1, -1]

def stage1_subgoal_constraint1(end_effector, keypoints):
    return np.linalg.norm(end_effector - keypoints[{grasp}]) - 0.02

def stage2_subgoal_constraint1(end_effector, keypoints):
    return 0.18 - keypoints[{grasp}][2]

def stage2_path_constraint1(end_effector, keypoints):
    return get_grasping_cost_by_keypoint_idx({grasp})
```
"""


@pytest.fixture
def served():
    """A scripted API, and what a skill and a configuration need to ask it."""
    with ExitStack() as stack:

        def make(*answers, **settings):
            api = stack.enter_context(serving(answers, in_order=True, without_tools=True))
            settings = {"retries": 0, "timeout_s": PATIENCE_S, **settings}
            config = ModelConfig("eyes", "openai", "tiny-vlm", f"{api.url}/v1", "MODEL_KEY", **settings)
            home, keys = Path("/no/home"), {"MODEL_KEY": KEY}
            models = {"eyes": ConfiguredModel(lambda: open_model(config, home, keys, SystemClock()))}
            return api, {"extra": {"model": "eyes"}, "model": models.get}

        yield make


def said_of(body):
    content = body["messages"][1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def answering(text):
    """The text, with {NAME} as the number that the prompt gives that keypoint."""

    def answer(request):
        numbers = {}
        for line in said_of(json.loads(request)).splitlines():
            number, colon, rest = line.partition(": ")
            if colon and number.isdigit():
                numbers[rest.split(" ")[0]] = number
        return re.sub(r"\{([a-z_0-9]+\.[a-z_]+)\}", lambda match: numbers[match[1]], text)

    return answer


good = answering(GOOD.replace("{grasp}", "{apple_01.centre}"))


@pytest.mark.slice(2)
@pytest.mark.parametrize("skill", ["rekep_real", "real_execute"])
def test_words_become_constraints_and_are_carried_out(stand, served, skill):
    server, setup = served(good)
    table = stand(**setup)
    assert table.review(skill, nl_task="lift the apple") == []
    assert not server.requests
    outcome = table.do(skill, nl_task="lift the apple")
    assert outcome.ok, outcome.message
    assert table.rig.held() == "apple_01"
    (path, body), *_ = server.requests
    assert path == "/v1/chat/completions" and body["model"] == "tiny-vlm" and "lift the apple" in said_of(body)
    (call,) = outcome.evidence["model_calls"]
    assert call["model"] == outcome.evidence["model"] == "tiny-vlm" and len(call["prompt_sha256"]) == 64
    assert (call["input_tokens"], call["output_tokens"]) == USAGE
    assert all(one["ok"] for one in outcome.evidence["rehearsal"]["success"])
    assert KEY not in json.dumps(outcome.evidence) + repr(setup)


@pytest.mark.slice(0)
def test_an_answer_that_is_refused_is_sent_back_with_the_reason(stand, served):
    server, setup = served("```python\nimport os\n```", good)
    table = stand(**setup)
    outcome = table.do("rekep_real", "lift the apple")
    assert outcome.ok, outcome.message
    assert "import" in server.requests[1][1]["messages"][-1]["content"]
    assert len(outcome.evidence["refusals"]) == 1 and len(outcome.evidence["model_calls"]) == 2


ESCAPE = "def stage1_subgoal_constraint1(e, k):\n    return {}\n"


@pytest.mark.slice(4)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("I would rather not.", "no Python"),
        ('{"num_stages": 1', "no Python"),
        ("请先告诉我要做什么。", "no Python"),
        ("```python\nimport os\nos.system('touch /tmp/owned')\n```", "import"),
        ("```python\nfrom os import system\n```", "import"),
        ("```python\n" + ESCAPE.format("().__class__.__bases__") + "```", "__bases__"),
        ("```python\n" + ESCAPE.format("__import__(e)") + "```", "__import__"),
        ("```python\n" + ESCAPE.format("open(e)") + "```", "open"),
        ("```python\n" + ESCAPE.format("eval(e)") + "```", "eval"),
        ("```python\n" + ESCAPE.format("np.fromfile(e)") + "```", "fromfile"),
        ("```python\nwhile True:\n    pass\n```", "while"),
        ("```python\nnum_stages = 1\ngrasp_keypoints = [99]\nrelease_keypoints = [-1]\n```", "99"),
        ("```python\nnum_stages = 1\ngrasp_keypoints = ['apple']\nrelease_keypoints = [-1]\n```", "apple"),
        ("```python\nnum_stages = 1\ngrasp_keypoints = [0]\nrelease_keypoints = [-2]\n```", "release_keypoints"),
        ("```python\n" + ESCAPE.format("k[99][2]") + "```", "99"),
        ("```python\n" + "x = 1\n" * 20_000 + "```", "at most"),
    ],
)
def test_what_a_model_cannot_say_is_sent_back_twice_and_moves_nothing(stand, served, answer, words):
    server, setup = served(answer)
    table = stand(**setup)
    before = table.target.observe()["joint_states"].tolist()
    outcome = table.do("rekep_real", "lift the apple")
    assert not outcome.ok and outcome.code in ("SCHEMA_VALIDATION", "CONSTRAINT_INVALID"), outcome
    assert words in outcome.message
    assert len(server.requests) == 3
    assert table.target.observe()["joint_states"].tolist() == before


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (RawAnswer(500, b'{"error": {"message": "overloaded"}}'), "MODEL_UNREACHABLE", "overloaded"),
        (RawAnswer(401, b'{"error": {"message": "no such key"}}'), "MODEL_REFUSED", "no such key"),
        (RawAnswer(200, b"<html>"), "MODEL_ANSWER", ""),
        (RawAnswer(200, b'{"choices": []}'), "MODEL_ANSWER", ""),
        (RawAnswer(302, b"", (("Location", "http://127.0.0.1:1/v1"),)), "MODEL_ANSWER", "302"),
        (RawAnswer(200, b"x" * (10 << 20)), "MODEL_ANSWER", "more than"),
        ("x" * (10 << 20), "MODEL_ANSWER", "more than"),
        ("", "MODEL_ANSWER", ""),
    ],
)
def test_an_endpoint_that_does_not_answer_moves_nothing(stand, served, answer, code, words):
    server, setup = served(answer)
    table = stand(**setup)
    outcome = table.do("rekep_real", "lift the apple")
    assert not outcome.ok and outcome.code == code and words in outcome.message, outcome
    assert table.rig.held() is None and KEY not in str(outcome) and len(server.requests) == 1


def test_what_fails_in_simulation_is_not_run_and_the_model_is_told_why(stand, served):
    """The path constraint of the first answer breaks as soon as it lifts; the preview sees nothing of it."""
    broken = GOOD.replace("{grasp}", "{apple_01.centre}").replace(
        "return get_grasping_cost_by_keypoint_idx({apple_01.centre})", "return keypoints[{apple_01.centre}][2] - 0.06"
    )
    server, setup = served(answering(broken), good)
    table = stand(**setup)
    outcome = table.do("rekep_real", "lift the apple")
    assert outcome.ok, outcome.message
    told = server.requests[1][1]["messages"][-1]["content"]
    assert "in simulation: " in told or "stage 2" in told
    assert len(outcome.evidence["refusals"]) == 1


@pytest.mark.proof
def test_a_program_that_never_succeeds_in_simulation_moves_nothing(stand, served, monkeypatch):
    """It reads well and the preview reaches it: only the rehearsal sees that another thing is in the way."""
    server, setup = served(good)
    table = stand(**setup)
    rehearsed = []

    def slippery(self, id):
        rehearsed.append(self.arm is not table.target.arm)
        return False

    monkeypatch.setattr("worldfs.plugins.rekep.table_end_effector.TableEndEffector.close", slippery)
    before = table.target.observe()["joint_states"].tolist()
    outcome = table.do("rekep_real", "lift the apple")
    assert outcome.code == "REHEARSAL_FAILED" and "GRASP_MISSED" in outcome.message, outcome
    assert rehearsed and all(rehearsed) and len(server.requests) == 3
    assert table.target.observe()["joint_states"].tolist() == before
    assert "GRASP_MISSED" in server.requests[2][1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (None, "no model is named"),
        ("nose", "nose"),
        ({"endpoint": "http://127.0.0.1:1/v1", "name": "x", "key_env": "HOME"}, "no name of a model"),
    ],
)
def test_a_model_that_is_not_configured_is_a_finding(stand, served, named, words):
    server, setup = served(good)
    table = stand(extra={} if named is None else {"model": named}, model=setup["model"])
    (found,) = table.review("rekep_real", "lift the apple")
    assert found.code == "MODEL_MISSING" and words in str(found) and "config.json" in found.fix
    assert table.do("rekep_real", "lift the apple").code == "MODEL_MISSING" and not server.requests


def test_nobody_there(stand, served):
    server, setup = served(good)
    server.shutdown()
    server.server_close()
    assert stand(**setup).do("rekep_real", "lift the apple").code == "MODEL_UNREACHABLE"


@pytest.mark.parametrize("why", ["late", "cancelled", "timeout"])
def test_a_model_that_is_slow_holds_nobody(stand, served, why):
    hold = threading.Event()
    _, setup = served(RawAnswer(hold=hold), **({"timeout_s": 0.3} if why == "late" else {}))
    table = stand(**setup)
    run = Run(table.clock, table.clock.monotonic() + (0.3 if why == "timeout" else 100))
    if why == "cancelled":
        threading.Timer(0.3, run.cancel.set).start()
    outcome = table.do("rekep_real", "lift the apple", run=run)
    expected = {"late": Cause.ERROR, "cancelled": Cause.CANCELLED, "timeout": Cause.TIMEOUT}
    hold.set()
    assert outcome.cause is expected[why]
    assert table.rig.held() is None


def test_a_model_that_sees_is_shown_the_scene_with_its_keypoints(stand, served, tmp_path):
    server, setup = served(good)
    setup["extra"]["images"] = True
    table = stand(cameras=["front"], **setup)
    run = Run(table.clock, table.clock.monotonic() + 100, artifacts=tmp_path)
    outcome = table.do("rekep_real", "lift the apple", run=run)
    assert outcome.ok, outcome.message
    content = server.requests[0][1]["messages"][1]["content"]
    if isinstance(content, str):  # no OpenGL here: it goes on without, and says so
        assert "picture" in outcome.evidence
        return
    (url,) = [part["image_url"]["url"] for part in content if "image_url" in part]
    picture = base64.b64decode(url.removeprefix("data:image/png;base64,"))
    assert picture.startswith(b"\x89PNG") and (tmp_path / PICTURE).read_bytes() == picture
    assert min(Image.open(io.BytesIO(picture)).size) >= 480


@pytest.mark.proof
def test_a_picture_that_cannot_be_kept_ends_nothing(stand, served, tmp_path):
    _, setup = served(good)
    setup["extra"]["images"] = True
    table = stand(cameras=["front"], **setup)
    (tmp_path / PICTURE).mkdir()
    run = Run(table.clock, table.clock.monotonic() + 100, artifacts=tmp_path)
    assert table.do("rekep_real", "lift the apple", run=run).ok


@pytest.mark.proof
def test_a_skill_that_does_not_ask_for_pictures_sends_none(stand, served):
    server, setup = served(good)
    assert stand(cameras=["front"], **setup).do("rekep_real", "lift the apple").ok
    assert "image" not in json.dumps(server.requests[0][1])


def test_numbers_cover_neither_each_other_nor_another_dot():
    dots = [(300.0 + 3 * n, 200.0 + 7 * n % 40) for n in range(30)] + [(1.0, 1.0), (638.0, 478.0)]
    marks = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    taken = list(marks)
    for dot in dots:
        taken.append(free_box(dot, (24.0, 20.0), (640, 480), taken))
    for number, box in enumerate(taken[len(dots) :]):
        others = [other for other in taken if other is not box]
        assert not any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in others), number
        assert box[0] >= 0 and box[1] >= 0 and box[2] < 640 and box[3] < 480


def test_a_skill_file_is_its_file_whatever_the_words_beside_it():
    file = skill_file.read(b"def f(): pass", "rekep_real")
    assert words_of(SkillRequest("j", file, {"nl_task": "lift it"}, "lift it")) == ""
    assert words_of(SkillRequest("j", replace(file, digest=""), {}, "lift it")) == "lift it"
