"""What a person approves, in lines: the whole request, with nothing in it that hides or turns text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from worldfs.access.standing import shown_actor
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.messages import coded


def approval_lines(requests: Sequence[Mapping[str, object]], name: str) -> list[str]:
    """Requests that wait, each with its steps and the command that approves it."""
    found: list[str] = []
    for item in requests:
        found += [*request_lines(item), coded("approval.commands", name=name, plan=item["plan"])]
    return found


def request_lines(item: Mapping[str, object]) -> list[str]:
    """One request: the asker, the orderer, the purpose, and each step whole."""
    plan, node, purpose = item["plan"], item["node"], _unhidden(as_text(item["purpose"]))
    asker = ", ".join(shown_actor(as_text(item[key])) for key in ("asker", "orderer") if item.get(key)) or "-"
    found: list[str] = [coded("approval.asked", plan=plan, node=node, asker=asker, purpose=purpose)]
    for n, step in enumerate(as_objects(item["steps"]), 1):
        params = " ".join(f"{key}={_json(value)}" for key, value in as_object(step.get("params")).items())
        found.append(_unhidden(f"    {n}. {step.get('op')} {params}"))
        found += [
            _unhidden(f"       {key}: {_json(step[key])}") for key in ("places", "request", "sources") if key in step
        ]
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unhidden(text: str) -> str:
    """A sign that a terminal obeys, leaves out or turns around (zero width, right to left) is shown as its code."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
