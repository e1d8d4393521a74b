"""The outcome matrix: what a command does, and what its session is told to have been; nobody survives any of it."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, NamedTuple

import pytest

from worldfs.base.errors import StorageError
from worldfs.supervisor import child
from worldfs.supervisor.child import spawn
from worldfs.supervisor.launch import python_command
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S

PY = sys.executable
DOUBLE_FORK = "setsid sh -c '(sleep 600 &)'"
READY = ': > "$READY"'
DEAF = f"trap '' TERM; {READY}; while :; do sleep 0.05; done"


class Case(NamedTuple):
    name: str
    argv: tuple[str, ...]
    outcome: str
    cause: str = ""
    code: int | None = None
    signal: int | None = None
    error: str = ""  # in the errors
    words: dict[str, Any] = {}  # noqa: RUF012  # never changed
    stragglers: int | None = 0  # None: any number


def sh(line: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", line)


def breed(child: str) -> tuple[str, ...]:
    """Each makes another, again and again, deaf to TERM: 256 if nobody is faster, gone by themselves at last."""
    text = f"""import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for n in range(8): time.sleep(0.05); os.fork() or {child}
time.sleep(20)"""
    return PY, "-I", "-S", "-c", text


SOON = {"bound": "timeout_s"}
CASES = [
    Case("exits with 0", sh("exit 0"), "completed", code=0),
    Case("exits with 3", sh("exit 3"), "error", "exit", code=3, error="exit code 3"),
    Case("exits with 255", sh("exit 255"), "error", "exit", code=255, error="exit code 255"),
    Case("exits with 124 by itself", sh("exit 124"), "error", "exit", code=124, error="exit code 124"),
    Case("crashes", sh("kill -SEGV $$"), "error", "signal", signal=11, error="killed by SIGSEGV"),
    Case("is killed by another", sh("sh -c 'kill -9 '$$"), "error", "signal", signal=9, error="killed by SIGKILL"),
    Case("ends at TERM after its deadline", sh(f"{READY}; exec sleep 600"), "timeout", "deadline", signal=15,
         words=SOON),
    Case("exits 0 at TERM after its deadline", sh(f"trap 'exit 0' TERM; {READY}; while :; do sleep 0.05; done"),
         "timeout", "deadline", code=0, error="not done after ", words=SOON, stragglers=None),
    Case("ignores TERM", sh(DEAF), "timeout", "deadline", signal=9, words=SOON, stragglers=None),
    Case("double forks, then hangs", sh(f"{DOUBLE_FORK}; {DEAF}"), "timeout", "deadline", signal=9, words=SOON,
         stragglers=None),
    Case("its children have their own sessions",
         sh(f"setsid setsid sleep 600 & setsid sleep 601 & sh -c '{READY}; exec sleep 602'"), "timeout",
         "deadline", signal=15, words=SOON, stragglers=3),
    Case("leaves a daemon behind", sh(f"{DOUBLE_FORK}; exit 0"), "completed", code=0, stragglers=1),
    Case("leaves what is about to end", sh("(sleep 0.1; test -w /dev/stdout) & exit 0"), "completed", code=0),
    Case("leaves a deaf daemon behind", sh(f"setsid sh -c \"({DEAF} &)\"; sleep 0.1"), "completed", code=0,
         stragglers=None),
    Case("starts fifty", sh("for n in $(seq 50); do setsid sleep 600 & done; sleep 0.2; exit 7"), "error", "exit",
         code=7, stragglers=50),
    Case("breeds", breed("None"), "timeout", "deadline", words={"timeout_s": 0.15}, stragglers=None),
    Case("breeds in many sessions", breed("os.setsid()"), "timeout", "deadline", words={"timeout_s": 0.15},
         stragglers=None),
    Case("is stopped", sh(f"{READY}; kill -STOP $$"), "timeout", "deadline", signal=15, words=SOON),
    Case("hangs in silence", sh(f"echo one; {READY}; exec sleep 600"), "timeout", "silence", signal=15,
         error="; last line: one", words={"bound": "silence_s"}),
    Case("closes its output and goes on", sh("exec >&- 2>&-; sleep 0.3; exit 4"), "error", "exit", code=4),
    Case("reads its input to the end", sh("test $(wc -c) = 300000"), "completed", code=0,
         words={"stdin": b"x" * 300_000}),
    Case("does not read its input", sh("exit 0"), "completed", code=0, words={"stdin": b"x" * 300_000}),
    Case("has no input", sh("test $(wc -c) = 0"), "completed", code=0),
    Case("is not found", ("no-such-command-here",), "error", "spawn", code=127,
         error="no-such-command-here: no such command on PATH"),
    Case("is no such file", ("/no/such/file",), "error", "spawn", code=127, error="/no/such/file: no such file"),
    Case("is a directory", ("/",), "error", "spawn", code=126, error="/: a directory"),
    Case("is started where nothing is", sh("exit 0"), "error", "spawn", code=127,
         error="cannot start in /no/such/place: no such directory", words={"cwd": "/no/such/place"}),
    Case("says what is no text", sh("head -c 300000 /dev/urandom; exit 0"), "completed", code=0),
    Case("clears its environment", sh("env -i setsid sh -c 'sleep 600 & sleep 601 &'; exit 0"), "completed", code=0,
         stragglers=2),
]  # fmt: skip


@pytest.mark.slice(3)
@pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "-") for case in CASES])
def test_a_command_that(case: Case, stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.name == "leaves what is about to end":
        monkeypatch.setitem(spawn.__kwdefaults__, "linger_s", PATIENCE_S)
    runs = 1
    if "bound" in case.words:
        ended = stage.soon(*case.argv, ready=stage.ready, **case.words)
        runs = len(stage.book.calls) // 2
    else:
        ended = stage.run(*case.argv, **case.words)
    assert stage.alive() == []
    assert (ended.outcome, ended.cause) == (case.outcome, case.cause), ended
    if case.cause != "deadline" or case.code is not None or case.signal is not None:
        assert (ended.exit_code, ended.signal) == (case.code, case.signal), ended
    assert case.error in " | ".join(ended.errors)
    assert bool(ended.errors) == (case.outcome != "completed")
    if case.stragglers is not None:
        assert len(ended.stragglers) == case.stragglers, ended.stragglers
    assert ended.survivors == () and ended.tree
    assert stage.book.calls == ["start", "finish"] * runs
    assert stage.book.finished["outcome"] == case.outcome


@pytest.mark.parametrize("stream", [1, 2])
def test_a_command_that_speaks_in_time_is_not_silent(stream: int, stage: Any) -> None:
    """Each line is followed by most of the silence that is allowed."""
    clock, (end, into) = ManualClock(), os.pipe()
    line = f'for n in 1 2 3 4 5; do echo $n >&{stream}; until test -e "$READY$n"; do sleep 0.01; done; done'

    def listen() -> None:
        with open(end, "rb", buffering=0) as heard:
            for n in range(1, 6):
                assert heard.readline() == b"%d\n" % n
                clock.advance(0.3)
                (stage.tmp / f"ready{n}").touch()

    listening = threading.Thread(target=listen)
    listening.start()
    ended = stage.run(*sh(line), clock=clock, silence_s=0.4, **{("out", "err")[stream - 1]: into})
    os.close(into)
    listening.join()
    assert (ended.outcome, ended.exit_code) == ("completed", 0), ended
    assert clock.monotonic() == pytest.approx(1.5)


def test_a_file_that_may_not_be_executed(stage: Any) -> None:
    ended = stage.run(stage.script("plain", "echo hi", 0o644))
    assert (ended.cause, ended.exit_code) == ("spawn", 126)
    assert "not executable (chmod +x" in ended.errors[0]


def test_a_script_whose_interpreter_is_not_there(stage: Any) -> None:
    ended = stage.run(stage.script("odd", "#!/no/such/python\n"))
    assert (ended.cause, ended.exit_code) == ("spawn", 127)
    assert "its interpreter is not there (#!/no/such/python)" in ended.errors[0]


def test_a_script_without_a_first_line(stage: Any) -> None:
    ended = stage.run(stage.script("bare", "echo hi\n"))
    assert ended.cause == "spawn"
    assert "no #! line that names an interpreter" in ended.errors[0]


NO_ADOPTION = """
import sys; sys.path.append(sys.argv[1])
from worldfs.supervisor import prctl
prctl.become_subreaper = lambda on=True: False
from worldfs.supervisor.supervisor import main
main()"""


@pytest.mark.parametrize("line", ["sleep 600 & exit 0", f"sleep 600 & {DEAF}"])
def test_where_orphans_cannot_be_adopted_the_group_is_ended_and_it_is_said(
    line: str, stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    *start, _, packages = python_command("", "")
    monkeypatch.setattr(
        child, "python_command", lambda module, function, *words: [*start, NO_ADOPTION, packages, *words]
    )
    ended = stage.run(*sh(line)) if "exit 0" in line else stage.soon(*sh(line), ready=stage.ready)
    assert stage.alive() == []
    assert ended.outcome == ("completed" if "exit 0" in line else "timeout")
    assert not ended.tree and ended.survivors == ()
    assert stage.facts(ended)["reach"] == "process group only"


def test_sixty_four_megabytes_pass_through_and_leave_two(stage: Any) -> None:
    line = "import sys; b=b'%063d\\n' % 7 * 1024\nfor n in range(1024): sys.stdout.buffer.write(b)"
    ended = stage.run(PY, "-c", line + "\nprint('the last words')")
    assert ended.outcome == "completed" and ended.output_bytes == (64 << 20) + len("the last words\n")
    log = stage.log(ended)
    assert (2 << 20) - 70_000 < len(log) < (2 << 20) + 100
    assert log.startswith(b"%063d\n" % 7) and log.endswith(b"\nthe last words\n") and b"[paos: " in log


def test_a_supervisor_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "START_S", 0.2)
    monkeypatch.setattr(child, "python_command", lambda *words: ["sleep", "600"])
    with open(os.devnull) as null, pytest.raises(StorageError, match="supervisor") as refused:
        spawn(["true"], {}, stdin=null.fileno(), stdout=null.fileno(), stderr=null.fileno())
    assert refused.value.code == "SPAWN"


STUCK = """
import sys; sys.path.append(sys.argv[1])
from worldfs.supervisor import supervisor
supervisor.START_S, supervisor.python_command = 0.2, lambda *words: ["/bin/sleep", "600"]
supervisor.main()"""


def test_a_command_whose_process_never_gets_to_it_has_not_started(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that does not answer can hold it before it becomes the command."""
    *start, _, packages = python_command("", "")
    monkeypatch.setattr(child, "python_command", lambda module, function, *words: [*start, STUCK, packages, *words])
    ended = stage.run("true")
    assert ended.cause == "spawn" and "timed out" in ended.errors[0]
    assert stage.alive() == []
