"""Text of other agents and programs on a person's terminal: it is shown, and commands nothing."""

import io
import json
import subprocess
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable

import pytest

from worldfs.base.messages import coded
from worldfs.base.model import Finding, Job, JobState, JobStatus, Order, Outcome
from worldfs.base.shown_text import shown_text
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import CommandOutput, columns
from worldfs.interfaces.cli.status_command import status_lines
from worldfs.interfaces.cli.stop_command import _told
from worldfs.interfaces.cli.up import JobEventPrinter
from worldfs.runtime.stop_report import RobotStop, StopReport
from worldfs.world.status_report import job_value

CLEAR = "\x1b[2J\x1b]0;title\x07\x9b31m\r\b"
TURNED = "\u202ereversed\u2066\u200b\u2028\ufeff\U000e0041\ud800"
FORGED = "20:20:00  j7  arm_1 go  succeeded: ok"
ENDS = ("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029")  # of lines, for one program or another
JOINERS = "\u200c\u200d"


@pytest.mark.parametrize("way", ["line", "report", "notice", "error"])
def test_controls_are_shown_and_not_obeyed(way: str) -> None:
    out = io.StringIO()
    said = CommandOutput(out=out, err=out)
    {
        "line": lambda: said.line(f"subject {CLEAR}苹果\tx"),
        "report": lambda: said.report(f"subject {CLEAR}苹果\tx", {}),
        "notice": lambda: said.notice(f"subject {CLEAR}苹果\tx"),
        "error": lambda: said.error(f"subject {CLEAR}苹果\tx", {}),
    }[way]()
    assert r"subject \x1b[2J\x1b]0;title\x07\x9b31m\x0d\x08苹果" in out.getvalue()
    assert not {sign for sign in out.getvalue() if ord(sign) < 32} - {"\t", "\n"}


def _of_up(said: CommandOutput, foreign: str) -> None:
    printed = JobEventPrinter(CommandContext({}, said))
    said.language = lambda: "en"
    order = Order("j6", "arm_1", "go", {"object_id": foreign})
    printed("running", Job(order, JobStatus(JobState.RUNNING, started_at="2026-11-28T20:20:00Z")))
    printed("ended", Job(order, JobStatus(JobState.SUCCEEDED, outcome=Outcome.success(foreign))))
    printed.alert(Finding("CODE", "field", foreign, foreign, foreign))


def _of_status(said: CommandOutput, foreign: str) -> None:
    order = Order("j6", "arm_1", "go", {"object_id": foreign})
    job = {**job_value(Job(order, JobStatus())), "doubt": {"model": foreign, "reason": foreign}}
    busy = {"id": "arm_1", "driver": "x", "held": foreign, "state": "idle", "instruction": {"text": foreign, "pid": 1}}
    alert = {"code": "CODE", "field": "field", "found": foreign}
    for text, mood in status_lines({"nodes": [busy], "recent": [job], "alerts": [alert], "kernel": foreign}):
        said.line(text, mood)


def _of_stop(said: CommandOutput, foreign: str) -> None:
    context = CommandContext(defaultdict(lambda: None), said)
    said.language = lambda: "en"
    _told(context, None, StopReport((RobotStop("arm_1", False, foreign), RobotStop("arm_1", True, foreign)), foreign))


def _of_lessons(said: CommandOutput, foreign: str) -> None:
    said.line(coded("command.lesson_times", title=foreign, n=2))
    said.line(foreign)
    said.notice(foreign)
    said.error(foreign, {})


@pytest.mark.parametrize("output", [_of_up, _of_status, _of_stop, _of_lessons])
@pytest.mark.parametrize("end", ENDS, ids=ascii)
def test_no_text_makes_a_line_of_a_log(output: Callable[[CommandOutput, str], None], end: str) -> None:
    """An order's parameter, what a body says of its end, what a driver says of a stop: all of it stays in its line."""
    out = io.StringIO()
    output(CommandOutput(out=out, err=out), f"x{end}{FORGED}")
    assert FORGED[:12] in out.getvalue()
    assert [line for line in out.getvalue().splitlines() if line.strip().startswith("20:20:00  j7")] == []


