"""`models.critic` of config.json: what it refuses is refused by the kernel, and a measured end is never its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import Cause, JobState, Scene
from worldfs.base.stop_signal import StopSignal
from worldfs.formats import config, lessons_file
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.models.call_log import model_uses
from worldfs.planning.lesson_notes import avoid
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import WorkspaceFixture, order
from worldfs.world.world import World

MODEL = """
import threading
from worldfs.base.chat_model import ModelReply, ModelUnavailable, RequestedCall

ASKED = threading.Event()
STOPPED = threading.Event()

class Model:
    def __init__(self, settings, context):
        self.says = settings.get("says")

    def reply(self, messages, tools, run):
        ASKED.set()
        if self.says == "nothing":
            run.cancel.wait()
            STOPPED.set()
        if self.says == "down":
            raise ModelUnavailable("cannot be reached", code="MODEL_UNREACHABLE")
        return ModelReply("", (RequestedCall(self.says, {"reason": "a cup of coffee stands there"}),), 50, 5, 0.25)
"""


@pytest.fixture
def site(tmp_path: Path, install: Any) -> WorkspaceFixture:
    install("critics", {"worldfs.models": {"scripted": "scripted_critic:Model"}}, scripted_critic=MODEL)
    return WorkspaceFixture(tmp_path, ("arm_1",))


def opened(site: WorkspaceFixture, says: str, *, threads: bool = False, **more: object) -> World:
    critic = {"kind": "scripted", "says": says, "retries": 0, **more}
    settings = config.read(json.dumps({"models": {"critic": critic}}).encode())
    drivers = {"simulation": lambda context: NullDriver(executed=site.executed)}
    return World.open(site.root, config=settings, clock=site.clock, serve=True, drivers=drivers, threads=threads)


def ended(site: WorkspaceFixture, says: str, params: dict[str, object] | None = None, **more: object) -> Any:
    with opened(site, says, **more) as world:
        world.submit(order("one", params=params))
        site.run_until_idle(world)
        return world.jobs.load("one").status


def test_a_refusal_is_a_refusal_of_the_job_with_a_lesson_that_forbids_nothing_for_ever(site: WorkspaceFixture) -> None:
    status = ended(site, "refuse")
    assert status.outcome.cause is Cause.REJECTED and status.outcome.code == "MODEL_CRITIC" and not site.executed
    assert status.outcome.evidence["model_review"]["calls"][0]["cost_usd"] == 0.25
    lessons = lessons_file.read(site.read("LESSONS.md"))
    assert "a cup of coffee stands there" in lessons[0].reason and avoid(lessons, order("two"), Scene(), None) is None


def test_agreement_turns_no_measured_failure(site: WorkspaceFixture) -> None:
    status = ended(site, "agree", {"fail": "the arm is unplugged"})
    assert status.state is JobState.FAILED and status.outcome.message == "the arm is unplugged"
    assert status.outcome.evidence["model_review"]["verdict"] == "agree"


def test_a_model_that_is_down_is_a_note_and_the_job_goes_on(site: WorkspaceFixture) -> None:
    status = ended(site, "down")
    assert status.state is JobState.SUCCEEDED and len(site.executed) == 1
    assert [item.code for item in status.outcome.findings] == ["MODEL_CRITIC_SILENT"]
    assert status.outcome.evidence["model_review"]["error"] == "MODEL_UNREACHABLE"


def test_where_it_is_required_nothing_moves_without_it_and_no_lesson_is_learned(site: WorkspaceFixture) -> None:
    status = ended(site, "down", required=True)
    assert status.outcome.cause is Cause.REJECTED and status.outcome.code == "MODEL_UNREACHABLE" and not site.executed
    assert status.outcome.evidence["model_review"]["verdict"] == "none"
    assert not (site.root / "LESSONS.md").exists() or "cannot be reached" not in site.read("LESSONS.md").decode()


def test_settings_that_cannot_be_read_count_as_required(site: WorkspaceFixture) -> None:
    status = ended(site, "agree", maxTokens="many")
    assert status.outcome.cause is Cause.REJECTED and status.outcome.code == "MODEL_CONFIG" and not site.executed


def test_the_calls_of_a_model_without_a_home_are_logged_in_the_workspace_and_not_where_the_process_runs(
    site: WorkspaceFixture, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    ended(site, "agree")
    assert [use.use for use in model_uses(site.root)] == ["critic"]
    assert list(elsewhere.iterdir()) == []


def test_a_stop_ends_the_review_at_once(site: WorkspaceFixture) -> None:
    import scripted_critic

    scripted_critic.ASKED.clear()
    with opened(site, "nothing", threads=True) as world, KernelThread(world):
        world.submit(order("one"))
        assert scripted_critic.ASKED.wait(PATIENCE_S)
        world.cancel("one")
        done = world.await_job("one", StopSignal())
        assert done.outcome is not None and done.outcome.cause is Cause.CANCELLED and not site.executed
        assert scripted_critic.STOPPED.wait(PATIENCE_S)
