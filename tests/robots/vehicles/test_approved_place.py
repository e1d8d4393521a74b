"""A vehicle whose plan a person has approved drives to the places that the person was shown, or asks again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("paho.mqtt.client", reason="the extra vda5050")

from worldfs.base.model import ApprovalPolicy
from worldfs.runtime.approvals import APPROVED
from worldfs.testing.waiting import until

from .conftest import ME, TRUSTED
from .test_absent_vehicle import Served, serving
from .vda5050_peer import Agv

ASKING = TRUSTED._replace(approval={"": ApprovalPolicy.ALWAYS})
PLACES = {"south": [4.0, 0.0], "annex": [8.0, 0.0]}


def zones(annex: float) -> list[dict[str, Any]]:
    places = PLACES | {"annex": [annex, 0.0]}
    return [{"name": name, "pose": [*at, 0.0]} for name, at in places.items()]


def move_annex(root: Path, to: float) -> None:
    page = root / "ENVIRONMENT.md"
    text = page.read_text()
    start, end = text.index("{"), text.rindex("}") + 1
    value = json.loads(text[start:end])
    value["map"]["zones"] = zones(to)
    whole = root / "edited.md"
    whole.write_text(text[:start] + json.dumps(value) + text[end:])
    whole.replace(page)  # no reader sees a half of it


def asked(served: Served) -> list[Any]:
    return [one for one in served.world.approvals.requests() if one.answer is None]


@pytest.mark.slice(2, 1)
@pytest.mark.parametrize("begun", [False, True])
def test_a_place_that_is_elsewhere_than_was_approved_is_asked_for_again(
    tmp_path: Path, broker: Any, begun: bool
) -> None:
    root = tmp_path / "lab"
    with Agv(broker.port) as one, serving(root, broker.port, zones=zones(8.0), rules=ASKING) as served:
        until(lambda: served.at() == (0.0, 0.0))
        served.add("m1", "go to the south, go to the annex", ME)
        until(lambda: len(asked(served)) == 1)
        (first,) = asked(served)
        assert [step["places"] for step in first.steps] == [
            {"south": {"x": 4.0, "y": 0.0, "theta": 0.0}}, {"annex": {"x": 8.0, "y": 0.0, "theta": 0.0}},
        ]  # fmt: skip
        if not begun:
            move_annex(root, 3.0)
        served.world.approvals.answer(first.plan, APPROVED, "operator", confirmed=True)
        if begun:
            until(lambda: one.orders)
            move_annex(root, 3.0)
        until(lambda: len(asked(served)) == 1)
        (again,) = asked(served)
        assert again.steps[0]["places"]["annex"]["x"] == 3.0 and len({*map(str, one.orders)}) == 1
        served.world.approvals.answer(again.plan, APPROVED, "operator", confirmed=True)
        until(lambda: served.mission("m1").state.ended)
        assert served.mission("m1").state.value == "succeeded" and served.at() == (3.0, 0.0)


def test_a_place_that_stays_within_what_a_person_is_shown_is_not_asked_for_again(tmp_path: Path, broker: Any) -> None:
    root = tmp_path / "lab"
    with Agv(broker.port), serving(root, broker.port, zones=zones(8.0), rules=ASKING) as served:
        until(lambda: served.at() == (0.0, 0.0))
        served.add("m1", "go to the south, go to the annex", ME)
        until(lambda: len(asked(served)) == 1)
        move_annex(root, 8.04)
        served.world.approvals.answer(asked(served)[0].plan, APPROVED, "operator", confirmed=True)
        until(lambda: served.mission("m1").state.ended)
        assert served.mission("m1").state.value == "succeeded" and not asked(served)
