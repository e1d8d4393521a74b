"""A planner's model that asks before it proposes, and a person at a client who answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp.types import ElicitResult

from worldfs.testing.model_api import ScriptedApi, ScriptedCall, serving

ODD = "flurb above the fruit"
WHICH = "Which fruit do you mean?"
QUESTION = ScriptedCall("ask", {"question": WHICH})
PLAN = ScriptedCall("plan", {"steps": [{"do": "go_above", "thing": "apple_01"}]})


def asks(questions: int) -> Callable[[str], ScriptedCall]:
    """A model that asks so many different questions, and then proposes to go above the apple."""

    def step(request: str) -> ScriptedCall:
        number = request.count("answer_of_the_person")
        question = f"And Q{number}?" if number else WHICH
        return PLAN if number >= questions else ScriptedCall("ask", {"question": question})

    return step


@contextmanager
def asking(home: Path, questions: int = 1, *steps: ScriptedCall) -> Iterator[ScriptedApi]:
    """The home's planner has a model that asks before it proposes. `steps`: what it says instead, one after the other,
    the last for ever."""
    page = home / "workspace/ENVIRONMENT.md"
    scene = json.loads(page.read_text())
    next(one for one in scene["objects"] if one["id"] == "apple_01")["position"] = [0.45, 0.0, 0.3]
    page.write_text(json.dumps(scene))
    config = json.loads((home / "config.json").read_text())
    with serving(steps or [asks(questions)], in_order=True) as api:
        config["models"] = {"planner": {"kind": "openai", "model": "tiny", "baseUrl": f"{api.url}/v1", "retries": 0}}
        (home / "config.json").write_text(json.dumps(config))
        yield api


class Person:
    """An elicitation callback. Says these words in turn, the last for ever; None: declines."""

    def __init__(self, *words: str | None) -> None:
        self.words, self.asked = words, []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        said = self.words[min(len(self.asked), len(self.words)) - 1]
        if said is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={"answer": said})