def test_a_text_that_is_meant_to_have_lines_has_them() -> None:
    out = io.StringIO()
    CommandOutput(out=out).lines("one\n  two\x1b\n\nthree\n")
    assert out.getvalue() == "one\n  two\\x1b\n\nthree\n\n"


def test_no_text_makes_a_row_of_a_table() -> None:
    rows = [("a\nb.json", "leo", "one\nx.json  operator  stop"), ("苹果", "rio\x1b[A", "")]
    assert columns(rows) == [
        "a b.json  leo        one",
        "                     x.json  operator  stop",
        r"苹果      rio\x1b[A",
    ]
    assert columns([("key", "v1\nv2")], "  ") == ["  key  v1", "       v2"]


def test_every_sign_that_shows_nothing_or_turns_text_around_is_shown() -> None:
    """By the properties of Unicode, and not by the list that the function has. The joiners make signs of signs."""
    for number in range(0x110000):
        sign = chr(number)
        obeyed = unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or (
            unicodedata.bidirectional(sign) in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "BN")
            and unicodedata.category(sign) == "Cf"
            and sign not in JOINERS
        )
        if obeyed and not unicodedata.name(sign, "").startswith(("SHORTHAND", "MUSICAL SYMBOL")):
            assert shown_text(sign).startswith("\\"), hex(number)
    assert (
        shown_text(f"苹果 é\u3000👩{JOINERS[1]}🚀 می{JOINERS[0]}خواهم")
        == f"苹果 é\u3000👩{JOINERS[1]}🚀 می{JOINERS[0]}خواهم"
    )


@pytest.mark.parametrize("way", ["line", "report", "notice", "error"])
def test_text_that_is_turned_around_or_hidden_is_shown_so(way: str) -> None:
    out = io.StringIO()
    said = CommandOutput(out=out, err=out)
    {"line": said.line, "report": lambda text: said.report(text, {}), "notice": said.notice}.get(
        way, lambda text: said.error(text, {})
    )(TURNED)
    assert r"\u202ereversed\u2066\u200b\u2028\ufeff\U000e0041\ud800" in out.getvalue()


def test_json_reads_back_as_it_was_and_commands_nothing() -> None:
    out = io.StringIO()
    CommandOutput(json=True, out=out).value({"subject": CLEAR + TURNED + "苹果"})
    assert "苹果" in out.getvalue() and out.getvalue().rstrip("\n").isprintable()
    assert json.loads(out.getvalue()) == {"subject": CLEAR + TURNED + "苹果"}


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_file_on_a_terminal_is_shown_and_in_a_pipe_it_is_its_bytes() -> None:
    data = f"{CLEAR}\u202e苹果".encode() + b"\xff"
    screen = Screen()
    said = CommandOutput(out=screen)
    for at in range(len(data)):  # in pieces, as a shell gives it: a sign of several bytes stays whole
        said.write_raw(data[at : at + 1])
    said.write_file(b"\n")
    assert screen.getvalue() == r"\x1b[2J\x1b]0;title\x07\x9b31m\x0d\x08\u202e苹果\xff" + "\n"
    pipe = io.TextIOWrapper(io.BytesIO(), "utf-8")
    CommandOutput(out=pipe).write_file(data)
    assert pipe.buffer.getvalue() == data  # type: ignore[attr-defined]  # a BytesIO


def test_what_a_library_logs_is_shown_too() -> None:
    """A server's log quotes what a peer sends, as a `Host:`."""
    script = (
        "import logging, sys, worldfs.interfaces.cli.main as main\n"
        "main._answer = lambda *_: logging.getLogger('a').warning('Invalid Host: %s', '\\x1b[2J\\u202ex') or 0\n"
        "main.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stderr == b"Invalid Host: \\x1b[2J\\u202ex\n"
