"""The methods of a benchmark: `skills`, `rekep`, or a policy by its file or server, each run as a skill runtime."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Json, PolicySpec, Scene, Skill
from worldfs.policies.policy_client import PolicyClient
from worldfs.sessions.plugins import POLICIES, SKILLS
from worldfs.skills.skill_runtime import SkillRequest, SkillRuntime

from .task_families import TrialGoal

SCRIPTED: Final = {"skills": "BuiltinSkillRuntime", "rekep": "ReKepPolicyRuntime"}
POLICY: Final = "VLAPolicyRuntime"
STEPS: Final = 200  # actions of a policy in one attempt: 10 s
_OPS: Final[dict[str, list[Json]]] = {
    "pick": [{"pick_up": {"object_id": "{object_id}"}}],
    "place": [{"pick_up": {"object_id": "{object_id}"}}, {"place": {"target": "{target_id}"}}],
}


@dataclass(frozen=True, slots=True)
class BenchmarkMethod:
    """`name` in the tables; `spec`: `skills`, `rekep`, FILE.onnx or another checkpoint, or TYPE:ENDPOINT."""

    name: str
    spec: str

    @property
    def runtime(self) -> str:
        return SCRIPTED.get(self.spec, POLICY)

    @property
    def policy(self) -> PolicySpec | None:
        if self.spec in SCRIPTED:
            return None
        kind, _, endpoint = self.spec.partition(":")
        if kind in POLICIES and endpoint:
            return PolicySpec(kind, endpoint=endpoint)
        return PolicySpec("local", checkpoint=self.spec)

    @property
    def mark(self) -> str:
        """The identity of its trials: a file's content is part of it, so a retrained policy starts afresh."""
        path = os.path.expanduser(self.spec)
        if self.spec in SCRIPTED or not os.path.isfile(path):
            return self.spec
        with open(path, "rb") as file:
            return f"{os.path.basename(path)} {hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"

    def skill_request(self, goal: TrialGoal, scene: Scene, job: str) -> SkillRequest:
        """The skill request for one goal."""
        params: Json = {"object_id": goal.thing}
        if goal.place:
            params |= {"target_id": goal.place}
        extra: Json = {}
        id = f"rekep_{goal.task}"
        if self.runtime == POLICY:
            id, params = "policy", {**params, "task": goal.task, "place": goal.place}
        elif self.spec == "skills":
            id, extra = "skills", {"steps": _OPS["pick" if goal.task == "pick" else "place"]}
        skill = Skill(id, self.runtime, policy=self.policy, extra=extra)
        return SkillRequest(job, skill, params, goal.words(scene), max_steps=STEPS)

    def ready(self, clock: Clock) -> tuple[SkillRuntime, PolicyClient | None]:
        """Raises `MissingRequirement` for what is not installed, `PolicyError` for a policy that is not there."""
        make, spec = SKILLS.get(self.runtime), self.policy
        if make is None:
            raise MissingRequirement(
                coded("plugin.no_runtime", name=self.runtime), op="bench", fix=coded("plugin.install_package")
            )
        if spec is None:
            return make(), None
        factory = POLICIES.get(spec.type)
        if factory is None:
            raise MissingRequirement(
                coded("plugin.no_policy_client", name=spec.type), op="bench", expected=", ".join(sorted(POLICIES))
            )
        return make(), factory(spec, clock)


def parse_method(text: str) -> BenchmarkMethod:
    """NAME, NAME=SPEC or SPEC. Raises `BadInput` for one that names no method."""
    name, _, spec = text.partition("=")
    if not spec:
        spec, name = name, os.path.splitext(os.path.basename(name))[0] if os.path.exists(name) else name
    found = BenchmarkMethod(name.strip(), spec.strip())
    spec_of = found.policy
    if not found.name or (
        spec_of is not None and not spec_of.endpoint and not os.path.exists(os.path.expanduser(spec_of.checkpoint))
    ):
        raise BadInput(
            coded("plugin.unknown_method", text=text), path="--contestant", code="USAGE",
            expected=coded("plugin.methods", names=[*POLICIES]),
        )  # fmt: skip
    return found
