"""A policy's inputs: the target's observations under the policy's names, resized, several joined as one.

`policy_client.observations` {target's: policy's}: `rgb.front: observation/image`, `ee_position+ee_axis_angle+gripper:
observation/state`. `policy_client.image`: {size: 224 or [height, width], rotate180: true} for pictures of every name;
without a size, the one that the policy's description of itself gives.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec
from worldfs.policies import policy_contract
from worldfs.policies.endpoint import endpoint_text
from worldfs.policies.policy_client import PolicyError
from worldfs.robots.targets.target_adapter import Array, Observation

from .quaternions import axis_angle

# made of `ee_pose`, for policies that want a part of it or another form
DERIVED = ("ee_position", "ee_quaternion", "ee_axis_angle")


# Names of a robot's own readings; in a simulation everything else but a picture is the simulation's own knowledge.
_OWN = ("joint_", "ee_", "gripper", "base_")
_CAMERA = ("rgb.", "depth.")


class ObservationMapping:
    """A skill's mapping; `wanted`: names of the target's that the policy requires, where the skill declares none.

    `sizes`: height and width of each picture that the policy takes in one size alone.
    """

    def __init__(
        self, spec: PolicySpec, wanted: Mapping[str, object] | None = None,
        sizes: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:  # fmt: skip
        self._names = policy_contract.observation_names(spec) or {name: name for name in wanted or ()}
        self._where = endpoint_text(spec)
        image = spec.extra.get("image")
        settings: Mapping[str, object] = image if isinstance(image, Mapping) else {}
        self._size = _size(settings.get("size"))
        self._sizes = sizes or {}
        self._turned = settings.get("rotate180") is True

    def missing(self, have: Mapping[str, object]) -> list[str]:
        """Names that the mapping needs and the target does not have."""
        return [part for name in self._names for part in name.split("+") if not _has(part, have)]

    def source(self, have: Mapping[str, object], *, real: bool) -> str:
        """Where what a policy is shown of the scene comes from: "truth" (the simulation says it), "camera", or "robot"
        where it is shown nothing but the robot's own readings."""
        names = {part for name in self._names or have for part in name.split("+")}
        if not real and any(not name.startswith(_OWN + _CAMERA) for name in names):
            return "truth"
        return "camera" if any(name.startswith(_CAMERA) for name in names) else "robot"

    def __call__(self, observation: Observation) -> dict[str, Array]:
        """Raises `PolicyError` (POLICY_CLIENT) naming what is not there."""
        names = self._names or {name: name for name in observation}
        return {
            theirs: self._picture(self._one(ours, observation), self._size or self._sizes.get(ours))
            for ours, theirs in names.items()
        }

    def _one(self, name: str, observation: Observation) -> Array:
        parts = [self._part(part, observation) for part in name.split("+")]
        return parts[0] if len(parts) == 1 else np.concatenate([part.ravel() for part in parts])

    def _part(self, name: str, observation: Observation) -> Array:
        if (value := observation.get(name)) is not None:
            return value
        pose = observation.get("ee_pose")
        if name in DERIVED and pose is not None:
            return (
                pose[:3] if name == "ee_position" else pose[3:7] if name == "ee_quaternion" else axis_angle(pose[3:7])
            )
        raise PolicyError(
            coded("session.not_shown", name=name), path=self._where, expected=", ".join(sorted(observation)),
            fix=coded("session.correct_observations"), code="POLICY_CLIENT",
        )  # fmt: skip

    def _picture(self, array: Array, size: tuple[int, int] | None) -> Array:
        if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
            return array
        if self._turned:
            array = np.ascontiguousarray(array[::-1, ::-1])
        return array if size is None else resize_with_pad(array, *size)


def resize_with_pad(picture: Array, height: int, width: int) -> Array:
    """Resized without distortion, black beside it: openpi's resize_with_pad, pixel for pixel (bilinear)."""
    if picture.shape[:2] == (height, width):
        return picture
    from PIL import Image

    source = Image.fromarray(picture)
    ratio = max(source.width / width, source.height / height)
    small = source.resize((int(source.width / ratio), int(source.height / ratio)), Image.Resampling.BILINEAR)
    whole = np.zeros((height, width, 3), np.uint8)
    top, left = (height - small.height) // 2, (width - small.width) // 2
    whole[top : top + small.height, left : left + small.width] = np.asarray(small)
    return whole


def _has(name: str, have: Mapping[str, object]) -> bool:
    return name in have or (name in DERIVED and "ee_pose" in have)


def _size(value: object) -> tuple[int, int] | None:
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(n) is int and 0 < n <= 4096 for n in value):
        return int(value[0]), int(value[1])
    return (value, value) if type(value) is int and 0 < value <= 4096 else None
