"""A package's body that closes the streams of the process: the kernel goes on, and its end is told."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.interfaces.cli.command_output import CommandOutput
from worldfs.interfaces.cli.exits import CLOSED
from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S, until

BODY = """
import os, sys
from worldfs.base.model import Operation, Outcome, Parameter, Profile, RobotState, Scene

DIM = Operation("dim", "Dim", (Parameter("level", "number"),), moves=False, shows=(("brightness", "level"),))

class Lamp:
    operations = (DIM,)
    profile = Profile("Lamp", "Lamp 1", ops=operations)
    real = False

    def __init__(self, context): self.robot, self.level = context.robot_id, 0
    def open(self, scene): pass
    def observe(self): return Scene((RobotState(self.robot, (0.0, 0.0, 0.0), extra={"brightness": self.level}),))
    def review(self, order): return ()
    def close(self): pass
    def execute(self, order, run):
        exec(os.environ["LAMP_DOES"])
        self.level = order.params["level"]
        return Outcome.success("it is done")
"""
ORDER = {"action_id": "a1", "action_type": "dim", "params": {"level": 40}, "robot_id": "lamp_001", "status": "pending"}


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("sys.stdout.close(); sys.stderr.close()", True),
        ("print('mine'); sys.stdout.close()", True),
        ("sys.stdout.buffer.close()", False),
        ("os.close(1)", False),
    ],
)
def test_a_body_that_closes_the_streams_of_the_process_ends_no_kernel(install, tmp_path, does, told) -> None:
    place = install("lamps", {"worldfs.bodies": {"lamp": "lamps:Lamp"}}, lamps=BODY)
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard", "--profile", "lamp", "--robot-id", "lamp_001"]) == 0
    (home / "workspace" / "ACTION.md").write_text(json.dumps({"queue": [ORDER]}))
    paths = os.pathsep.join([str(place), *filter(None, sys.path)])
    environ = {**os.environ, "LAMP_DOES": does, "PYTHONPATH": paths, "PhyAgentOS_approval": "never"}
    words = [sys.executable, "-c", "import sys; from worldfs.interfaces.cli.main import main; sys.exit(main())",
             "--home", str(home), "up", "--until-idle", "--no-cameras"]  # fmt: skip
    ended = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert "bug" not in ended.stderr and "Traceback" not in ended.stderr, ended.stderr
    assert json.loads((home / "workspace" / "ACTION.md").read_text())["queue"][0]["status"] == "completed"
    if told:
        assert ended.returncode == 0 and ended.stdout.rstrip().endswith("kernel stopped")


def test_a_line_for_a_stream_that_was_closed_is_an_error_of_the_system_and_a_notice_is_lost() -> None:
    closed = io.StringIO()
    closed.close()
    output = CommandOutput(out=closed, err=closed)
    with pytest.raises(OSError, match="closed"):
        output.line("hello", "good")
    output.notice("hello")
    output.report("hello", {})
    assert output.lost is not None


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO, errno.EBADF])
def test_a_command_whose_output_can_be_written_no_more_ends_by_that(monkeypatch, tmp_path: Path, number: int) -> None:
    class Gone(io.StringIO):
        def flush(self) -> None:
            raise OSError(number, os.strerror(number))

        def fileno(self) -> int:
            return file.fileno()

    with (tmp_path / "out").open("wb") as file:
        monkeypatch.setattr(sys, "stdout", Gone())
        assert main(["version"]) == CLOSED


def test_a_lent_stream_that_is_closed_writes_on(tmp_path: Path) -> None:
    from worldfs.interfaces.cli.command_output import LentStream

    with (tmp_path / "out").open("wb") as file:
        stream = LentStream(file)
        stream.write("one ")
        stream.close()
        stream.write("two")
        stream.close()
        assert (tmp_path / "out").read_text() == "one two"


@pytest.mark.parametrize("way", ["notice", "line"])
def test_what_a_signal_says_while_a_line_is_written_is_written_after_it(way) -> None:
    """A signal's handler runs within the write that it interrupts."""
    written: list[bytes] = []

    class Interrupted(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data) -> int:
            written.append(bytes(data))
            if len(written) == 1:
                getattr(output, way)("stopping")
            return len(data)

    stream = io.TextIOWrapper(io.BufferedWriter(Interrupted()), "utf-8", line_buffering=True)
    output = CommandOutput(out=stream, err=stream)
    output.line("hello")
    until(lambda: b"".join(written) == b"hello\nstopping\n")
