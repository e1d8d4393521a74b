"""What bodies and kernel say in English is read in Chinese in a Chinese workspace, and only there."""

from __future__ import annotations

import re

import pytest

from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import render_finding, render_outcome
from worldfs.base.model import Cause, Finding, JobState, JobStatus, Order, Outcome, Scene, Thing
from worldfs.planning.planner import failure_reasons
from worldfs.runtime.admission import admit
from worldfs.runtime.job_codec import read_status, status_line
from worldfs.runtime.job_end import refusal_outcome

# Ids, ops, params and file names stand in both languages.
KEPT = re.compile(
    r"MUJOCO_GL=\w+|[\w.]+_\w+|[A-Z]+\.md|config\.json|\[x, y, z(, roll, pitch, yaw)?\]|'[^']*'|\"[^\"]*\"|\bx, y, z\b"
    r"|\b(id|params|target|place|home|ready|wave|steps|paos do|strategy|z|embodiments\.instances)\b"
)


def english_left(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", KEPT.sub("", text))


def words(finding: Finding) -> tuple[str, str, str]:
    return finding.expected, finding.found, finding.fix


ORDERS = (
    ("move_to", {}),
    ("move_to", {"target_pose": [3.0, 0.0, 0.5]}),
    ("move_to", {"target_pose": [0.5, 0.0, -0.3]}),
    ("move_to", {"target_pose": [0.4, 0.0, 0.4, 0.1]}),
    ("move_to", {"target_pose": ["a", 1, 2]}),
    ("pick_up", {}),
    ("pick_up", {"object_id": "unicorn_01"}),
    ("pick_up", {"object_id": "table_01"}),
    ("place", {"target": "basket_01"}),
    ("target_navigation", {}),
    ("target_navigation", {"target_label": "unicorn_01"}),
    ("real_execute", {"nl_task": "x"}),
    ("strategy", {"name": "nonsense_01"}),
    ("strategy", {"name": "pick_and_place"}),
    ("strategy", {"name": "pick_and_place", "object_id": "apple_01"}),
    ("strategy", {"steps": "x"}),
    ("strategy", {"steps": [{"action_type": "strategy"}]}),
)


@pytest.fixture(scope="module")
def body():
    pytest.importorskip("mujoco")
    from worldfs.robots.mujoco.shared_world import SharedWorld
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    body = TabletopDriver("franka_001", world=SharedWorld(seed=7), cameras=False)
    body.open(Scene())
    yield body
    body.close()


@pytest.mark.slice(2)
@pytest.mark.parametrize(("op", "params"), ORDERS)
def test_a_body_s_refusal_is_chinese_in_a_chinese_workspace(body, op, params) -> None:
    findings = body.review(Order("act_001", "franka_001", op, params))
    assert findings, "the order is bad"
    for finding in findings:
        told = render_finding(finding, "zh")
        # why there is no picture is the graphics library's own word
        checked = words(told)[:1] if told.code == "CAMERA_UNAVAILABLE" else words(told)
        assert not any(english_left(text) for text in checked), told
        assert (told.code, told.job) == (finding.code, finding.job)
        message = render_outcome(refusal_outcome((finding,)), "zh").message
        assert message == f"{told.field}：{told.found}；应为 {told.expected}；{told.fix}"


def test_the_kernel_s_own_refusals_are_chinese() -> None:
    order = Order("act_001", "ghost_01", "pick_up", depends_on=("act_000",))
    refused = admit(order, ["arm_01"], lambda id: False)
    assert len(refused) == 2
    for finding in refused:
        assert not any(english_left(text) for text in words(render_finding(finding, "zh"))), finding


def test_the_planner_still_finds_what_is_in_the_way_in_the_job_file_of_a_chinese_workspace() -> None:
    robot = coded("robot.body")
    hits = [coded("robot.contact", one=id, other=robot, mm=mm) for id, mm in (("basket_01", 12), ("bar_01", 4))]
    found = coded("robot.at_grasp", hits=hits)
    finding = Finding("CRITIC_REFUSED", coded("robot.collision_check"), coded("robot.no_contact"), found, "")
    outcome = render_outcome(refusal_outcome((finding,)), "zh")
    kept = status_line(JobStatus(JobState.FAILED, outcome=outcome))
    read = read_status(kept, "act_1").outcome
    assert read is not None and read == outcome
    scene = Scene(objects=(Thing("bar_01"),), furniture=(Thing("basket_01"),))
    assert failure_reasons.collides(read)
    assert failure_reasons.obstructing_ids(read, scene) == ("basket_01", "bar_01")


def test_a_job_file_of_an_older_version_shows_its_own_text() -> None:
    line = (
        b'{"status": "failed", "attempt": 1, "outcome": {"ok": false, "message": "cup was lost on the way",'
        b' "cause": "error", "code": "OBJECT_LOST", "findings": [{"code": "X", "field": "f", "expected": "e",'
        b' "found": "g", "fix": "h", "job": "", "warning": false}]}}'
    )
    outcome = read_status(line, "act_1").outcome
    assert outcome is not None
    assert render_outcome(outcome, "zh") == outcome
    assert outcome.message == "cup was lost on the way" and outcome.findings == (Finding("X", "f", "e", "g", "h"),)


def test_a_driver_that_gives_plain_text_is_quoted_as_it_is() -> None:
    outcome = Outcome.failure(Cause.ERROR, "STALLED", "motor 3 stalled")
    assert render_outcome(outcome, "zh").message == "motor 3 stalled"
