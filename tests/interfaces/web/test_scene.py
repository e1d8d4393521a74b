"""The world in 3D: what is drawn is where the tree says that it is, also on the way, after a stop, and in the past."""

from __future__ import annotations

import base64
import io
import json

import pytest
from PIL import Image

from worldfs.base.clock import epoch_ns
from worldfs.base.model import Order
from worldfs.interfaces.cli.main import main
from worldfs.namespace.past_time import time_name
from worldfs.robots.pose_frames import PoseFrame, decode_frame

from .conftest import SERVER_AWAY, PageServer

SCENE = "/projects/main/scene"
HAND = 9  # the body that carries the fingers

DRAW = """(places) => {
  drawFrame();
  const { camera, canvas } = worldfs.scene;
  const pixels = places.map((place) => {
    const at = camera.position.clone().set(...place).project(camera);
    return [(at.x + 1) / 2 * canvas.width, (1 - at.y) / 2 * canvas.height];
  });
  return [canvas.toDataURL("image/png"), pixels];
}"""
DRAWN = """() => { drawFrame(); return worldfs.scene.bodies.map((body, index) => worldfs.scene.drawnAt(index)); }"""
NOTE = """(hand) => {
  globalThis.places = new Set();
  globalThis.note = () => { drawFrame(); return places.add(`${worldfs.scene.drawnAt(hand).position}`).size; };
}"""
HELD = """() => {
  drawFrame();
  const { geometries, textures } = worldfs.scene.renderer.info.memory;
  return [geometries, textures];
}"""
AGAIN = """async (rows) => {
  for (let n = 0; n < 3; n++) {
    worldfs.scene.setGeometry(await worldfs.world.readJson("/projects/main/scene/geometry.json"));
    worldfs.scene.apply({ rows, time: 0, number: 1 });  // before it nothing is drawn
    drawFrame();
  }
}"""
FIRST = "() => performance.getEntriesByName('first-picture').length > 0 || globalThis.drawFrame?.()"
AT_NUMBER = "(number) => worldfs.scene.number === number"


@pytest.fixture(scope="module")
def page_server(tmp_path_factory):
    """As a person watches it: the simulation keeps to the clock, slowly enough to be stopped on the way for certain."""
    home = tmp_path_factory.mktemp("scene") / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    server = PageServer(home, real_time=0.3)
    yield server
    server.close()


@pytest.fixture
def scene(open_page):
    """A page that draws when it is told."""
    page = open_page(query="&manual=1")
    page.wait_for_function(FIRST)
    return page


def read_frame(world) -> PoseFrame:
    return decode_frame(world.namespace("operator").read(f"{SCENE}/poses").data)


def draw(page, *places) -> tuple[Image.Image, list[tuple[int, int, int]]]:
    """What is drawn, and its colour at these places."""
    data, pixels = page.evaluate(DRAW, [list(place) for place in places])
    picture = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGB")
    return picture, [picture.getpixel((round(x), round(y))) for x, y in pixels]


def assert_drawn_as_told(page, frame: PoseFrame) -> None:
    page.wait_for_function(AT_NUMBER, arg=frame.number)
    drawn = page.evaluate(DRAWN)
    assert len(drawn) == len(frame.poses)
    for index, pose in frame.poses.items():
        assert drawn[index]["position"] == pytest.approx(pose[:3], abs=1e-5), index
        same = sum(one * other for one, other in zip(drawn[index]["turn"], pose[3:], strict=True))
        assert abs(same) == pytest.approx(1, abs=1e-3), (index, drawn[index]["turn"], pose[3:])


def moment(world) -> str:
    return time_name(epoch_ns(world.store.clock.now()))


def things(world) -> dict[str, tuple[float, ...]]:
    tree = world.namespace("operator")
    bodies = json.loads(tree.read(f"{SCENE}/geometry.json").data)["bodies"]
    frame, found = read_frame(world), {}
    for index, body in enumerate(bodies):
        found.setdefault(body.get("id", ""), frame.poses[index][:3])
    return found


@pytest.mark.proof
def test_the_first_picture_shows_the_things_where_they_are(scene, page_server) -> None:
    where = things(page_server.world)
    scene.wait_for_function(AT_NUMBER, arg=read_frame(page_server.world).number)
    picture, (apple, can, cube) = draw(scene, where["apple_01"], where["can_01"], where["cube_01"])
    assert apple[0] > 2 * apple[1] and apple[0] > 2 * apple[2]
    assert can[1] > 1.5 * can[0] and can[1] > 1.5 * can[2]
    assert cube[2] > 1.5 * cube[0] and cube[2] > 1.3 * cube[1]
    assert len(picture.resize((64, 36)).getcolors(4096)) > 100  # and the rest is no plain surface
    assert scene.locator(".pill", has_text="red apple").is_visible()
    assert "red apple" in scene.inner_text("#where") and f"{where['apple_01'][0]:.2f}" in scene.inner_text("#where")


