"""Pictures are drawn without a screen, and seeing is done in pictures."""

import threading

import numpy as np
import pytest

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.model import Thing
from worldfs.robots.mujoco import image_store
from worldfs.robots.mujoco.gl import gl_status
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

APPLE = Thing("apple_01", "Red Apple", "fruit", (0.5, 0.2, 0.033))
CAN = Thing("can_01", position=(0.55, -0.1, 0.055))


def picture(path):
    from PIL import Image

    with Image.open(path) as image:
        return np.array(image)


def test_pictures_land_beside_the_environment(opened, gl, tmp_path):
    hand = opened(APPLE, cameras=True, artifacts=tmp_path / "artifacts")
    seen = hand.body.observe().perception
    assert seen["camera_rgb"] == "artifacts/camera/front_001.png"
    front = picture(tmp_path / seen["camera_rgb"])
    assert front.shape == (480, 640, 3)
    red = (front[..., 0] > 120) & (front[..., 1] < 60) & (front[..., 2] < 60)
    assert 60 < red.sum() < 6000  # one red apple
    depth = np.load(tmp_path / seen["depth"])
    assert (depth.shape, depth.dtype) == ((480, 640), np.float32)
    camera = hand.rig.simulation.data.camera("front")
    along = -camera.xmat.reshape(3, 3)[:, 2] @ (hand.rig.position("apple_01") - camera.xpos)
    assert float(np.median(depth[red])) == pytest.approx(along - 0.033, abs=0.02)  # the apple's near side
    hand.do("strategy", name="home")
    assert hand.body.observe().perception["camera_rgb"] == "artifacts/camera/front_002.png"


def test_the_album_does_not_grow_without_bound(opened, gl, tmp_path, monkeypatch):
    kept = 4
    monkeypatch.setattr(image_store, "KEPT", kept)
    hand = opened(APPLE, cameras=True, artifacts=tmp_path)
    album, renderer = hand.body._album, hand.body.renderer()
    for _ in range(kept + 2):
        album.add(renderer, hand.rig.simulation.data)
    names = sorted(p.name for p in (tmp_path / "camera").iterdir())
    assert len(names) == 3 * kept
    assert f"front_{kept + 3:03d}.png" in names


def test_the_named_thing_is_found_in_pictures_and_centred(opened, gl):
    hand = opened(APPLE, CAN, cameras=True)
    for label, id in (("apple_01", "apple_01"), ("green can", "can_01"), ("basket", "basket_01")):
        assert hand.review("target_navigation", target_label=label) == []
        done = hand.do("target_navigation", target_label=label)
        assert done.ok, done.message
        assert done.evidence["target"] == id
        assert done.evidence["pixel_error"] <= 16
    found = hand.do("target_navigation", target_label="apple_01").evidence
    assert found["estimate_error"] < 0.03
    assert found["estimated_position"] != found["true_position"]  # measured, not looked up


def test_a_label_of_nothing_is_refused(opened, gl):
    (finding,) = opened(APPLE, cameras=True).review("target_navigation", target_label="elephant")
    assert finding.code == "UNKNOWN_OBJECT"
    assert "apple_01" in finding.expected


def test_without_cameras_looking_fails_by_name(opened):
    hand = opened(APPLE)
    done = hand.do("target_navigation", target_label="apple_01")
    assert (done.ok, done.code) == (False, "CAMERA_UNAVAILABLE")
    assert hand.review("target_navigation", target_label="apple_01")[0].code == "CAMERA_UNAVAILABLE"


def test_without_opengl_everything_else_works(monkeypatch, tmp_path):
    monkeypatch.setenv("MUJOCO_GL", "off")
    gl_status.cache_clear()
    try:
        status = gl_status()
        assert not status.backend
        assert "MUJOCO_GL" in str(status)
        body = TabletopDriver("franka_001", world=SharedWorld(seed=1, objects=1), artifacts=tmp_path)
        from worldfs.base.model import Scene

        body.open(Scene())
        assert body.observe().perception == {}
        with pytest.raises(MissingRequirement):
            body.record(tmp_path / "x.gif")
        body.close()
    finally:
        gl_status.cache_clear()


def test_a_missing_gl_library_names_its_packages(monkeypatch):
    import subprocess

    def fails(*args, **kwargs):
        return subprocess.CompletedProcess(args, 1, "", "ImportError: Cannot initialize a EGL device display.\n")

    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(subprocess, "run", fails)
    status = gl_status.__wrapped__()
    assert not status.backend
    assert "libegl1" in status.fix
    assert "libosmesa6" in status.fix


def test_any_thread_may_ask_for_pictures(opened, gl):
    hand = opened(APPLE, cameras=True)
    sums = []

    def look():
        sums.append(int(hand.body.renderer().capture(hand.rig.simulation.data, "front").rgb.sum()))

    for _ in range(3):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    look()
    assert len(set(sums)) == 1
    assert sums[0] > 0


def test_a_film_is_made_of_what_happens(opened, gl, tmp_path):
    hand = opened(APPLE, cameras=True)
    hand.body.record(tmp_path / "do.gif", fps=5)
    done = hand.do("pick_up", object_id="apple_01")
    frames = hand.body.stop_recording()
    assert frames == pytest.approx(done.evidence["sim_seconds"] * 5, abs=2)
    from PIL import Image

    with Image.open(tmp_path / "do.gif") as image:
        assert image.n_frames > 5
        assert image.size == (480, 360)
    with pytest.raises(BadInput, match=r"do\.txt"):
        hand.body.record(tmp_path / "do.txt")


def test_a_picture_that_cannot_be_kept_fails_no_action(opened, gl, tmp_path):
    (tmp_path / "artifacts").write_text("a file where a directory should be")
    hand = opened(APPLE, cameras=True, artifacts=tmp_path / "artifacts")
    done = hand.do("pick_up", object_id="apple_01")
    assert done.ok
    assert "artifacts" in done.evidence["pictures"]
    assert hand.body.observe().perception == {}
