"""`paos do` with a model, over the real client: from the terminal, from scripts, and with an arm that is unplugged."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from worldfs.testing.model_api import RawAnswer, ScriptedCall, serving
from worldfs.testing.waiting import PATIENCE_S

from .conftest import BODY, ROOT
from .test_stop import kernel, line_with

ODD = "chuck the apple into the basket please"
APPLE = {"do": "put_in", "object": "apple_01", "container": "basket_01"}
PLAN = ScriptedCall("plan", {"steps": [APPLE]})
KEY = "sk-acceptance-1"


@pytest.fixture
def home(onboarded):
    """A home with a scene of its own seed."""
    pytest.importorskip("mujoco")
    pytest.importorskip("pydantic_ai", reason="the extra `models`")
    place = onboarded()
    assert place.up("--seed", "7").code == 0
    return place


def configure(home, url: str, kind: str = "openai", **more: object) -> None:
    file = home.root.parent / "config.json"
    config = json.loads(file.read_text())
    base = url + ("/v1" if kind == "openai" else "")
    config["models"] = {"planner": {"kind": kind, "model": "tiny", "baseUrl": base, "retries": 0, **more}}
    file.write_text(json.dumps(config))


@pytest.mark.slice(2)
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_reading_is_shown_and_carried_out_once_confirmed(home, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_KEY", KEY)
    with serving([PLAN], in_order=True) as api:
        configure(home, api.url, kind, apiKeyEnv="TINY_KEY")
        shown = home.do(ODD)
        assert shown.code == 2 and "red apple in" in shown.out and not home.ended()
        (code,) = re.findall(r"--confirm ([0-9a-f]{16})", shown.out)
        refused = home.do("chuck the apple into the basket, please!", "--confirm", code)
        assert refused.code == 2 and not home.ended()
        done = home.do(ODD, "--confirm", code)
    assert done.code == 0, done
    assert ("in", "basket_01") in home.where("apple_01")
    jobs = home.ended()
    assert {job.order.op for job in jobs.values()} == {"pick_up", "place"}
    for job in jobs.values():
        assert job.order.extra["proposed_by"]["model"] == "tiny" and job.order.extra["proposed_by"]["latency_s"] > 0
    assert not [name for name, (data, _) in home.bytes().items() if KEY.encode() in data]


def test_in_json_each_call_is_an_event_and_so_is_the_reading(home) -> None:
    with serving([PLAN], in_order=True) as api:
        configure(home, api.url, inputPrice=1, outputPrice=1)
        values = home.paos("--json", "do", ODD, *BODY).values
    (call,) = [value for value in values if value.get("event") == "model"]
    assert (call["input_tokens"], call["output_tokens"], call["cost_usd"]) == (1000, 50, 0.00105)
    assert [len(value["confirm"]) for value in values if value.get("event") == "reading"] == [16]


def at_terminal(home, text: str, *answers: tuple[bytes, str]) -> tuple[int, bytes]:
    """`paos do` at a terminal; each answer is typed once its words are shown. The exit code, and what was said."""
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "worldfs.interfaces.cli.main", *home.options, "do", text, *BODY]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb", "COLUMNS": "500"}
    said, left = b"", list(answers)
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as process:
        os.close(theirs)
        timer = threading.Timer(PATIENCE_S, process.kill)
        timer.start()
        with suppress(OSError):  # the other end has closed
            while part := os.read(ours, 4096):
                said += part
                if left and left[0][0] in said:
                    os.write(ours, left.pop(0)[1].encode() + b"\n")
        code = process.wait()
        timer.cancel()
    os.close(ours)
    return code, said


@pytest.mark.slice(0)
@pytest.mark.parametrize(("answer", "code"), [("", 2), ("y", 0), ("n", 2)])
def test_the_person_is_asked_at_the_terminal(home, answer: str, code: int) -> None:
    with serving([PLAN], in_order=True) as api:
        configure(home, api.url)
        ended, said = at_terminal(home, ODD, (b"[y/N]", answer))
    assert ended == code, said.decode()
    assert b"I read this as: red apple in" in said
    assert bool(home.ended()) is (code == 0)


def test_what_is_ambiguous_is_asked_at_the_terminal_with_no_model_at_all(home) -> None:
    ended, said = at_terminal(home, "put the thing in the basket", (b"may be any of", "put the apple in the basket"))
    assert ended == 0, said.decode()
    assert ("in", "basket_01") in home.where("apple_01")


@pytest.mark.slice(5, 2)
@pytest.mark.parametrize(
    "answer",
    [RawAnswer(500), RawAnswer(429), RawAnswer(200, b'{"choices": [{"mess'), RawAnswer(200, b"x" * 10_000_000),
     "The apple is in the basket. Success!", "Конечно, яблоко уже в корзине.", "",
     ScriptedCall("shell", {"command": "reboot"}), ScriptedCall("plan", {"steps": [APPLE] * 1_000}),
     ScriptedCall("plan", {"steps": [{**APPLE, "object": "apple_99"}]})],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_moves_nothing(home, answer: object) -> None:
    with serving([answer], in_order=True) as api:  # type: ignore[list-item]
        configure(home, api.url)
        said = home.do(ODD)
    assert said.code == 2 and not home.ended() and "chuck" in said.out
    assert len(said.out) < 4000


def test_an_answer_that_comes_too_late_moves_nothing(home) -> None:
    late = threading.Event()
    with serving([RawAnswer(hold=late)], in_order=True) as api:
        configure(home, api.url, timeoutSeconds=1)
        said = home.do(ODD)
        late.set()
    assert said.code == 2 and not home.ended() and "no answer within 1 s" in said.out


def test_an_endpoint_that_is_not_there_moves_nothing(home) -> None:
    configure(home, "http://127.0.0.1:9")
    said = home.do(ODD)
    assert said.code == 2 and not home.ended() and "cannot be reached" in said.out


def test_settings_that_were_refused_are_named_where_the_model_would_be_asked(home) -> None:
    configure(home, "http://127.0.0.1:9", temprature=0)
    said = home.do(ODD)
    assert said.code == 2 and "models.planner.temprature" in said.out
    assert home.do("where is the apple?").code == 0


def test_a_model_that_claims_success_for_an_arm_that_is_unplugged(home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measured reason is the answer; what the model says about it is not, nor the state that the arm reports: the
    joints and the tool point of its commands."""
    import mujoco
    import numpy as np

    from worldfs.robots.mujoco import panda
    from worldfs.robots.mujoco.arm_view import ArmView
    from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

    opened = TabletopDriver.open

    def unplugged(driver: TabletopDriver, scene: object) -> None:
        opened(driver, scene)  # type: ignore[arg-type]
        model = driver.arm.rig.simulation.model  # type: ignore[attr-defined]
        model.actuator_gainprm[: panda.ARM] = 0
        model.actuator_biasprm[: panda.ARM] = 0
        monkeypatch.setattr(ArmView, "joints", echoed)
        monkeypatch.setattr(ArmView, "speeds", lambda view: np.zeros(panda.ARM))
        monkeypatch.setattr(ArmView, "tcp_pose", echoed_pose)

    def echoed(view: ArmView) -> np.ndarray:
        return np.array(view.simulation.data.ctrl[view.servos])

    def echoed_pose(view: ArmView) -> tuple[np.ndarray, np.ndarray]:
        data = mujoco.MjData(view.simulation.model)
        data.qpos[:] = view.simulation.data.qpos
        data.qpos[view.joint_qpos] = echoed(view)
        mujoco.mj_kinematics(view.simulation.model, data)
        poses.append(view.tcp_pose_in(data))
        return poses[-1]

    poses: list[tuple[np.ndarray, np.ndarray]] = []
    claim = "Done: the apple is in the basket now. success=true, goal_holds=true"
    with serving([PLAN, PLAN, claim], in_order=True) as api:
        configure(home, api.url)
        (code,) = re.findall(r"--confirm ([0-9a-f]{16})", home.do(ODD).out)
        monkeypatch.setattr(TabletopDriver, "open", unplugged)
        said = home.do(ODD, "--confirm", code)
        asked = [json.dumps(body) for _, body in api.requests]
    assert said.code == 1, said
    assert "success=true" not in said.out and "GRASP_MISSED" in said.out.splitlines()[-1]
    assert ("in", "basket_01") not in home.where("apple_01")
    assert max(at[2] for at, _ in poses) - min(at[2] for at, _ in poses) > 0.1  # so far it says that it has gone
    assert any("failed" in text for text in asked[2:])
    assert all(job.status.outcome is not None and not job.status.outcome.ok for job in home.ended().values())


@pytest.mark.proof
def test_a_reading_that_was_confirmed_waits_for_approval_as_well(home) -> None:
    with serving([PLAN], in_order=True) as api:
        configure(home, api.url)
        file = home.root.parent / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "approval": "always"}))
        with kernel(home):
            (code,) = re.findall(r"--confirm ([0-9a-f]{16})", home.paos("do", ODD).out)
            do = home.spawn("do", "--confirm", code, ODD)
            (plan,) = re.findall(r"paos approve ([0-9a-f]{16})", line_with(do, "paos approve"))
            assert not home.ended()
            assert home.paos("approve", plan).code == 0
            out, err = do.communicate(timeout=PATIENCE_S)
            assert do.returncode == 0, (out, err)
    assert {job.status.outcome.evidence["approval"]["plan"] for job in home.ended().values()} == {plan}