def test_the_arm_moves_while_a_job_runs_and_the_red_stop_ends_it_on_the_way(scene, page_server) -> None:
    world = page_server.world
    before, start, apple = read_frame(world), moment(world), things(world)["apple_01"]
    empty_hand, _ = draw(scene)
    job = world.submit(Order(world.new_id(), "franka_001", "pick_up", {"object_id": "apple_01"}))
    scene.evaluate(NOTE, HAND)
    scene.wait_for_function("() => note() > 5")
    assert scene.inner_text(".stage-words") == "moving"
    scene.get_by_role("button", name="Stop all robots").click()
    assert not world.wait_job(job).outcome.ok and world.stops.state("franka_001").stopped
    stopped = read_frame(world)
    assert stopped.poses[HAND] != before.poses[HAND]
    assert things(world)["apple_01"] == pytest.approx(apple, abs=1e-3)  # it had not got so far
    assert_drawn_as_told(scene, stopped)
    assert draw(scene)[0].tobytes() != empty_hand.tobytes()
    scene.wait_for_function("() => document.querySelector('.stage-words').innerText === 'still'")
    assert read_frame(world) == stopped
    # The past has the pose before, the present this one.
    scene.evaluate("(at) => { worldfs.world.at.value = at; }", start)
    scene.wait_for_function(
        "([hand, z]) => { drawFrame(); return Math.abs(worldfs.scene.drawnAt(hand).position[2] - z) < 2e-3; }",
        arg=[HAND, before.poses[HAND][2]],
    )
    scene.evaluate("() => { worldfs.world.at.value = null; }")
    assert_drawn_as_told(scene, stopped)
    world.resume("franka_001")


@pytest.mark.proof
def test_a_time_without_a_scene_is_said_in_words(scene) -> None:
    scene.evaluate("() => { worldfs.world.at.value = '2001-01-01T00:00:00Z'; }")
    scene.wait_for_selector(".stage-words .warn-text")
    assert "There is nothing to draw here" in scene.inner_text(".stage-words")
    assert scene.evaluate("() => worldfs.scene.bodies.length") == 0 and "apple" not in scene.inner_text("#where")


@pytest.mark.proof
def test_after_a_lost_connection_the_page_says_so_and_shows_what_is(scene, page_server) -> None:
    world = page_server.world
    scene.watch.allowed = SERVER_AWAY
    page_server.end()
    scene.wait_for_selector(".state-lost")
    world.resume("franka_001")
    world.wait_job(world.submit(Order(world.new_id(), "franka_001", "move_to", {"target_pose": [0.4, 0.1, 0.45]})))
    page_server.begin()
    scene.wait_for_function("() => { worldfs.world.hurry(); return worldfs.world.state.value === 'open'; }")
    scene.wait_for_function(
        "() => document.querySelector('.stage-words').innerText.includes('The connection was lost from')"
    )
    assert_drawn_as_told(scene, read_frame(world))


@pytest.mark.proof
def test_keys_turn_it_and_nothing_grows(scene, page_server) -> None:
    scene.focus("canvas")
    place = "() => worldfs.scene.camera.position.toArray()"
    first = scene.evaluate(place)
    scene.keyboard.press("ArrowRight")
    scene.keyboard.press("+")
    assert scene.evaluate(place) != first
    scene.keyboard.press("0")
    assert scene.evaluate(place) == pytest.approx(first)
    scene.get_by_role("button", name="Reach").click()
    scene.wait_for_function("() => worldfs.scene.bounds.length === 1")  # as its EMBODIED.md says
    before = scene.evaluate(HELD)
    poses = read_frame(page_server.world).poses
    scene.evaluate(AGAIN, [{"index": index, "position": pose[:3], "turn": pose[3:]} for index, pose in poses.items()])
    assert scene.evaluate(HELD) == before
    # A name is text, however long, and whatever it says.
    scene.evaluate(
        """() => { worldfs.scene.setGeometry({ bodies: [
          { id: "x", kind: "object", name: "<img src=x onerror=boom()>" + "a".repeat(1e6), geoms: [] }] });
          worldfs.scene.apply({ rows: [], time: 0, number: 1 });
          drawFrame(); }"""
    )
    assert scene.locator(".pill").count() == 1 and scene.locator(".pill *").count() == 0
    assert scene.inner_text(".pill").startswith("<img") and len(scene.inner_text(".pill")) <= 40
