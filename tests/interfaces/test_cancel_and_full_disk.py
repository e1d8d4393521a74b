"""`paos cancel` says how the job ended, here and over --connect; a full disk hides no report."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from worldfs.base.model import Cause, JobState, JobStatus, Outcome
from worldfs.interfaces.cli import remote_commands
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import CommandOutput
from worldfs.interfaces.cli.command_table import COMMANDS
from worldfs.interfaces.cli.main import main
from worldfs.runtime.job_codec import status_bytes

STANDS = Outcome.failure(Cause.CANCELLED, "CANCELLED", "stopped")
MOVES = Outcome.failure(Cause.CANCELLED, "STOP_UNCONFIRMED", "it may still move")


class ServedJob:
    """A served world with one job of one robot: it is as `states` say, one after the other."""

    def __init__(self, *states: JobStatus) -> None:
        self.states, self.written = [*states], list[str]()

    def list(self, path: str) -> list[str]:
        return ["arm"]

    def exists(self, path: str) -> bool:
        return path == "/nodes/arm/jobs/j1/status.json"

    def read(self, path: str, wait: float = 0) -> bytes:
        return status_bytes(self.states.pop(0) if len(self.states) > 1 else self.states[0])

    def write(self, path: str, text: str) -> None:
        self.written.append(path)


RUNS = JobStatus(JobState.RUNNING, 1)


@pytest.mark.parametrize(
    ("states", "code", "said"),
    [
        ((RUNS, RUNS, JobStatus(JobState.FAILED, 1, outcome=STANDS)), 0, {"cancel": "asked"}),
        ((RUNS, RUNS, JobStatus(JobState.FAILED, 1, outcome=MOVES)), 1, {"cancel": "asked", "may_move": True}),
        ((RUNS,), 1, {"cancel": "asked", "state": "running", "may_move": True}),
        ((JobStatus(JobState.PENDING),), 0, {"cancel": "asked"}),
        ((JobStatus(JobState.FAILED, 1, outcome=STANDS),), 1, {"cancel": "too late", "state": "failed"}),
        ((JobStatus(JobState.SUCCEEDED, 1),), 1, {"cancel": "too late", "state": "succeeded"}),
    ],
)
def test_a_cancel_over_the_wire_waits_for_the_end_of_a_robot_s_job(
    states: tuple[JobStatus, ...], code: int, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    world = ServedJob(*states)

    @contextmanager
    def opened(context: CommandContext) -> Iterator[ServedJob]:
        yield world

    monkeypatch.setattr(remote_commands, "open_connection", opened)
    monkeypatch.setattr(remote_commands, "CONFIRM_S", 0.2)  # of one that does not end
    assert main(["--json", "--connect", "ws://127.0.0.1:1", "cancel", "j1"]) == code
    found = json.loads(capsys.readouterr().out)
    assert said.items() <= found.items() and found["job"] == "j1"
    assert world.written == ([] if said["cancel"] == "too late" else ["/nodes/arm/jobs/j1/cancel"])


def test_the_help_of_cancel_tells_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    main(["cancel", "--help"])
    assert "Exit 1" in capsys.readouterr().out


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def reports(context: CommandContext) -> int:
    context.output.report("franka_001: NOT stopped", {"stopped": False}, "bad")
    return 1 if context["all"] else 0


@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize("errors_too", [False, True])
def test_what_cannot_be_written_is_said_on_standard_error_and_is_no_success(
    json_too: list[str], errors_too: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = next(one for one in COMMANDS if one.name == "resume")
    module = "tests.reporting"
    monkeypatch.setitem(__import__("sys").modules, module, __import__("sys").modules[__name__])
    errors: io.StringIO = FullDisk() if errors_too else io.StringIO()
    monkeypatch.setattr("sys.stdout", FullDisk())
    monkeypatch.setattr("sys.stderr", errors)
    for more in ([], ["--all"]):
        assert main([*json_too, "resume", *more], (command._replace(target=f"{module}:reports"),)) == 3
    if not errors_too:
        assert "franka_001: NOT stopped" in errors.getvalue() and "stdout" in errors.getvalue()


def test_a_reader_that_went_away_ends_the_command_as_before() -> None:
    with pytest.raises(BrokenPipeError):
        CommandOutput(out=Gone(), err=io.StringIO()).report("x", {})
    with pytest.raises(BrokenPipeError):
        CommandOutput(json=True, out=Gone(), err=io.StringIO()).error("x", {})
