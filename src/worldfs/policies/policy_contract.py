"""A skill's description of its policy beside the address, and a server's of itself, in the targets' terms.

`policy_client` of SKILLS.md may hold: `observations` {target's: policy's}, `action` {representation, gripper {open …}},
`image` {size, rotate180}; see docs/policies.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from worldfs.base.model import PolicySpec

from .policy_client import PolicyInfo

# What "closed" and "open" are in each representation of ours (targets.adapter.ACTIONS).
GRIPPERS = {"ee_delta": (-1.0, 1.0), "ee_pose": (0.0, 1.0), "joint_position": (0.0, 1.0), "joint_velocity": (0.0, 1.0)}


def observation_names(spec: PolicySpec) -> dict[str, str]:
    """Target's name → policy's name; empty: all the same. A target's name may be a sum: `ee_position+gripper`."""
    value = spec.extra.get("observations")
    return {str(a): str(b) for a, b in value.items()} if isinstance(value, Mapping) else {}


def action_overrides(spec: PolicySpec) -> Mapping[str, object]:
    """The skill's description of the policy's actions; it overrides the server's."""
    value = spec.extra.get("action")
    if isinstance(value, str):
        return {"representation": value}
    return value if isinstance(value, Mapping) else {}


def rename_observations(info: PolicyInfo, spec: PolicySpec) -> PolicyInfo:
    """Observations under the target's names; pictures of any size, since they are resized; the skill's overrides."""
    ours = {theirs: name for name, theirs in observation_names(spec).items()}
    observations = {
        ours.get(name, name): ((0, 0, 3) if kind == "uint8" and len(shape) == 3 else tuple(shape), kind)
        for name, (shape, kind) in info.observations.items()
        if "+" not in ours.get(name, name)  # made up of several: the runtime checks those
    }
    sizes = {
        ours.get(name, name): (shape[0], shape[1])
        for name, (shape, kind) in info.observations.items()
        if kind == "uint8" and len(shape) == 3 and min(shape) > 0
    }
    document = action_overrides(spec)
    return replace(
        info,
        observations=observations,
        picture_sizes=sizes,
        representation=str(document.get("representation") or info.representation),
    )


def policy_info_json(info: PolicyInfo) -> dict[str, object]:
    """As JSON: the answer to `GET` on this package's server, and the metadata that openpi's clients get first."""
    return {
        "name": info.name,
        "version": info.version,
        "observations": {
            name: {"shape": list(shape), "dtype": kind} for name, (shape, kind) in info.observations.items()
        },
        "action": {"representation": info.representation, "dim": info.action_dim, "horizon": info.horizon},
    }


def parse_policy_info(document: object) -> PolicyInfo:
    """The reverse; invalid fields are ignored: they describe, and decide nothing."""
    if not isinstance(document, Mapping):
        return PolicyInfo()
    observations = {}
    listed = document.get("observations")
    for name, kind in (listed if isinstance(listed, Mapping) else {}).items():
        shape = kind.get("shape") if isinstance(kind, Mapping) else None
        if isinstance(name, str) and isinstance(shape, list) and all(type(size) is int for size in shape):
            observations[name] = (tuple(shape), str(kind.get("dtype", "")))
    value = document.get("action")
    spoken: Mapping[str, object] = value if isinstance(value, Mapping) else {}
    return PolicyInfo(
        name=_text(document.get("name")),
        version=_text(document.get("version")),
        observations=observations,
        representation=_text(spoken.get("representation")),
        action_dim=_count(spoken.get("dim")),
        horizon=_count(spoken.get("horizon")),
    )


def _text(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value < 10_000 else 0
