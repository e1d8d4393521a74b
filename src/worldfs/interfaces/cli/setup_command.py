"""`paos setup`: a command-line agent is given the tree by its own settings, after the difference was shown."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.agent_names import check_agent_name
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded, render

from .command_context import CommandContext
from .server_tree import server_token

if TYPE_CHECKING:
    from worldfs.interfaces.client_setup.setup_plan import SetupPlan


def run(context: CommandContext) -> int:
    """Exit 0 when the settings are there (or, with --undo, gone), 1 when the user declined."""
    from worldfs.interfaces.client_setup.client_programs import PROGRAMS, Place
    from worldfs.interfaces.client_setup.setup_plan import (
        carry_out,
        plan_setup,
        plan_undo,
        read_record,
        record_name,
        remove_made_dirs,
        write_record,
    )

    tool, far = context["program"], bool(context["connect"])
    home = _record_place(context) if far else str(context.home.path)
    project = os.path.abspath(os.path.expanduser(context["directory"]))
    if not os.path.isdir(home):
        fix = coded("command.make_it", name=context.name)
        raise NotFound(coded("command.no_home"), path=home, op="setup", fix=fix)
    if not os.path.isdir(project):
        raise NotFound(coded("tree.no_such_directory"), path=project, op="setup")
    name = record_name(tool, project)
    record = read_record(home, name)
    agent = context["agent"] or ("" if far else tool)
    role = "" if far else context["as"] or "planner"
    if context["undo"]:
        plan = plan_undo(record)
    else:
        codex_home = os.path.expanduser(context.environ.get("CODEX_HOME") or "~/.codex")
        place = Place(project, _program(context), check_agent_name(agent) if agent else "", role, codex_home)
        plan = plan_setup(PROGRAMS[tool](place), record)
    paths = [change.path for change in plan.changes]
    if not plan.changes and not (context["undo"] and record):
        said = coded("setup.no_setup" if context["undo"] else "setup.done_before", tool=tool)
        context.output.report(said, {"changed": []})
        return 0
    if plan.changes and not context["yes"] and not _agreed(context, plan):
        return 1
    if context["undo"]:
        carry_out(plan)
        remove_made_dirs(record)
        write_record(home, name, {})
        said = coded("setup.undone", tool=tool)
    else:
        write_record(home, name, plan.record)  # before the files, so that --undo knows whatever was written
        carry_out(plan)
        where = "" if context["directory"] == "." else f" {shlex.quote(context['directory'])}"
        said = coded("setup.done", tool=tool, agent=agent, role=role, name=context.name, where=where)
        if far:
            said = coded("setup.done_connected", tool=tool, url=context["connect"], name=context.name, where=where)
    context.output.report(said, {"changed": paths, "left": plan.left, "agent": agent}, "good")
    if tool == "codex" and not (far or context["undo"]):
        context.output.notice(coded("setup.trust_codex"))
    if plan.left:
        context.output.notice(coded("setup.left", names=plan.left))
    return 0


def _program(context: CommandContext) -> tuple[str, ...]:
    """This program with the options that say where the tree is, as it can be started from any directory."""
    beside = Path(sys.executable).with_name("paos")
    program = (str(beside),) if beside.exists() else (sys.executable, "-m", "worldfs.interfaces.cli.main")
    if context["connect"]:
        project = ("--project", context["project"]) if context["project"] else ()
        return (*program, "--connect", context["connect"], "--token-file", _token_file(context), *project)
    agents = ("--agents", context.agents) if context["agents"] else ()
    return (*program, "--home", str(context.home.path.absolute()), *agents)


def _token_file(context: CommandContext) -> str:
    """Where the token of --connect is read from at each start: settings hold none."""
    if not context["token_file"]:
        fix = coded("access.right_token")
        raise BadInput(coded("setup.needs_token_file"), op="setup", expected="--token-file FILE", fix=fix)
    server_token(context)
    return str(Path(context["token_file"]).expanduser().absolute())


def _record_place(context: CommandContext) -> str:
    """The directory that keeps the records of set-ups behind --connect: there may be no home here."""
    state = context.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    place = os.path.join(state, "paos")
    os.makedirs(place, mode=0o700, exist_ok=True)
    return place


def _agreed(context: CommandContext, plan: SetupPlan) -> bool:
    """Whether the user at the terminal confirms what is shown; a program must pass --yes."""
    for text in plan.diff.splitlines():
        context.output.line(text)
    if context.output.json or not sys.stdin.isatty():
        found = coded("setup.would_change", n=len(plan.changes))
        raise BadInput(found, op="setup", expected="--yes", fix=coded("setup.yes"))
    print(render(coded("setup.ask"), context.language), end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "是")
