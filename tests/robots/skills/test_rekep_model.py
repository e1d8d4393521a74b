"""Words to constraints: a faithful chat-completions server on loopback, and answers that are data."""

from __future__ import annotations

import base64
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PIL import Image

from worldfs.base.driver import Run
from worldfs.base.model import Cause
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


class Server(ThreadingHTTPServer):
    """Speaks POST /v1/chat/completions as OpenAI documents it; `answers` are given in turn."""

    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.go_on = list(answers), [], threading.Event()
        self.go_on.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        self.server.go_on.wait(PATIENCE_S)
        if self.headers.get("Authorization", f"Bearer {KEY}") != f"Bearer {KEY}":
            return self.say(401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}})
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        if isinstance(answer, tuple):
            return self.say(*answer)
        message = {"role": "assistant", "content": answer(body) if callable(answer) else answer}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.say(
            200, {"id": "c1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
        )

    def say(self, status, said):
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def served(monkeypatch):
    made = []

    def make(*answers):
        monkeypatch.setenv("MODEL_KEY", KEY)
        made.append(Server(answers))
        model = {"endpoint": made[-1].url, "name": "tiny-vlm", "key_env": "MODEL_KEY", "timeout_s": PATIENCE_S}
        return made[-1], {"model": model}

    yield make
    for server in made:
        server.go_on.set()
        server.shutdown()
        server.server_close()


def good(body):
    """What a model would do: find the apple among the keypoints that it is shown."""
    lines = body["messages"][1]["content"].splitlines()
    number = next(line.split(":")[0] for line in lines if "apple_01.centre" in line)
    return GOOD.replace("{grasp}", number)


@pytest.mark.parametrize("skill", ["rekep_real", "real_execute"])
def test_words_become_constraints_and_are_carried_out(stand, served, skill):
    server, extra = served(good)
    table = stand(extra=extra)
    assert table.review(skill, nl_task="lift the apple") == []
    assert not server.asked
    outcome = table.do(skill, nl_task="lift the apple")
    assert outcome.ok, outcome.message
    assert table.rig.held() == "apple_01"
    (path, headers, body), *_ = server.asked
    assert path == "/v1/chat/completions" and headers["Authorization"] == f"Bearer {KEY}"
    assert body["model"] == "tiny-vlm" and "lift the apple" in body["messages"][1]["content"]
    assert outcome.evidence["model"] == "tiny-vlm" and outcome.evidence["total_tokens"] == 150
    assert KEY not in json.dumps(outcome.evidence) + repr(extra)


def test_an_answer_that_is_refused_is_sent_back_with_the_reason(stand, served):
    server, extra = served("```python\nimport os\n```", good)
    table = stand(extra=extra)
    outcome = table.do("rekep_real", "lift the apple")
    assert outcome.ok, outcome.message
    assert "import" in server.asked[1][2]["messages"][-1]["content"]
    assert len(outcome.evidence["refusals"]) == 1


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        (("I would rather not.",), "SCHEMA_VALIDATION", "no Python"),
        (("```python\nwhile True:\n    pass\n```",), "SCHEMA_VALIDATION", "while"),
        (
            ("```python\nnum_stages = 1\ngrasp_keypoints = [99]\nrelease_keypoints = [-1]\n```",),
            "SCHEMA_VALIDATION",
            "99",
        ),
        (((500, {"error": {"message": "overloaded"}}),), "MODEL_ANSWER", "overloaded"),
        (((200, b"<html>"),), "MODEL_ANSWER", "JSON"),
        (((200, {"choices": []}),), "MODEL_ANSWER", "without a text"),
        (((302, b""),), "MODEL_ANSWER", "302"),
        (((200, b"x" * (2 << 20)),), "MODEL_ANSWER", "at most"),
    ],
)
def test_what_a_model_cannot_say_moves_nothing(stand, served, answers, code, words):
    _, extra = served(*answers)
    table = stand(extra=extra)
    outcome = table.do("rekep_real", "lift the apple")
    assert not outcome.ok and outcome.code == code and words in outcome.message, outcome
    assert table.rig.held() is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "no model is configured"),
        ({"key_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE"),
        ({"endpoint": "http://models.example/v1"}, "plain HTTP"),
        ({"endpoint": "file:///etc/passwd"}, "endpoint"),
        ({"name": None}, "name"),
    ],
)
def test_a_model_that_is_not_configured_is_a_finding(stand, served, change, words):
    _, extra = served(good)
    extra = {"model": {**extra["model"], **change}} if change is not None else {}
    table = stand(extra=extra)
    (found,) = table.review("rekep_real", "lift the apple")
    assert found.code == "MODEL_MISSING" and words in str(found) and KEY not in str(found)
    assert table.do("rekep_real", "lift the apple").code == "MODEL_MISSING"


def test_nobody_there_and_a_wrong_key(stand, served, monkeypatch):
    server, extra = served(good)
    monkeypatch.setenv("MODEL_KEY", "wrong")
    outcome = stand(extra=extra).do("rekep_real", "lift the apple")
    assert outcome.code == "MODEL_ANSWER" and "401" in outcome.message and "wrong" not in outcome.message
    server.shutdown()
    server.server_close()
    assert stand(extra=extra).do("rekep_real", "lift the apple").code == "MODEL_UNREACHABLE"


@pytest.mark.parametrize("why", ["late", "cancelled", "timeout"])
def test_a_model_that_is_slow_holds_nobody(stand, served, why):
    server, extra = served(good)
    server.go_on.clear()
    if why == "late":
        extra["model"]["timeout_s"] = 0.3
    table = stand(extra=extra)
    run = Run(table.clock, table.clock.monotonic() + (0.3 if why == "timeout" else 100))
    if why == "cancelled":
        threading.Timer(0.3, run.cancel.set).start()
    outcome = table.do("rekep_real", "lift the apple", run=run)
    expected = {"late": Cause.ERROR, "cancelled": Cause.CANCELLED, "timeout": Cause.TIMEOUT}
    assert outcome.cause is expected[why]


def test_a_model_that_sees_is_shown_the_scene_with_its_keypoints(stand, served):
    server, extra = served(lambda body: good({"messages": [0, {"content": said_of(body)}]}))
    extra["model"]["images"] = True
    outcome = stand(extra=extra, cameras=["front"]).do("rekep_real", "lift the apple")
    assert outcome.ok, outcome.message
    content = server.asked[0][2]["messages"][1]["content"]
    if isinstance(content, str):  # no OpenGL here: it goes on without, and says so
        assert "picture" in outcome.evidence
        return
    picture = base64.b64decode(content[1]["image_url"]["url"].removeprefix("data:image/png;base64,"))
    assert picture.startswith(b"\x89PNG") and Image.open(io.BytesIO(picture)).size == (640, 480)


def said_of(body):
    content = body["messages"][1]["content"]
    return content if isinstance(content, str) else content[0]["text"]
