"""A served home whose chat is answered by a scripted model, and short words for what is said to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from worldfs.access.binding import ADMIN, Binding
from worldfs.interfaces.cli.main import main
from worldfs.testing.call_fixtures import wait_for_call, wait_until
from worldfs.world.served_world import ServedWorld

OPERATOR = Binding(ADMIN, "rio", "main")
SCENE = {
    "robots": [{"robot_id": "franka_001", "pose": [0.0, 0.0, 0.0]}],
    "objects": [
        {"id": "apple_01", "name": "red apple", "category": "fruit", "position": [0.45, 0.1, 0.03]},
        {"id": "basket_01", "name": "basket", "category": "container", "position": [0.45, -0.2, 0.03]},
    ],
}
MODEL = """
import threading
from worldfs.base.chat_model import ModelReply, RequestedCall

class Model:
    script, asked, stopped = [], [], threading.Event()

    def __init__(self, settings, context):
        pass

    def reply(self, messages, tools, run):
        self.asked.append((list(messages), [tool.name for tool in tools]))
        step = self.script[min(len(self.asked), len(self.script)) - 1]
        step = step(messages) if callable(step) else step
        if isinstance(step, Exception):
            raise step
        if step == "hold":
            run.cancel.wait()
            self.stopped.set()
            return ModelReply("too late")
        if isinstance(step, str):
            return ModelReply(step, (), 100, 10, 0.001)
        calls = step if isinstance(step, list) else [step]
        return ModelReply("", tuple(RequestedCall(*call) for call in calls), 100, 10, 0.001)
"""


class ChatHome:
    """`script`: the steps of the model, the last one for ever: a call, several, words, "hold", or a function."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.realm = ServedWorld.open(place)
        for agent in ("rio", "bob"):
            self.realm.ensure_agent(agent)
            (place / f"agents/{agent}/agent_policy.json").write_text('{"visible_agents": ["rio", "bob"]}')

    @property
    def model(self) -> Any:
        import scripted_chat

        return scripted_chat.Model

    @property
    def calls(self) -> Any:
        return self.realm.services.calls

    def script(self, *steps: Any) -> None:
        self.model.script[:] = steps
        self.model.asked.clear()
        self.model.stopped.clear()

    def begin(self, text: str, binding: Binding = OPERATOR) -> str:
        written = self.realm.attach(binding).target("/agents/self/chat/control/input").replace(text.encode())
        return str(written.job)

    def say(self, text: str, binding: Binding = OPERATOR) -> tuple[str, str]:
        """The state and the answer, once it has ended."""
        self.id = self.begin(text, binding)
        wait_for_call(self.calls, self.id)
        state = json.loads(self.calls.status(binding, self.id))["state"]
        return state, self.calls.result(binding, self.id).decode()

    def evidence(self) -> dict[str, Any]:
        return dict(self.calls.job(self.id).status.outcome.evidence)

    def told(self, number: int = -1) -> Any:
        """The last message that the model was given in a request."""
        return json.loads(self.model.asked[number][0][-1].text)

    def until_asked(self, times: int = 1) -> None:
        wait_until(lambda: len(self.model.asked) >= times, "the model is not asked")

    def restart(self) -> None:
        self.realm.close()
        self.realm = ServedWorld.open(self.place)


@pytest.fixture
def chat(tmp_path: Path, install: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Iterator[ChatHome]:
    install("chatters", {"worldfs.models": {"scripted": "scripted_chat:Model"}}, scripted_chat=MODEL)
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    capsys.readouterr()
    profile = resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_bytes()
    (place / "workspace/EMBODIED.md").write_bytes(profile)
    (place / "workspace/ENVIRONMENT.md").write_text(f"# World\n\n```json\n{json.dumps(SCENE)}\n```\n")
    config = json.loads((place / "config.json").read_text())
    config |= {"models": {"chat": {"kind": "scripted"}}, "agents": {"brains": [{"agent": "*", "kind": "model"}]}}
    (place / "config.json").write_text(json.dumps(config))
    home = ChatHome(place)
    yield home
    home.realm.close()
    sys.modules.pop("scripted_chat", None)
