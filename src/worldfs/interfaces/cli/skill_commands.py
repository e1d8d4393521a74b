"""`paos skill`: skill files tried in simulation, listed with their states, and allowed on a real target."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound, UserError
from worldfs.base.extras import needs
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded

from .command_tree import CommandTree, open_tree
from .exits import DONE, REFUSED
from .signals import stop_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    from worldfs.base.model import Json, Scene
    from worldfs.world.world import World

    from .command_context import CommandContext


def try_skill(context: CommandContext) -> int:
    """Exit 0: the skill has earned `simulated`; 1: it has not, or not yet; 2: the restricted reader refuses it."""
    from worldfs.base.clock import SystemClock
    from worldfs.sessions.skill_records import DRAFT

    with needs("sim", op="skill try"):
        from worldfs.plugins.rekep.skill_trial import FIRST_SEED, read_skill, run_trial
    name, count, clock = context["name"], context["seeds"], SystemClock()
    stop = threading.Event()

    def ask() -> None:
        stop.set()
        context.output.notice(coded("command.after_trials"))

    with context.open() as world:
        files, wrong = world.declarations().skill_files()
        if name not in files:
            refused = next((item for item in wrong if item.field == f"skills/{name}.md"), None)
            found = refused.found if refused is not None else coded("skill.unknown", skill=name[:80])
            expected = refused.expected if refused is not None else _one_of(files)
            raise NotFound(found, op="skill try", expected=expected)
        tried, records = read_skill(files[name]), world.skill_records
        known = records.trials(tried.skill)
        own = _own_scene(world)
        seeds = range(FIRST_SEED, FIRST_SEED + count)
        done = sum(seed in known for seed in seeds)
        with stop_on(ask):
            for seed in seeds:
                if stop.is_set():
                    break
                if seed in known:
                    continue
                trial = run_trial(tried, seed, clock, own)
                records.add(tried.skill, trial)
                done += 1
                midway = coded("skill.midway", disturbed=trial.disturbed) if trial.disturbed else ""
                code, more = ("skill.trial_done", {}) if trial.ok else ("skill.trial_failed", {"why": trial.why})
                context.output.report(
                    coded(code, n=done, of=count, seed=seed, midway=midway, **more),
                    {"event": "trial", "finished": done, "of": count, **trial._asdict()},
                    "" if trial.ok else "warn",
                )
        now = records.state(tried.skill)
    context.output.report(
        coded("skill.line", skill=name, state=now.state, why=now.why),
        {"event": "result", "skill": name, "sha256": tried.skill.digest, "state": now.state, "why": str(now.why),
         "trials": now.rate.tried, "successes": now.rate.good, "low": round(now.rate.low, 4)},
        "warn" if now.state == DRAFT else "good",
    )  # fmt: skip
    return REFUSED if now.state == DRAFT else DONE


def list_skills(context: CommandContext) -> int:
    with open_tree(context) as tree:
        value = _listing(tree)
    context.output.value(value)
    skills = as_objects(value.get("skills"))
    for skill in skills:
        said = coded("skill.line", skill=skill.get("skill"), state=skill.get("state"), why=skill.get("why"))
        context.output.line(said, "warn" if skill.get("state") == "draft" else "good")
        for id, state in as_object(skill.get("targets")).items():
            on = as_object(state)
            context.output.line(coded("skill.on_target", target=id, state=on.get("state"), why=on.get("why")))
    for line in as_list(value.get("unreadable")):
        context.output.line(as_text(line), "bad")
    if not skills:
        context.output.line(coded("skill.no_files"))
    return DONE


def allow(context: CommandContext) -> int:
    name, target = context["name"], context["body"]
    with open_tree(context) as tree:
        skills = {as_text(skill.get("skill")): skill for skill in as_objects(_listing(tree).get("skills"))}
        if name not in skills:
            raise NotFound(coded("skill.unknown", skill=name[:80]), op="skill allow", expected=_one_of(skills))
        value = {"skill": name, "sha256": skills[name].get("sha256")}
        tree.write(f"/nodes/{target}/allow_skill", json.dumps(value).encode())
    context.output.report(coded("skill.now_allowed", skill=name, target=target), {**value, "target": target}, "good")
    return DONE


def _own_scene(world: World) -> Scene:
    """The workspace's things, none where ENVIRONMENT.md is not there or cannot be read (`paos check` says why)."""
    from worldfs.access.roles import PLANNER
    from worldfs.base.model import Scene
    from worldfs.formats import environment
    from worldfs.world.world import PROJECT

    try:
        return environment.read(world.namespace(PLANNER).read(f"/projects/{PROJECT}/ENVIRONMENT.md").data).scene
    except UserError:
        return Scene()


def _listing(tree: CommandTree) -> Json:
    return as_object(parse_json(tree.read(tree.path_of("skills.json"))))


def _one_of(names: Iterable[str]) -> str:
    return coded("common.either_of", names=sorted(names) or [coded("common.none")])
