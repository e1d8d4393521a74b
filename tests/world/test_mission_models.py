"""A mission in words that the grammar does not know: a model proposes, its submitter confirms, and only that moves."""

import json
import re
import threading

import pytest

from worldfs.formats import config
from worldfs.interfaces.cli.main import main
from worldfs.models.call_log import model_uses
from worldfs.testing.null_driver import NullDriver
from worldfs.world.world import World

MODEL = """
from worldfs.base.chat_model import ModelReply, RequestedCall

class Model:
    def __init__(self, settings, context):
        self.steps = settings["steps"]

    def reply(self, messages, tools, run):
        return ModelReply("", (RequestedCall("plan", {"steps": self.steps}),))
"""
WAVE = {"do": "wave"}
ODD = "say hello to the visitors in your own way"


@pytest.fixture
def serve(tmp_path, install):
    install("planners", {"worldfs.models": {"scripted": "scripted_planner:Model"}}, scripted_planner=MODEL)
    scene = {"robots": [{"robot_id": "arm_1", "pose": [0.0, 0.0, 0.0]}], "objects": []}
    (tmp_path / "ENVIRONMENT.md").write_text(json.dumps(scene))
    executed = []

    def serve(*steps):
        """Everything that is queued; the missions, the latest last."""
        models = {"planner": {"kind": "scripted", "steps": list(steps)}} if steps else {}
        settings = config.read(json.dumps({"models": models}).encode())
        drivers = {"simulation": lambda context: NullDriver(executed=executed)}
        with World.open(tmp_path, config=settings, serve=True, drivers=drivers) as world:
            world.run(stop=threading.Event(), until_idle=True)
            said = json.loads(world.namespace("operator").read("/projects/main/missions.json").data)["missions"]
        return sorted(said, key=lambda item: item["created_at"])

    serve.executed = executed
    serve.add = lambda *words: main(["--workspace", str(tmp_path), "mission", "add", *words])
    return serve


def code_of(mission):
    found = re.search(r"--robot (\S+) --confirm (\S+)", mission["reason"])
    assert found, mission["reason"]
    return found.groups()


def test_what_a_model_proposes_moves_once_its_submitter_has_confirmed_it(serve):
    assert serve.add(ODD) == 0
    (first,) = serve(WAVE)
    assert first["state"] == "failed" and serve.executed == []
    robot, code = code_of(first)
    assert serve.add("--robot", robot, "--confirm", code, ODD) == 0
    assert serve(WAVE)[-1]["state"] == "succeeded"
    assert [order.params["name"] for order in serve.executed] == ["wave"]
    assert serve.executed[0].extra["mission"] and serve.executed[0].extra["proposed_by"]


def test_a_model_that_answers_otherwise_than_was_confirmed_moves_nothing(serve):
    serve.add(ODD)
    robot, code = code_of(serve(WAVE)[0])
    serve.add("--robot", robot, "--confirm", code, ODD)
    assert serve({"do": "go_home"})[-1]["state"] == "failed"
    serve.add("--robot", robot, "--confirm", "0" * len(code), ODD)
    assert serve(WAVE)[-1]["state"] == "failed"
    assert serve.executed == []


def test_what_the_grammar_knows_no_model_is_asked_for_and_a_negation_reaches_none(serve):
    serve.add("wave")
    serve.add("do not wave")
    assert [mission["state"] for mission in serve({"do": "go_home"})] == ["succeeded", "failed"]
    assert [order.params["name"] for order in serve.executed] == ["wave"]


def test_without_a_model_it_fails_with_the_grammar_s_words(serve):
    serve.add(ODD)
    assert serve()[0]["state"] == "failed"
    assert "--confirm" not in serve()[0]["reason"]


def test_the_calls_of_missions_without_a_home_are_logged_in_the_workspace(serve, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    serve.add(ODD)
    serve(WAVE)
    assert [use.use for use in model_uses(tmp_path)] == ["planner"]
    assert list(elsewhere.iterdir()) == []
