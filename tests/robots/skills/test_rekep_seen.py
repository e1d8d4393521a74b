"""Keypoints from depth: shapes fitted to what a camera shows, and tasks done by what was seen alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from worldfs.base.model import Thing
from worldfs.plugins.rekep.detections import distance, fit_pose
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.rotations import angle_between, axis_rotation, matrix

from .conftest import APPLE, BASKET, CAN, CUBE
from .test_rekep_steps import Port

EYE = np.array([1.5, 0.4, 0.8])


def cloud(shape, size, position, yaw, seed=0):
    """Points of a thing's surface that face the eye, with a millimetre of noise."""
    rng, half = np.random.default_rng(seed), np.array(size) / 2
    points, normals = [], []
    for _ in range(4000):
        p = rng.uniform(-1, 1, 3) * half
        if shape == "sphere":
            p = p / np.linalg.norm(p) * half[0]
            n = p / half[0]
        elif shape == "cylinder":
            a = math.atan2(p[1], p[0])
            if rng.random() < 0.3:
                n = np.array([0, 0, 1.0])
                p = np.array([*(half[0] * math.sqrt(rng.random()) * np.array([math.cos(a), math.sin(a)])), half[2]])
            else:
                n = np.array([math.cos(a), math.sin(a), 0.0])
                p = np.array([*(half[0] * n[:2]), p[2]])
        else:
            axis, sign = rng.integers(3), rng.choice([-1, 1])
            p[axis], n = sign * half[axis], np.eye(3)[axis] * sign
        points.append(p)
        normals.append(n)
    turn = axis_rotation((0, 0, 1), yaw)
    world, facing = np.array(points) @ turn.T + position, np.array(normals) @ turn.T
    seen = world[np.sum(facing * (EYE - world), axis=1) > 0.05]
    return seen[:220] + rng.normal(0, 0.001, (min(220, len(seen)), 3))


@pytest.mark.slice(4)
@pytest.mark.parametrize(
    ("shape", "size"), [("sphere", (0.066,) * 3), ("cylinder", (0.06, 0.06, 0.11)), ("box", (0.05, 0.05, 0.05)),
                        ("box", (0.12, 0.036, 0.04)), ("box", (0.04, 0.07, 0.1))],
)  # fmt: skip
@pytest.mark.parametrize("yaw", [0.0, 0.4, 1.2, -2.0])
def test_a_shape_is_found_where_it_is(shape, size, yaw):
    position = np.array([0.5, 0.1, size[2] / 2])
    page = Thing("t", position=(0.3, -0.2, 0.1), size=size, shape=shape)  # what is written of its place is of no use
    found, residual = fit_pose(cloud(shape, size, position, yaw), page, EYE)
    assert np.linalg.norm(np.array(found.position) - position) < 0.004 and residual < 0.002
    if shape == "box":
        turned = angle_between(matrix(found.orientation), axis_rotation((0, 0, 1), yaw))
        quarter = math.pi / 2 if size[0] == size[1] else math.pi
        assert min(turned % quarter, quarter - turned % quarter) < 0.05


def test_distances_are_signed():
    points = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]])
    half = np.full(3, 0.05)
    assert distance("box", half, points) == pytest.approx([-0.05, 0.05, 0.05 * math.sqrt(2)])
    assert distance("sphere", half, points) == pytest.approx([-0.05, 0.05, 0.1 * math.sqrt(2) - 0.05])


def test_a_thing_is_placed_by_what_was_seen(stand):
    if not gl_status().backend:
        (found,) = stand(cameras=["front"]).review("rekep_pick", object_id="cube_01", keypoints_from="rgbd")
        assert found.code == "CAMERA_UNAVAILABLE"
        return
    table = stand(APPLE, CUBE, CAN, cameras=["front"])
    params = {"object_id": "cube_01", "target_id": "basket_01", "keypoints_from": "rgbd"}
    assert table.review("rekep_place", **params) == []
    outcome = table.do("rekep_place", **params)
    assert outcome.ok, outcome.message
    said = outcome.evidence
    assert said["source"] == "truth" and "segmentation" in said["masks"]  # no colour was looked at
    assert said["keypoints_from"] == "rgbd front" and set(said["seen"]) == {"apple_01", "cube_01", "can_01"}
    assert max(one["error_m"] for one in said["seen"].values()) < 0.008
    assert table.rig.position("cube_01")[1] < BASKET.position[1] + 0.2


def test_where_nothing_can_be_seen_it_is_said(stand):
    (found,) = stand().review("rekep_pick", object_id="cube_01", keypoints_from="rgbd")
    assert found.code == "CAMERA_UNAVAILABLE"
    (found,) = stand(target=Port()).review("rekep_pick", object_id="cube_01", keypoints_from="rgbd")
    assert found.code == "OBSERVATION_CHANNEL_MISSING"
    (found,) = stand().review("rekep_pick", object_id="cube_01", keypoints_from="thin air")
    assert found.code == "SCHEMA_VALIDATION"
