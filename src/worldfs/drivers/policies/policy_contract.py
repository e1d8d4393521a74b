"""What a skill says of its policy beside where it is, and what a server says of itself, in the words of our targets.

`policy_client` of SKILLS.md may hold: `observations` {target's: policy's}, `action` {representation, gripper {open …}},
`image` {size, rotate180}; see docs/policies.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from worldfs.ground.model import PolicySpec

from .policy_client import PolicyInfo

# What "closed" and "open" are in each representation of ours (targets.adapter.ACTIONS).
GRIPPERS = {"ee_delta": (-1.0, 1.0), "ee_pose": (0.0, 1.0), "joint_position": (0.0, 1.0), "joint_velocity": (0.0, 1.0)}


def observation_names(spec: PolicySpec) -> dict[str, str]:
    """Ours → theirs; empty: every name is its own. A name of ours may be a sum: `ee_position+gripper`."""
    given = spec.extra.get("observations")
    return {str(a): str(b) for a, b in given.items()} if isinstance(given, Mapping) else {}


def action_overrides(spec: PolicySpec) -> Mapping[str, Any]:
    """What the skill says of the policy's actions; it has the last word over what a server says of itself."""
    given = spec.extra.get("action")
    if isinstance(given, str):
        return {"representation": given}
    return given if isinstance(given, Mapping) else {}


def rename_observations(info: PolicyInfo, spec: PolicySpec) -> PolicyInfo:
    """Observations under our names; pictures of any size, since they are resized; the skill's word on actions."""
    ours = {theirs: name for name, theirs in observation_names(spec).items()}
    observations = {
        ours.get(name, name): ((0, 0, 3) if kind == "uint8" and len(shape) == 3 else tuple(shape), kind)
        for name, (shape, kind) in info.observations.items()
        if "+" not in ours.get(name, name)  # made up of several: the runtime checks those
    }
    said = action_overrides(spec)
    return replace(
        info, observations=observations, representation=str(said.get("representation") or info.representation)
    )


def policy_info_json(info: PolicyInfo) -> dict[str, Any]:
    """As JSON: what `GET` on our server's endpoints answers, and the metadata that openpi's clients see first."""
    return {
        "name": info.name,
        "version": info.version,
        "observations": {
            name: {"shape": list(shape), "dtype": kind} for name, (shape, kind) in info.observations.items()
        },
        "action": {"representation": info.representation, "dim": info.action_dim, "horizon": info.horizon},
    }


def parse_policy_info(said: object) -> PolicyInfo:
    """The reverse; what is not so is as if it were not said: it describes, and decides nothing."""
    if not isinstance(said, Mapping):
        return PolicyInfo()
    observations = {}
    listed = said.get("observations")
    for name, kind in (listed if isinstance(listed, Mapping) else {}).items():
        shape = kind.get("shape") if isinstance(kind, Mapping) else None
        if isinstance(name, str) and isinstance(shape, list) and all(type(size) is int for size in shape):
            observations[name] = (tuple(shape), str(kind.get("dtype", "")))
    given = said.get("action")
    spoken: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    return PolicyInfo(
        name=_text(said.get("name")),
        version=_text(said.get("version")),
        observations=observations,
        representation=_text(spoken.get("representation")),
        action_dim=_count(spoken.get("dim")),
        horizon=_count(spoken.get("horizon")),
    )


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value < 10_000 else 0
