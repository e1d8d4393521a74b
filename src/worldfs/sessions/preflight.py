"""Preflight: a skill's requirements against target, policy and world; all findings at once (workspace §5, D30-D32).

`strict_environment_contract: true` makes what is missing a refusal, else it is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import either
from worldfs.base.model import Finding, Json, Order, Scene, Skill, Target, routing_of
from worldfs.base.model.skill import SIM
from worldfs.base.order_parameters import OBJECT
from worldfs.base.restricting_fields import bare_name
from worldfs.formats import sensors, sheet_members
from worldfs.formats.entry_contradictions import PARAMS
from worldfs.formats.runtime import sessions
from worldfs.policies.policy_client import PolicyInfo
from worldfs.robots.targets import target_declaration

from .skill_records import ALLOWED, SIMULATED, SkillState
from .unread_fields import UNREAD


@dataclass(frozen=True, slots=True)
class TargetCapabilities:
    """A target's description once it is open, and its policy's (or why there is none)."""

    sensors: frozenset[str]
    observations: Mapping[str, tuple[tuple[int, ...], str]]
    representations: Mapping[str, tuple[int, ...]]  # representation of an action → its shape
    outputs: frozenset[str] = frozenset()  # keys of ENVIRONMENT.md that it sees something for, written or not yet
    policy: PolicyInfo | None = None
    policy_trouble: str = ""  # why the policy could not be reached; "": it could, or there is none
    policy_start: str = ""  # the command that would start one


# Members that no entry has, and that its author relies on
_MEANT: Final = frozenset(bare_name(name) for name in ("params", "parameters", *PARAMS, *OBJECT))
FieldLocator = Callable[[str, str, str], str]  # (document, id, member) → file and pointer, for `field` of a finding


def check_documents(order: Order, skill: Skill, target: Target, place: FieldLocator) -> list[Finding]:
    """The findings of the documents alone; nothing is opened."""
    found = [*_routed(order, target), *_unread(order), *target_declaration.unsupported(target, place, order.id)]
    if target.skills and skill.id not in target.skills:
        found.append(
            Finding(
                "SKILL_NOT_SUPPORTED_BY_TARGET", place("TARGETS.md", target.id, "supported_skills"), skill.id,
                ", ".join(target.skills), coded("session.add_skill", id=target.id), order.id,
            )
        )  # fmt: skip
    if skill.target_types and target.kind not in skill.target_types:
        found.append(
            Finding(
                "SKILL_NOT_SUPPORTED_BY_TARGET", place("SKILLS.md", skill.id, "supported_target_types"),
                either(skill.target_types), coded("session.target_is", id=target.id, kind=target.kind),
                coded("session.other_type", kind=skill.target_types[0], other=target.kind), order.id,
            )
        )  # fmt: skip
    return found


def check_draft(
    order: Order, skill: Skill, target: Target, state: Callable[[Skill, Target], SkillState], place: FieldLocator
) -> list[Finding]:
    """A program that a model or a person wrote moves a real robot as the skill file that was allowed on it, only."""
    written = order.params.get("constraints") is not None or skill.extra.get("constraints") is not None
    if target.kind == SIM or not (skill.digest or written):
        return []
    file = f"skills/{skill.id}.md"
    if not skill.digest:
        given = f"SESSIONS.md {order.id} execution.params.constraints"
        field = given if "constraints" in order.params else place("SKILLS.md", skill.id, "constraints")
        found, fix = coded("skill.no_file"), coded("skill.write_file")
    elif order.params or routing_of(order).skill_runtime:
        field = f"SESSIONS.md {order.id} execution.params"
        names = sorted(order.params) or [coded("skill.other_runtime")]
        found, fix = coded("skill.params", names=names), coded("skill.no_params")
    else:
        field, now = file, state(skill, target)
        if now.state == ALLOWED:
            return []
        found = coded("skill.is", skill=skill.id, state=now.state, why=now.why)
        fix = coded("skill.try_it", skill=skill.id)
        if now.state == SIMULATED:
            fix = coded("skill.allow_it", skill=skill.id, target=target.id)
    return [Finding("SKILL_DRAFT", field, coded("skill.allowed_one", target=target.id), found, fix, order.id)]


def _routed(order: Order, target: Target) -> Iterator[Finding]:
    """A session may name the adapter where its target does not; it cannot put another in its place."""
    routing = routing_of(order)
    named = routing.target_adapter
    if routing.unusable or (named and target.adapter and named != target.adapter):
        yield Finding(
            "TARGET_ADAPTER_MISMATCH", f"SESSIONS.md {order.id} routing.target_adapter",
            target.adapter or coded("session.adapter_name"), (named or routing.unusable)[:200],
            coded("session.leave_adapter"), order.id,
        )  # fmt: skip


def _unread(order: Order) -> Iterator[Finding]:
    """Warnings for what nothing reads of a session's entry; a refusal where it would be carried out without a term of
    it, or without what is its parameter."""
    if order.sheet != sessions.FILE:
        return
    for name, read in sessions.unread_fields(order):
        likely = "".join(get_close_matches(name.rpartition(".")[2], read, 1, 0.7))
        fix = coded("world.did_you_mean", likely=likely) if likely else coded("session.remove_field")
        field, found = f"{sessions.FILE} {order.id} {name}", coded("session.unread", name=name.rpartition(".")[2][:80])
        kept = "." in name or not (likely in sheet_members.TERMS or bare_name(name) in _MEANT)
        yield Finding(UNREAD, field, coded("common.some_of", names=[*read]), found, fix, order.id, warning=kept)


def check_contract(
    order: Order, skill: Skill, capabilities: TargetCapabilities, environment: Json, place: FieldLocator
) -> list[Finding]:
    """Sensors, outputs of the environment, policy and spaces."""
    loose = not skill.strict
    found = [
        Finding(
            "REQUIRED_SENSOR_MISSING", place("TARGETS.md", order.node, "perception"), word,
            ", ".join(sorted(capabilities.sensors)) or coded("session.no_sensors"),
            coded("session.add_sensor", sensor=word.replace("_", " ")),
            order.id, loose,
        )
        for word in sensors.missing_sensors(skill.sensors, [(name, True) for name in capabilities.sensors])
    ]  # fmt: skip
    found += [
        Finding(
            "OBSERVATION_CHANNEL_MISSING", f"ENVIRONMENT.md /{_KEYS.get(word, word)}",
            coded("session.not_empty", word=word), coded("session.nothing_there"),
            coded("session.observe_once", word=word), order.id, loose,
        )
        for word in skill.environment_outputs
        if _KEYS.get(word, word) not in capabilities.outputs and not _output(environment, word)
    ]  # fmt: skip
    if capabilities.policy_trouble:
        command = capabilities.policy_start
        start = coded("session.start_with", command=command) if command else coded("session.start_policy")
        endpoint = skill.policy.endpoint or skill.policy.checkpoint if skill.policy else ""
        found.append(
            Finding(
                "POLICY_ENDPOINT_UNREACHABLE", place("SKILLS.md", order.op, "policy_client"),
                coded("session.policy_at", endpoint=endpoint), capabilities.policy_trouble, start, order.id, loose,
            )
        )  # fmt: skip
    elif capabilities.policy is not None:
        found += _spaces(order, capabilities.policy, capabilities, place, loose=loose)
    return found


_KEYS = {"perception_data": "perception"}


def outputs(scene: Scene) -> frozenset[str]:
    """The keys of ENVIRONMENT.md that an observation fills."""
    seen = {
        "robots": scene.robots, "objects": scene.objects, "scene_graph": (*scene.objects, *scene.relations),
        "nodes": (*scene.objects, *scene.furniture), "edges": scene.relations, "perception": scene.perception,
    }  # fmt: skip
    return frozenset(key for key, value in (*seen.items(), *scene.extra.items()) if value)


def _output(environment: Json, word: str) -> bool:
    """workspace D32: `perception_data` is a non-empty `perception`; another word is a key of it, or of scene_graph."""
    key = _KEYS.get(word, word)
    value = environment.get(key)
    graph = environment.get("scene_graph")
    if not value and isinstance(graph, dict):
        value = graph.get(key)
    return bool(value)


def _spaces(
    order: Order, policy: PolicyInfo, capabilities: TargetCapabilities, place: FieldLocator, *, loose: bool
) -> list[Finding]:
    field = place("SKILLS.md", order.op, "policy_client")
    found, shapes = [], sorted(capabilities.representations.items())
    for name, (shape, kind) in policy.observations.items():
        have = capabilities.observations.get(name)
        if have is None or not _fits(shape, have[0]):
            actual = coded("session.no_such_name") if have is None else f"{have[1]} {tuple(have[0])}"
            names = sorted(capabilities.observations) or coded("common.none")
            found.append(
                Finding(
                    "POLICY_INPUT_CONTRACT_UNSATISFIED", f"{field} observation {name}", f"{kind} {tuple(shape)}",
                    coded("session.there_are", actual=actual, names=names), coded("session.map_names"), order.id, loose,
                )
            )  # fmt: skip
    if policy.representation and policy.representation not in capabilities.representations:
        found.append(
            Finding(
                "ACTION_CONTRACT_UNSATISFIED", f"{field} action", ", ".join(sorted(capabilities.representations)),
                policy.representation, coded("session.accepted_policy"), order.id, loose,
            )
        )  # fmt: skip
    elif policy.action_dim and capabilities.representations and policy.action_dim not in _dims(policy, capabilities):
        found.append(
            Finding(
                "ACTION_CONTRACT_UNSATISFIED", f"{field} action",
                either([coded("session.n_of", name=name, n=shape[0]) for name, shape in shapes]),
                coded("session.n_numbers", n=policy.action_dim), coded("session.accepted_policy"), order.id, loose,
            )
        )  # fmt: skip
    return found


def _dims(policy: PolicyInfo, capabilities: TargetCapabilities) -> set[int]:
    shapes = capabilities.representations
    named = {policy.representation: shapes[policy.representation]} if policy.representation in shapes else shapes
    return {shape[0] for shape in named.values()}


def _fits(wanted: Sequence[object], have: Sequence[object]) -> bool:
    """Same rank, same sizes; 0 or −1 in what is wanted means any."""
    return len(wanted) == len(have) and all(w in (0, -1) or w == h for w, h in zip(wanted, have, strict=True))
