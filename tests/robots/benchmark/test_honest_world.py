"""Honest worlds: what is drawn stands in the record, acts on light, noise and calibration, and is told no robot."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.errors import BadInput
from worldfs.plugins.benchmark.benchmark_methods import parse_method
from worldfs.plugins.benchmark.benchmark_run import run_benchmark
from worldfs.plugins.benchmark.handling_trials import BAR, CAN, CUBE, ROBOT, table_with, thing, trial
from worldfs.plugins.benchmark.honest_world import CAMERAS, PHYSICS, RANGES, drawn, parse_ranges, world_of
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.mujoco.simulated_camera import CAMERAS as SEEING
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver


def test_a_world_is_the_same_for_the_same_seed_and_stands_in_the_record():
    assert drawn(5) == drawn(5) != drawn(6)
    told = drawn(7).as_json()
    assert told.keys() == RANGES.keys()
    assert all(low <= told[name] <= high for name, (low, high) in RANGES.items())
    assert (
        drawn(7, {"friction": RANGES["friction"]}).as_json()["friction"] == told["friction"]
    )  # whatever else is drawn
    one = trial("push", 7000, drawn(5, PHYSICS))
    assert one.world == drawn(5, PHYSICS).as_json()


def test_ranges_are_read_and_what_is_no_world_is_refused():
    assert parse_ranges([], every=False, cameras=True) == {}
    assert parse_ranges(["light=0.5..1.5, mass=2", "friction"], every=False, cameras=True) == {
        "light": (0.5, 1.5), "mass": (2.0, 2.0), "friction": PHYSICS["friction"],
    }  # fmt: skip
    assert parse_ranges([], every=True, cameras=False) == PHYSICS
    assert parse_ranges(["light=2"], every=True, cameras=True) == {**PHYSICS, **CAMERAS, "light": (2.0, 2.0)}
    for text in ("gravity=2", "light=2..1", "light=x", "mass=nan", "size=3", "", "friction=-1"):
        with pytest.raises(BadInput):
            parse_ranges([text], every=False, cameras=True)
    with pytest.raises(BadInput, match="light"):
        parse_ranges(["light=2"], every=False, cameras=False)


def test_each_trial_of_a_drawn_world_has_its_benign_twin_in_record_and_table(tmp_path):
    pytest.importorskip("gymnasium")
    ranges = {"friction": (0.3, 0.4)}

    def run():
        return run_benchmark(
            tmp_path, [parse_method("skills")], ["pick"], [5001], workers=1, stop=threading.Event(),
            on_trial=lambda *_: None, ranges=ranges,
        )  # fmt: skip

    found = run()
    lines = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert [line.get("world", {}).get("friction") for line in lines] == [
        None,
        drawn(5001, ranges).as_json()["friction"],
    ]
    assert (found["finished"], found["contestants"]["skills"]["all"]["tried"]) == (2, 1)
    assert found["worlds"]["skills"]["all"]["tried"] == 1
    assert "| friction | 0.3 to 0.4 |" in (tmp_path / "results.md").read_text()
    run()  # nothing is done again
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == 2


def test_colours_are_known_in_another_light_with_noise_that_is_measured_and_the_things_larger_than_told():
    pytest.importorskip("scipy", reason="the perception extra is not installed: pip install 'worldfs[perception]'")
    if not gl_status().backend:
        pytest.skip(str(gl_status()))
    things = (("cube", CUBE, (0.45, 0.1)), ("can", CAN, (0.5, -0.1)), ("bar", BAR, (0.55, 0.25)))
    levels = {"light": 0.5, "light_angle": 120.0, "warmth": 0.5, "colour_noise": 15.0, "depth_noise": 4.0, "size": 1.05}
    body = TabletopDriver(ROBOT, perception="camera", difference=world_of(levels, 3).difference())
    body.open(table_with([thing(id, kind, spot, np.eye(3)) for id, kind, spot in things]))
    try:
        looks, rig = body.looks, body.arm.rig
        assert looks.fault is None and looks.sigma == pytest.approx(0.004, rel=0.15)
        tracks = looks.belief.tracks
        assert all(track.seen and math.dist(track.position, rig.position(id)) < 0.012 for id, track in tracks.items())
        cube = looks.rig.simulation.model.geom_bodyid == looks.rig.body["cube"]
        assert looks.rig.simulation.model.geom_size[cube].max() == pytest.approx(0.025)  # as it was told
    finally:
        body.close()


def test_a_calibration_that_is_off_is_off_in_the_true_world_alone():
    body = TabletopDriver(ROBOT, cameras=False)
    body.open(table_with([thing("cube", CUBE, (0.45, 0.1), np.eye(3))]))
    try:
        model = body.arm.simulation.model
        before = {camera: (model.camera(camera).pos.copy(), model.camera(camera).quat.copy()) for camera in SEEING}
        world_of({"camera_shift": 5.0, "camera_tilt": 1.0}, 3).cameras.apply(body.arm, 3)
        for camera, (pos, quat) in before.items():
            turned = 2 * math.acos(min(1.0, abs(float(model.camera(camera).quat @ quat))))
            assert math.dist(model.camera(camera).pos, pos) == pytest.approx(0.005)
            assert math.degrees(turned) == pytest.approx(1.0, rel=0.01)
    finally:
        body.close()


def test_too_much_noise_is_said_as_noise():
    pytest.importorskip("scipy", reason="the perception extra is not installed: pip install 'worldfs[perception]'")
    from worldfs.robots.vision.depth_image import DepthImage
    from worldfs.robots.vision.image_checks import image_fault
    from worldfs.robots.vision.picture_correction import depth_noise

    rng, rgb = np.random.default_rng(0), np.full((480, 640, 3), 90, np.uint8)
    flat = DepthImage("front", rgb, np.full((480, 640), 1.2, np.float32), np.zeros(3), np.eye(3), 500.0)
    for sigma, fault in ((0.004, None), (0.012, "noisy")):
        depth = flat.depth + (sigma * 1.2**2 * rng.standard_normal(flat.depth.shape)).astype(np.float32)
        measured = depth_noise(replace(flat, depth=depth), flat)
        assert measured == pytest.approx(sigma, rel=0.05)
        found = image_fault(replace(flat, depth=depth), flat, None, now=0.0, most_age_s=1.0, sigma=measured)
        assert (found and found.kind) == fault
