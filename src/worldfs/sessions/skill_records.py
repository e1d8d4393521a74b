"""Records of skill files: what trials in simulation measured, and the bodies that a skill is allowed on.

    .paos/skills/<skill>.trials.jsonl              a line for each finished trial, durable before it is reported
    .paos/skills/<skill>.<body>.allowed.json       the operator's promotion, with the trials that it rests on

`<skill>` is the hash of the skill file and its name, `<body>` that of the target's declaration: after an edit of either
there is no record. Nothing in a promotion is believed that the trials do not say again when it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Final, NamedTuple

from worldfs.base.clock import Clock, stamp
from worldfs.base.errors import BadInput
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_int, as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Skill, Target
from worldfs.skills.success_rate import SuccessRate, success_rate
from worldfs.storage.store_interface import Store

RECORDS: Final = ".paos/skills"
TRIALS: Final = 100  # that a promotion rests on, at least
RATE: Final = 0.9  # the lower end of the interval of successes, at least
DRAFT, SIMULATED, ALLOWED = "draft", "simulated", "allowed"


class SkillTrial(NamedTuple):
    """One trial in simulation, of one seed. `why`: it failed; `disturbed`: what happened midway; `own`: with the things
    of the workspace."""

    seed: int
    ok: bool
    why: str = ""
    disturbed: str = ""
    sim_s: float = 0.0
    own: bool = False


class SkillState(NamedTuple):
    """`state`: draft, simulated, or allowed on the body that was asked about; `why`: the reason for that."""

    state: str
    why: str
    rate: SuccessRate


class SkillRecords:
    """Keeps nothing in memory: any process may use it. `trials`: that a promotion needs; 100 but in tests."""

    def __init__(self, store: Store, clock: Clock, trials: int = TRIALS) -> None:
        self._store, self._clock, self._needed = store, clock, trials

    def trials(self, skill: Skill) -> dict[int, SkillTrial]:
        """By seed. A seed that was tried twice succeeded if it did both times; a torn line is no trial."""
        return _trials(self._log(skill))

    def add(self, skill: Skill, trial: SkillTrial) -> None:
        """Durable when it returns."""
        self._store.append(_trials_key(skill), f"\n{json.dumps(trial._asdict(), ensure_ascii=False)}\n".encode())

    def state(self, skill: Skill, target: Target | None = None) -> SkillState:
        """Of a skill file; `target`: on which body. Without one, whether it could be allowed anywhere."""
        log = self._log(skill)
        rate = _rate(_trials(log))
        if why := self._short(rate):
            return SkillState(DRAFT, why, rate)
        if target is None:
            return SkillState(SIMULATED, coded("skill.simulated", rate=str(rate)), rate)
        key = _allowed_key(skill, target)
        stored = self._store.get(key)
        if stored is None:
            return SkillState(SIMULATED, coded("skill.not_allowed", target=target.id), rate)
        try:
            record = as_object(parse_json(stored.data))
        except ValueError:
            record = {}
        if (
            any(record.get(name) != value for name, value in _bound(skill, target).items())
            or not self._rests(record, log)
        ):  # fmt: skip
            return SkillState(SIMULATED, coded("skill.record_refused", file=key), rate)
        by, at = as_text(record.get("by")), as_text(record.get("at"))
        return SkillState(ALLOWED, coded("skill.allowed", target=target.id, by=by, at=at), rate)

    def allow(self, skill: Skill, target: Target, actor: str) -> SkillState:
        """Promote the skill on a body, durably. Raises `BadInput` for a draft."""
        log = self._log(skill)
        rate = _rate(_trials(log))
        if why := self._short(rate):
            raise BadInput(
                why, path=f"skills/{skill.id}.md", op="allow a skill", actor=actor, code="SKILL_DRAFT",
                expected=coded("skill.enough", n=self._needed, rate=RATE), fix=coded("skill.try_it", skill=skill.id),
            )  # fmt: skip
        value = {
            **_bound(skill, target), "trials": rate.tried, "successes": rate.good, "low": round(rate.low, 4),
            "log_bytes": len(log), "log_sha256": hashlib.sha256(log).hexdigest(), "by": actor,
            "at": stamp(self._clock.now()),
        }  # fmt: skip
        data = json.dumps(value, ensure_ascii=False, indent=1).encode()
        self._store.put(_allowed_key(skill, target), data + b"\n")
        return self.state(skill, target)

    def _short(self, rate: SuccessRate) -> str:
        """What is missing for a promotion; "" for nothing."""
        if rate.tried < self._needed:
            return coded("skill.too_few", tried=rate.tried, needed=self._needed)
        return "" if rate.low >= RATE else coded("skill.too_often", rate=str(rate), least=RATE)

    def _rests(self, record: Mapping[str, object], log: bytes) -> bool:
        """Whether the trials that the record names are there, unchanged, and say what it says."""
        head = log[: max(0, as_int(record.get("log_bytes")))]
        rate = _rate(_trials(head))
        said = as_int(record.get("trials"), -1), as_int(record.get("successes"), -1)
        return (
            record.get("log_sha256") == hashlib.sha256(head).hexdigest()
            and said == (rate.tried, rate.good)
            and not self._short(rate)
        )

    def _log(self, skill: Skill) -> bytes:
        stored = self._store.get(_trials_key(skill))
        return b"" if stored is None else stored.data


def body_digest(target: Target) -> str:
    """Of what the operator declares of a body; whether it is enabled and which skills it takes is no part of it."""
    value = asdict(replace(target, enabled=True, skills=()))
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _bound(skill: Skill, target: Target) -> dict[str, str]:
    return {"skill": skill.id, "sha256": skill.digest, "target": target.id, "body_sha256": body_digest(target)}


def _trials_key(skill: Skill) -> str:
    return f"{RECORDS}/{skill.digest}.trials.jsonl"


def _allowed_key(skill: Skill, target: Target) -> str:
    return f"{RECORDS}/{skill.digest}.{body_digest(target)[:16]}.allowed.json"


def _trials(log: bytes) -> dict[int, SkillTrial]:
    found: dict[int, SkillTrial] = {}
    for line in log.splitlines():
        try:
            value = as_object(parse_json(line))
        except ValueError:  # empty, or torn by a crash
            continue
        seed, ok = value.get("seed"), value.get("ok")
        if type(seed) is not int or not isinstance(ok, bool):
            continue
        trial = SkillTrial(
            seed, ok, as_text(value.get("why")), as_text(value.get("disturbed")), as_float(value.get("sim_s")),
            value.get("own") is True,
        )  # fmt: skip
        if seed not in found or found[seed].ok:
            found[seed] = trial
    return found


def _rate(trials: Mapping[int, SkillTrial]) -> SuccessRate:
    return success_rate(sum(trial.ok for trial in trials.values()), len(trials))
