"""Settings of TARGETS.md and SKILLS.md that nothing reads, or that are no value of their kind: named, never ignored.

The tables hold what this package's own adapters, runtimes and policy clients read. A package judges its own entries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding, PolicySpec, Skill, Target
from worldfs.base.model.skill import REAL
from worldfs.base.restricting_fields import bounds, resembles, restricting, restricts, says_nothing, unread
from worldfs.robots.targets.target_declaration import ADAPTER, MUJOCO, OWN_PYTHON, ROBOTS, SIMULATION, WORDS
from worldfs.robots.vehicles.vehicle_declaration import is_vehicle

FieldLocator = Callable[[str, str, str], str]  # (document, id, member) → file and pointer, for `field` of a finding

UNREAD: Final = "FIELD_UNREAD"
REMARKS: Final = ("comment", "name", "note", "notes")  # for people: no program reads them
SKILL: Final = (
    "id", "runtime", "category", "description", "supported_target_types", "policy_client", "requires",
)  # fmt: skip
RUNTIMES: Final[Mapping[str, tuple[str, ...]]] = {
    "BuiltinSkillRuntime": ("steps",),
    "VLAPolicyRuntime": (),
    "ReKepPolicyRuntime": ("constraints", "images", "keypoints_from", "model", "task"),
}
REQUIRES: Final = ("sensors", "environment_outputs", "strict_environment_contract")
POLICY: Final = (
    "type", "endpoint", "checkpoint", "action", "image", "max_bytes", "observations", "token_env", "token_file",
)  # fmt: skip
SECRETS: Final = ("token", "api_key", "api_token")  # refused where the policy is asked
CLIENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "http": ("images", *SECRETS),
    "openvla": ("encoded", "unnorm_key", *SECRETS),
    "openpi": SECRETS,
    "gr00t": ("actions", *SECRETS),
    "lerobot": (
        "actions_per_chunk", "device", "load_timeout_s", "module", "policy_type", "rename_map", "trust", *SECRETS,
    ),
    "local": ("device", "load_s", "python", "threads", "unnorm_key"),
    "leader": ("gripper", "joints", "span", "teleoperator", "units"),
}  # fmt: skip
IMAGE: Final = ("size", "rotate180")
ACTION: Final = ("representation", "gripper", "binary_gripper", "clip")
TARGET: Final = (
    "id", "type", "enabled", "backend", "supported_skills", "sensors", "config", "target_class",
)  # fmt: skip
PARTS: Final = {
    "adapter": ("class", "obs_format", "driver"),
    "perception": ("cameras", "sensors"),
    "runtime": ("target_adapter",),
}
CAMERA: Final = ("name", "resolution", "fps", "device")
_PROCESS: Final = ("python", "load_s", "seed")
BACKENDS: Final[Mapping[str, tuple[str, ...]]] = {
    MUJOCO: (
        "seed", "objects", "control_hz", "control_mode", "task", "thing", "place", "perception", "scene", "scene_xml",
    ),
    "gymnasium": ("env_id", "kwargs", "representation", *_PROCESS),
    "libero": ("suite", "task", "settle", *_PROCESS),
    "maniskill": ("env_id", "kwargs", "representation", "words", *_PROCESS),
    "isaac_sim": ("env_id", "kwargs", "representation", "words", "device", "launcher", *_PROCESS),
}  # fmt: skip
_REAL: Final = ("safety", "control_hz", "control_mode", "shadow")
# What an operator relies on, wherever in the entry of a real robot it stands
SAFETY: Final = ("approval", "enabled", "limits", "safety", "stop", "watchdog", *WORDS)
SWITCHES: Final = (  # of an entry, also of one that another package reads
    "enabled", "disabled", "active", "inactive", "approval", "requires_approval", "approved", "dry_run", "simulate",
    "paused", "suspended", "hold",
)  # fmt: skip
DRIVERS: Final[Mapping[str, tuple[str, ...]]] = {
    "lerobot": ("robot", "units", "gripper", "span", "kinematics", *_REAL),
    "franka": ("ip", "model", "gripper", "realtime", "recover", *_REAL),
    "unitree_go2": ("interface", "domain", "stand", *_REAL),
}


class ValueRule(NamedTuple):
    holds: Callable[[object], bool]
    expected: str


def _between(low: float, high: float) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high


_FLAG: Final = ValueRule(lambda value: isinstance(value, bool), coded("file.true_or_false"))
_COUNT: Final = ValueRule(lambda value: type(value) is int and value > 0, coded("file.count"))
_SECONDS: Final = ValueRule(_between(0, 3600), coded("file.seconds"))
_MAPPING: Final = ValueRule(lambda value: isinstance(value, Mapping), coded("file.mapping"))
# Where a client or an adapter would otherwise go on with its default
POLICY_VALUES: Final[Mapping[str, ValueRule]] = {
    "images": ValueRule(lambda value: value == "png", "png"),
    "encoded": _FLAG,
    "trust": _FLAG,
    "max_bytes": _COUNT,
    "actions_per_chunk": _COUNT,
    "threads": ValueRule(lambda value: type(value) is int and 0 < value <= 64, coded("file.whole_limit", n=64)),
    "load_s": _SECONDS,
    "load_timeout_s": _SECONDS,
    "observations": _MAPPING,
    "image": _MAPPING,
    "action": ValueRule(lambda value: isinstance(value, str | Mapping), coded("file.mapping")),
    "rename_map": _MAPPING,
}
IMAGE_VALUES: Final = {"rotate180": _FLAG}
ACTION_VALUES: Final = {"binary_gripper": _FLAG, "clip": _FLAG}
SKILL_VALUES: Final = {"images": _FLAG}
CONFIG_VALUES: Final[Mapping[str, Mapping[str, ValueRule]]] = {
    "franka": {"gripper": _FLAG, "recover": _FLAG},
    "unitree_go2": {"stand": _FLAG},
    **{kind: {"load_s": _SECONDS} for kind in ("gymnasium", *OWN_PYTHON)},
}


class _Entry:
    """One entry of a registry, whose members are compared with what is read of it."""

    def __init__(self, document: str, id: str, place: FieldLocator, job: str, *, strict: bool = False) -> None:
        """`strict`: a member that nothing reads is refused if it resembles one that is read, or one of `SAFETY`, or
        bounds a motion."""
        self._document, self._id, self._place, self._job = document, id, place, job
        self._strict = strict

    def review(
        self, members: object, read: Iterable[str], values: Mapping[str, ValueRule], at: str = "", *, all: bool = False
    ) -> Iterator[Finding]:
        """`members`: a mapping of them; `at`: the member that holds it. What is null asks for nothing. `all`: each that
        nothing reads is refused, but those that only tell something."""
        known = sorted({*read})
        given = members if isinstance(members, Mapping) else {}
        refused_by_name = {*unread(given, known)} if all else {name for name in given if self._bounds(str(name))}
        for name, value in given.items():
            if value is None:
                continue
            field = self._place(self._document, self._id, f"{at}{name}")
            if name not in (*known, *REMARKS):
                low = str(name)[:80].lower()
                likely = "".join(get_close_matches(low, known, 1, 0.7))
                fix = coded("world.did_you_mean", likely=likely) if likely else coded("session.remove_field")
                found = coded("session.unread", name=str(name)[:80])
                expected = coded("common.some_of", names=known)
                refused = self._strict and bool(likely or get_close_matches(low, SAFETY, 1, 0.7))
                refused = refused or any(restricting({name: value})) or str(name) in refused_by_name
                yield Finding(UNREAD, field, expected, found, fix, self._job, warning=not refused)
            elif (rule := values.get(name)) is not None and not rule.holds(value):
                fix = coded("session.correct_value")
                yield Finding("SCHEMA_VALIDATION", field, rule.expected, repr(value)[:200], fix, self._job)

    def _bounds(self, name: str) -> bool:
        return self._strict and bounds(name)

    def review_limits(self, members: object, read: Collection[str], at: str = "") -> Iterator[Finding]:
        """Of a real robot's entry that another package's driver reads: what would bound or switch it off, or is
        `safety` but for a slip, in a place where only a driver that declares it reads it."""
        for key, value in (members if isinstance(members, Mapping) else {}).items():
            name = str(key)
            meant = resembles(name, (*_REAL, *WORDS, *read)) or bounds(name)
            if name in read or says_nothing(value) or not (meant or _switch(name, value)):
                continue
            likely = resembles(name, read)
            fix = coded("world.did_you_mean", likely=likely) if likely else coded("session.limit_or_setting")
            found, expected = coded("session.unread", name=name[:80]), coded("session.limits_in_safety")
            field = self._place(self._document, self._id, f"{at}{name}")
            yield Finding(UNREAD, field, expected, found, fix, self._job)

    def review_switches(self, members: object, read: Iterable[str], at: str = "") -> Iterator[Finding]:
        """Of an entry whose settings another package reads: what would switch it off, by a name that is not read."""
        for name, value in (members if isinstance(members, Mapping) else {}).items():
            if name not in read and _switch(str(name), value, ours=not at):
                found = coded("file.holds_back", name=str(name)[:80], value=str(value)[:80])
                field, fix = self._place(self._document, self._id, f"{at}{name}"), coded("session.remove_field")
                yield Finding(UNREAD, field, coded("common.some_of", names=sorted(read)), found, fix, self._job)


def _switch(name: str, value: object, *, ours: bool = True) -> bool:
    """`ours`: a member that a package has no reason to read: `maintenance: true`, `status: disabled`. Its own settings
    may have `wait: true`."""
    said = ours and (isinstance(value, bool) or name.lower() in ("state", "status"))
    return (said or bool(resembles(name, SWITCHES))) and restricts(name, value)


def review_skill(skill: Skill, place: FieldLocator, job: str = "") -> Iterator[Finding]:
    """Warnings for what nothing reads of the entry, and a refusal for each value that is none of its kind."""
    if skill.digest:
        return  # a skill file: its text is the whole of it
    entry = _Entry("SKILLS.md", skill.id, place, job)
    own = {key: value for key, value in skill.extra.items() if key != "requires"}
    if (more := RUNTIMES.get(skill.runtime)) is None:
        yield from entry.review_switches(own, SKILL)
        yield from entry.review_switches(skill.extra.get("requires"), REQUIRES, "requires.")
    else:
        yield from entry.review(own, (*SKILL, *more), SKILL_VALUES)
        yield from entry.review(skill.extra.get("requires"), REQUIRES, {}, "requires.")
    if skill.policy is not None:
        yield from _policy(skill.policy, entry)


def _policy(policy: PolicySpec, entry: _Entry) -> Iterator[Finding]:
    more = CLIENTS.get(policy.type)
    if more is None:
        return
    yield from entry.review(policy.extra, (*POLICY, *more), POLICY_VALUES, "policy_client.")
    for name, read, values in (("image", IMAGE, IMAGE_VALUES), ("action", ACTION, ACTION_VALUES)):
        yield from entry.review(policy.extra.get(name), read, values, f"policy_client.{name}.")


def review_target(target: Target, place: FieldLocator, job: str = "") -> Iterator[Finding]:
    """The same of a target of this package's own adapters. Of a real robot, a misspelt member is refused: its limit,
    its unit or its `enabled: false` would count for nothing, whatever its driver."""
    entry = _Entry("TARGETS.md", target.id, place, job, strict=target.adapter == ADAPTER)
    if target.adapter not in (ADAPTER, SIMULATION):
        judged = entry.review_limits if target.kind == REAL else entry.review_switches
        yield from judged(target.extra, (*TARGET, *PARTS))
        yield from entry.review_switches(target.config, (), "config.")
        return
    yield from entry.review(target.extra, (*TARGET, *PARTS), {}, all=target.adapter == ADAPTER)
    for name, read in PARTS.items():
        yield from entry.review(target.extra.get(name), read, {}, f"{name}.")
    for number, camera in enumerate(target.cameras):
        yield from entry.review(camera.extra, CAMERA, {}, f"perception.cameras[{number}].")
    real = target.adapter == ADAPTER
    kind = (target.driver if real else target.backend or MUJOCO).strip().lower()
    members = None if is_vehicle(target) else (DRIVERS if real else BACKENDS).get(kind)
    if members is not None:
        yield from entry.review(target.config, members, CONFIG_VALUES.get(kind, {}), "config.")
    elif real and not is_vehicle(target):
        yield from entry.review_limits(target.config, (*_REAL, *_declared(target.driver)), "config.")


def _declared(driver: str) -> tuple[str, ...]:
    """The members of `config` that a package's driver says it reads: `settings` of what makes its robot."""
    try:
        names = getattr(ROBOTS.get(driver), "settings", ())
    except UserError:
        return ()  # it cannot be used, which the review of the target says
    return tuple(filter(lambda one: isinstance(one, str), names)) if isinstance(names, tuple | list) else ()
