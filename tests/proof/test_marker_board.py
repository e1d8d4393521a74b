"""A printed board in pictures that MuJoCo draws, found by OpenCV itself: where the camera is on the hand."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest

from worldfs.plugins.teleoperation.hand_eye import pose, solve
from worldfs.robots import rotations

from .test_robot_libraries import ROOT, installed

pytestmark = pytest.mark.proof
CAMERA = pose(np.array([0.1, -0.2, 1.5, 0.05, -0.03, 0.06]))
FLIP = np.diag([1.0, -1.0, -1.0, 1.0])  # OpenCV's camera looks along z, OpenGL's against it
SCENE = """<mujoco><visual><global offwidth="640" offheight="480"/><headlight ambient=".6 .6 .6" diffuse=".4 .4 .4"
 specular="0 0 0"/><quality shadowsize="0" offsamples="4"/></visual><asset>
 <texture name="b" type="2d" builtin="flat" width="700" height="500" nchannel="3"/><material name="b" texture="b"
 specular="0" reflectance="0"/></asset><worldbody><geom type="plane" size="5 5 1" pos="0 0 -.01" rgba=".5 .5 .5 1"/>
 <geom type="box" pos=".45 .05 0" size=".105 .075 .001" material="b"/><body mocap="true"><camera name="c" fovy="55"/>
 </body></worldbody></mujoco>"""


@pytest.fixture(scope="module", autouse=True)
def opencv():
    """OpenCV in a folder of its own, found by this module's tests; it cannot be imported twice in a process."""
    pytest.importorskip("mujoco", reason="the simulation is an extra")
    from worldfs.robots.mujoco.gl import gl_status

    if not gl_status().backend:
        pytest.skip("no OpenGL on this machine")
    backend = importlib.import_module(f"mujoco.{gl_status().backend}").GLContext
    place = installed(sys.executable, ROOT / "build/opencv", "opencv-python-headless==5.0.0.93")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        patch.setattr("mujoco.rendering.classic.gl_context.GLContext", backend)  # whatever it was when mujoco came in
        yield


def looks(board, count, slip=0.0):
    """The pictures of a camera that is led round the board, and the hand's poses as an arm with that error has them."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(SCENE)
    texture = np.repeat(board.picture(100)[:, :, None], 3, axis=2)
    model.tex_data[: texture.size] = texture.ravel()
    data, renderer = mujoco.MjData(model), mujoco.Renderer(model, 480, 640)
    rng, middle, hands, pictures = np.random.default_rng(0), np.array([0.45, 0.05, 0.0]), [], []
    for _ in range(count):
        eye = middle + np.array([*rng.uniform(-0.15, 0.15, 2), rng.uniform(0.25, 0.4)])
        ahead = middle + rng.uniform(-0.02, 0.02, 3) - eye
        ahead /= np.linalg.norm(ahead)
        right = np.cross(rotations.exp(np.array([0, 0, rng.uniform(-0.8, 0.8)])) @ np.array([0, 1.0, 0]), ahead)
        right /= np.linalg.norm(right)
        camera = np.eye(4)
        camera[:3, :3], camera[:3, 3] = np.stack([right, np.cross(ahead, right), ahead], axis=1), eye
        data.mocap_pos[0], data.mocap_quat[0] = eye, rotations.quaternion((camera @ FLIP)[:3, :3])
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera="c")
        pictures.append(renderer.render().copy())
        hand = camera @ np.linalg.inv(CAMERA)
        hand[:3, 3] += rng.normal(0, slip, 3)
        hands.append(hand)
    renderer.close()
    return hands, pictures


def test_the_camera_on_the_hand_is_found_from_pictures_of_a_printed_board(capsys):
    from worldfs.plugins.teleoperation.marker_board import MarkerBoard, camera_matrix, sights

    board, errors = MarkerBoard(), {}
    for name, slip in (("exact_arm", 0.0), ("arm_wrong_by_0.5_mm", 0.0005)):
        hands, pictures = looks(board, 14, slip)
        focal = camera_matrix(board, pictures)
        found = solve(sights(board, pictures, hands, focal), focal)
        off = np.linalg.inv(CAMERA) @ found.camera
        errors[name] = {
            "mm": round(1000 * float(np.linalg.norm(off[:3, 3])), 2),
            "deg": round(float(np.degrees(np.linalg.norm(rotations.log(off[:3, :3])))), 3),
            "pictures": found.pictures, "rms_px": round(found.rms_px, 3), "spread_mm": round(found.spread_mm, 2),
        }  # fmt: skip
    with capsys.disabled():
        print(json.dumps(errors))
    assert errors["exact_arm"]["mm"] < 1.0 and errors["exact_arm"]["deg"] < 0.1
    assert errors["arm_wrong_by_0.5_mm"]["mm"] < 3.0 and errors["arm_wrong_by_0.5_mm"]["deg"] < 0.5


def test_a_picture_without_the_board_or_of_too_few_is_no_sight():
    from worldfs.plugins.teleoperation.marker_board import MarkerBoard

    board = MarkerBoard()
    assert board.corners(np.zeros((480, 640, 3), np.uint8)) is None
    assert board.corners(np.random.default_rng(0).integers(0, 255, (480, 640, 3)).astype(np.uint8)) is None


def test_the_command_reads_a_recorded_session_and_prints_the_board(tmp_path, capsys):
    from PIL import Image

    from worldfs.interfaces.cli.main import main
    from worldfs.plugins.teleoperation.marker_board import MarkerBoard

    hands, pictures = looks(MarkerBoard(), 14)
    folder = tmp_path / "workspace/artifacts/runtime/looked"
    (folder / "frames/wrist").mkdir(parents=True)
    lines = []
    for step, (hand, picture) in enumerate(zip(hands, pictures, strict=True), 1):
        Image.fromarray(picture).save(folder / f"frames/wrist/{step:06d}.jpg", quality=95)
        held = [*hand[:3, 3], *rotations.quaternion(hand[:3, :3])]
        lines.append(json.dumps({"step": step, "ee_pose": [round(float(n), 6) for n in held]}))
    (folder / "trace.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "episode.json").write_text("{}")
    (tmp_path / "workspace/ENVIRONMENT.md").write_text("")
    home = ["--home", str(tmp_path)]
    assert main([*home, "--json", "robot", "hand-eye", "looked"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["position"] == pytest.approx([0.05, -0.03, 0.06], abs=0.002) and said["pictures"] == 14
    assert main([*home, "robot", "hand-eye", "--print", str(tmp_path / "board.png")]) == 0
    with Image.open(tmp_path / "board.png") as printed:
        assert printed.size == (1400, 1000)
