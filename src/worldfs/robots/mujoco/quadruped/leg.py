"""The leg: where its foot is for three joint angles, the angles for a foot, and the torques for a force of the foot.

Frame of a leg: origin at its hip joint, x forward, y left, z up, turned with the trunk (m, rad).
"""

from __future__ import annotations

import math
from typing import Final

# Unitree's published URDF of the Go2
HIP: Final = 0.0955  # m, hip joint to thigh, sideways
THIGH: Final = 0.213  # m
CALF: Final = 0.213  # m
STRETCH: Final = 0.995  # of thigh and calf together: never quite straight, where a knee has no direction
Point = tuple[float, float, float]


def angles(foot: Point, side: float) -> Point:
    """Abduction, thigh and knee for a foot; `side` 1.0 left, −1.0 right. A foot out of reach is taken as near as it
    can be."""
    x, y, z = foot
    away = max(math.hypot(y, z), HIP + 0.02)
    lean = math.acos(HIP / away)
    abduction = math.atan2(z, y) + (lean if side > 0 else math.pi - lean)
    abduction = math.remainder(abduction, math.tau)
    down = math.sqrt(away * away - HIP * HIP)
    reach = min(math.hypot(x, down), STRETCH * (THIGH + CALF))
    bend = (reach * reach - THIGH * THIGH - CALF * CALF) / (2 * THIGH * CALF)
    knee = -math.acos(max(-1.0, min(1.0, bend)))
    thigh = math.atan2(-x, down) - math.atan2(CALF * math.sin(knee), THIGH + CALF * math.cos(knee))
    return abduction, thigh, knee


def foot(joints: Point, side: float) -> Point:
    """The foot's centre for these angles."""
    abduction, thigh, knee = joints
    x = -THIGH * math.sin(thigh) - CALF * math.sin(thigh + knee)
    z = -THIGH * math.cos(thigh) - CALF * math.cos(thigh + knee)
    return x, *_leaned(side * HIP, z, abduction)


def torques(joints: Point, side: float, force: Point) -> Point:
    """Joint torques that let the foot press on what it stands on with −`force` (N, the leg's frame): −Jᵀ force."""
    abduction, thigh, knee = joints
    x, y, z = foot(joints, side)
    calf_x, calf_z = -CALF * math.cos(thigh + knee), CALF * math.sin(thigh + knee)
    thigh_x, thigh_z = -THIGH * math.cos(thigh) + calf_x, -x
    fx, fy, fz = force
    about_thigh, about_knee = _leaned(0.0, thigh_z, abduction), _leaned(0.0, calf_z, abduction)
    return (
        -(y * fz - z * fy),
        -(thigh_x * fx + about_thigh[0] * fy + about_thigh[1] * fz),
        -(calf_x * fx + about_knee[0] * fy + about_knee[1] * fz),
    )


def _leaned(y: float, z: float, abduction: float) -> tuple[float, float]:
    sine, cosine = math.sin(abduction), math.cos(abduction)
    return y * cosine - z * sine, y * sine + z * cosine
