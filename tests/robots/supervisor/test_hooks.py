"""Shell commands around the work of a session."""

from __future__ import annotations

import json
from typing import Any

from worldfs.supervisor import ShellHooks


def test_a_pre_hook_runs_first_in_the_running_session(stage: Any) -> None:
    mark = stage.tmp / "order"
    hooks = ShellHooks(pre=f"echo pre $PAOS_AGENT $PAOS_SESSION >> {mark}", post=f"echo post $PAOS_RESULT >> {mark}")
    ended = stage.run("/bin/sh", "-c", f"echo work >> {mark}", hooks=hooks)
    assert ended.outcome == "completed" and ended.errors == ()
    assert mark.read_text().splitlines() == [f"pre rio {ended.session.session_id}", "work", "post completed"]
    assert [(one["hook"], one["outcome"]) for one in stage.book.told("hook_end")] == [
        ("pre", "completed"),
        ("post", "completed"),
    ]


def test_a_pre_hook_that_fails_keeps_the_command_from_beginning(stage: Any) -> None:
    mark = stage.tmp / "order"
    hooks = ShellHooks(
        pre="echo no branch >&2; exit 9", post=f"echo post >> {mark}", error=f"echo $PAOS_CAUSE >> {mark}"
    )
    ended = stage.run("/bin/sh", "-c", f"echo work >> {mark}", hooks=hooks)
    assert (ended.outcome, ended.cause, ended.exit_code) == ("error", "hook", None)
    assert ended.errors == ("pre hook: exit code 9",)
    assert mark.read_text() == "hook\n"
    assert stage.log(ended) == b"no branch\n"


def test_an_error_hook_is_told_how_it_went(stage: Any) -> None:
    mark = stage.tmp / "order"
    hooks = ShellHooks(post=f"echo post >> {mark}", error=f"echo $PAOS_RESULT $PAOS_CAUSE $PAOS_EXIT_CODE >> {mark}")
    stage.run("/bin/sh", "-c", "exit 5", hooks=hooks)
    stage.run("/bin/sh", "-c", "kill -9 $$", hooks=hooks)
    stage.run("sleep", "600", hooks=hooks, timeout_s=0.2)
    stage.run("no-such-command", hooks=hooks)
    assert mark.read_text().splitlines() == [
        "error exit 5",
        "error signal 137",
        "timeout deadline 143",
        "error spawn 127",
    ]


def test_a_failing_hook_after_the_work_is_recorded_and_changes_no_outcome(stage: Any) -> None:
    ended = stage.run("true", hooks=ShellHooks(post="exit 3"))
    assert (ended.outcome, ended.cause) == ("completed", "")
    assert ended.errors == ("post hook: exit code 3",) == stage.book.finished["errors"]
    ended = stage.run("false", hooks=ShellHooks(error="kill -9 $$"))
    assert (ended.outcome, ended.errors) == ("error", ("exit code 1", "error hook: killed by SIGKILL"))


def test_a_hook_has_a_deadline_and_leaves_nothing_behind(stage: Any) -> None:
    hooks = ShellHooks(post="setsid sleep 600 & trap '' TERM; while :; do sleep 0.05; done", timeout_s=0.3)
    ended = stage.run("true", hooks=hooks)
    assert stage.alive() == []
    assert ended.outcome == "completed" and ended.errors == ("post hook: timeout: not done after 0.3 s",)


def test_a_hook_may_have_the_last_word_on_the_figures(stage: Any) -> None:
    report = json.dumps({"sources_archived": 8})
    after = 'printf \'{"sources_archived": 8, "pr_number": 247}\' > "$PAOS_OUTCOME"'
    ended = stage.run("/bin/sh", "-c", f"echo '{report}' > $PAOS_OUTCOME", hooks=ShellHooks(post=after))
    assert ended.outcome == "completed"
    assert (stage.book.finished["sources_archived"], stage.book.finished["pr_number"]) == (8, 247)
