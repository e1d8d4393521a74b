"""A skill's policy as a proposer: constraints, or hints for keypoint positions, returned beside its actions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from worldfs.base.errors import UserError
from worldfs.base.model import Json
from worldfs.policies.policy_client import Array, PolicyError
from worldfs.skills.skill_runtime import SkillContext, SkillRequest

from .constraint_program import of_text
from .end_effector import SceneSnapshot
from .keypoints import of_scene, positions
from .program_library import LibraryProgram
from .program_sources import of_mapping, with_points

PATIENCE_S = 5.0
FARTHEST = 0.15  # m between a keypoint and where a hint puts it
SMALL = 64  # numbers of an observation that are sent


def proposed_program(
    planned: LibraryProgram, request: SkillRequest, context: SkillContext, state: SceneSnapshot
) -> tuple[LibraryProgram, Json]:
    """The program to run, and a note about the policy. An unusable answer changes nothing."""
    if context.policy is None:
        return planned, {}
    observation = _small(context)
    points = of_scene(state.things.values())
    observation["keypoints"] = positions(points, state.poses)
    words = request.words or " ".join([request.skill.id, *map(str, request.params.values())])
    try:
        extra = context.policy.infer(observation, words, request.step_timeout_s or PATIENCE_S).extra
    except PolicyError as error:
        return planned, {"policy": f"asked, no proposal ({error.code}: {error.found[:160]}); the library's own is used"}
    at = f"SKILLS.md {request.skill.id} policy_client"
    value = extra.get("constraints")
    if value is not None:
        try:
            program = of_text(value, at) if isinstance(value, str) else of_mapping(_mapping(value), at)
            keypoints = extra.get("keypoints")
            if isinstance(keypoints, list) and not program.keypoints:
                program = replace(program, keypoints=tuple(str(k) for k in keypoints if isinstance(k, str)))
            return with_points(program, state.things, at, planned.goal), {"policy": "its constraints are used"}
        except UserError as error:
            return planned, {"policy": f"its constraints are refused ({str(error)[:200]}); the library's own are used"}
    hints = extra.get("keypoints")
    if isinstance(hints, Mapping):
        return _hinted(planned, hints, state)
    return planned, {"policy": "asked, no proposal; the library's own is used"}


def _small(context: SkillContext) -> dict[str, Array]:
    observation = context.target.observe()
    return {name: observation[name] for name in ("joint_states", "gripper", "ee_pose") if name in observation}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _hinted(planned: LibraryProgram, hints: Mapping[str, object], state: SceneSnapshot) -> tuple[LibraryProgram, Json]:
    """`{name of a keypoint: [x, y, z]}` in the world; what lies too far from its thing is not believed."""
    points, used = [], []
    for point in planned.points:
        value = hints.get(point.name)
        pose = state.poses.get(point.owner)
        if pose is not None and _place(value):
            local = pose.inverse(np.array(value, dtype=float))
            if float(np.linalg.norm(local - np.array(point.local))) <= FARTHEST:
                points.append(replace(point, local=(float(local[0]), float(local[1]), float(local[2]))))
                used.append(point.name)
                continue
        points.append(point)
    note = f"its keypoints are used: {', '.join(used)}" if used else "asked, no hint that can be used"
    return replace(planned, points=tuple(points)), {"policy": note}


def _place(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in value)
    )
