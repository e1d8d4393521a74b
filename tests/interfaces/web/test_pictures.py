"""What is drawn over the scene and beside it: plans, reserved space, contacts, evidence, cameras; on a phone, too.

In `make test`: a viewer that has no frame yet, and a finger on a phone; the others in `make proof`.
"""

from __future__ import annotations

import io
import socket
import subprocess

import numpy as np
import pytest
from PIL import Image

from worldfs.base.model import Order
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.web.static_site import StaticSite

from .conftest import SERVER_AWAY, PageServer

SCENE = "/projects/main/scene"
FIRST = "() => performance.getEntriesByName('first-picture').length > 0 || globalThis.drawFrame?.()"
# Whether a group is drawn as its file says now; both may change between two looks, so it is asked until it holds.
AS_PLANNED = """async () => {
  const { robots, reserved } = await worldfs.world.readJson("/projects/main/scene/plan.json");
  const { overlays } = worldfs.scene, drawn = (group) => group.children.map((part) => part.position.toArray());
  const same = (one, other) => one.length > 0 && one.length === other.length
    && one.every((place, n) => place.every((v, axis) => Math.abs(v - other[n][axis]) < 1e-5));
  const ghosts = robots.flatMap(({ poses }) => poses.slice(-3).flat()).map((row) => row.slice(1, 4));
  const space = reserved.flatMap(({ spheres }) => spheres).map((ball) => ball.slice(0, 3));
  return same(ghosts, drawn(overlays.plan)) && same(space, drawn(overlays.reserved).slice(0, space.length));
}"""
AS_FELT = """async () => {
  const { contacts } = await worldfs.world.readJson("/projects/main/scene/contacts.json");
  const { children } = worldfs.scene.overlays.contacts;
  const dots = children.filter((part) => part.isMesh).map((part) => part.position.toArray());
  return contacts.some(({ between }) => between.includes("franka_001")) && dots.length === contacts.length
    && contacts.every(({ point }, n) => point.every((v, axis) => Math.abs(v - dots[n][axis]) < 1e-3));
}"""
CAMERA = "() => worldfs.scene.camera.position.toArray()"


@pytest.fixture(scope="module")
def page_server(tmp_path_factory):
    """A fleet of two arms at one table, which keeps to the clock."""
    home = tmp_path_factory.mktemp("fleet") / "home"
    assert main(["--home", str(home), "onboard", "--fleet"]) == 0
    server = PageServer(home, real_time=1.0)
    yield server
    server.close()


@pytest.fixture
def scene(open_page):
    page = open_page(query="&manual=1")
    page.wait_for_function(FIRST)
    return page


def wait_until(page, check: str) -> None:
    """Until an asynchronous check holds; `wait_for_function` takes any promise for a yes."""
    over = "Date.now() + 60000"  # names a hang, and nothing else
    loop = (
        f"for (const check = {check}, over = {over}; Date.now() < over; await new Promise((go) => setTimeout(go, 20)))"
    )
    assert page.evaluate(f"async () => {{ {loop} if (await check()) return true; return false; }}")


def drawn(page) -> bytes:
    page.evaluate("() => drawFrame()")
    return page.locator("canvas").first.screenshot()


@pytest.mark.proof
def test_a_fleet_at_work_plan_space_contacts_and_evidence_are_drawn_as_their_files_say(scene, page_server) -> None:
    world = page_server.world
    scene.get_by_role("button", name="Contacts").click()
    order = Order(world.new_id(), "franka_001", "pick_up", {"object_id": "apple_01"})
    job = world.submit(order)
    wait_until(scene, AS_PLANNED)
    with_plan = drawn(scene)
    for name in ("Plan", "Reserved"):
        scene.get_by_role("button", name=name).click()
    assert drawn(scene) != with_plan
    for name in ("Plan", "Reserved"):
        scene.get_by_role("button", name=name).click()
    assert world.wait_job(job).outcome.ok
    wait_until(scene, AS_FELT)
    scene.wait_for_function("() => worldfs.scene.overlays.plan.children.length === 0")  # the order has ended
    # What was measured, in words and in the picture.
    evidence = world.jobs.load(order.id).status.outcome.evidence
    places = [evidence[side]["object"]["position"] for side in ("before", "after")]
    scene.wait_for_function("() => worldfs.scene.overlays.evidence.children.length >= 2")
    marks = "() => worldfs.scene.overlays.evidence.children.slice(0, 2).map((one) => one.position.toArray())"
    assert [pytest.approx(place, abs=1e-6) for place in places] == scene.evaluate(marks)
    said = scene.get_by_label("What was measured").inner_text()
    assert "mujoco" in said and f"{evidence['object_moved']:.3f} m" in said
    # One robot, then everything again.
    first = scene.evaluate(CAMERA)
    scene.get_by_label("Look at").select_option("franka_002")
    assert scene.evaluate("() => worldfs.scene.controls.target.toArray()")[:2] == pytest.approx([0.9, 0.0])
    scene.get_by_label("Look at").select_option("")
    assert scene.evaluate(CAMERA) == pytest.approx(first)


@pytest.mark.proof
def test_what_the_cameras_saw_last_in_colour_and_in_depth(open_page, page_server) -> None:
    folder = page_server.world.root / "artifacts/camera"
    folder.mkdir(parents=True)
    Image.new("RGB", (320, 240), "red").save(folder / "front_001.png")
    Image.new("RGB", (160, 120), "blue").save(folder / "front_002.png")
    np.save(folder / "front_002_depth.npy", np.tile(np.linspace(0.5, 2.5, 320, dtype="<f4"), (240, 1)))
    (folder / "wrist_001.png").write_bytes(b"no picture")
    page = open_page(query="&manual=1")
    cameras = page.get_by_label("Cameras")
    page.wait_for_function("() => document.querySelector('.views img')?.naturalWidth === 160")  # the newest
    assert cameras.locator("canvas").count() == 0  # a megabyte: only when asked for
    cameras.get_by_text("wrist_001.png cannot be shown").wait_for()
    assert not cameras.locator("img[alt=wrist]").is_visible()
    Image.new("RGB", (80, 60), "green").save(folder / "wrist_002.png")
    page.wait_for_function("() => document.querySelector('img[alt=wrist]')?.naturalWidth === 80")
    page.wait_for_function("() => !document.body.innerText.includes('cannot be shown')")
    assert cameras.locator("img[alt=wrist]").is_visible()
    cameras.get_by_role("button", name="depth").click()
    cameras.get_by_text("0.5–2.5 m").wait_for()
    colour = "(x) => [...document.querySelector('.views canvas').getContext('2d').getImageData(x, 60, 1, 1).data]"
    near, far = page.evaluate(colour, 2), page.evaluate(colour, 157)
    assert near[0] > 200 and near[1] > 150 and max(far[:3]) < 100 and near[3] == far[3] == 255
    np.save(folder / "front_003_depth.npy", np.zeros((4, 4), "<f8"))
    cameras.get_by_text("front_003_depth.npy cannot be shown").wait_for()


def test_nothing_is_shown_anywhere_before_the_first_frame(scene) -> None:
    scene.evaluate(
        """() => {
            worldfs.show("tree");
            performance.clearMarks();
            const stream = worldfs.world.stream;
            worldfs.world.stream = async function* (...all) {
                await new Promise((resolve) => { globalThis.go = resolve; });
                yield* stream.apply(worldfs.world, all);
            };
            worldfs.scene = null;
        }"""
    )
    scene.wait_for_function("() => document.querySelector('.tree-panel')")
    scene.evaluate("() => worldfs.show('world')")
    scene.wait_for_function("() => globalThis.go && worldfs.scene?.bodies.length > 0 && (drawFrame(), true)")
    marks = "() => performance.getEntriesByName('first-picture').length"
    assert scene.evaluate(marks) == 0 and not scene.evaluate("() => worldfs.scene.world.visible")
    assert not any(pill.is_visible() for pill in scene.locator(".pill").all())
    scene.evaluate("() => go()")
    scene.wait_for_function(FIRST)
    assert scene.evaluate(marks) == 1 and scene.locator(".pill", has_text="red apple").is_visible()


@pytest.mark.proof
def test_a_plan_is_looked_at_until_its_order_has_ended_however_long_nothing_moves(page) -> None:
    """A world that has one frame; its plan goes away at the fourth look."""
    seen = page.evaluate(
        """async () => {
            const { watchScene } = await import("/scene/scene_feed.js"), over = new AbortController(), seen = [];
            let looks = 0;
            const world = {
                at: { value: null },
                readJson: async () => ({ revision: 0 }),
                readText: async () => JSON.stringify({ robots: ++looks < 4 ? [{}] : [], reserved: [] }),
                async *stream() { yield new Uint8Array(18); await new Promise(() => {}); },
            };
            await new Promise((done) => {
                const plan = ({ robots }) => { seen.push(robots.length); if (!robots.length) done(); };
                const see = { geometry() {}, frame() {}, contacts() {}, failed: done, plan };
                watchScene(world, "/scene", see, () => ({ plan: true, contacts: false }), over.signal);
                setTimeout(done, 20000);
            });
            over.abort();
            return seen;
        }"""
    )
    assert seen == [1, 0]


def touch(tools, kind, *places) -> None:
    points = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(places)]
    tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.mark.proof
def test_on_a_phone_a_finger_turns_the_picture_and_two_come_nearer(open_page) -> None:
    page = open_page(query="&manual=1", width=390, height=844, has_touch=True, is_mobile=True)
    page.wait_for_function(FIRST)
    tools = page.context.new_cdp_session(page)
    far = "() => worldfs.scene.camera.position.distanceTo(worldfs.scene.controls.target)"
    before, distance = page.evaluate(CAMERA), page.evaluate(far)
    touch(tools, "touchStart", (120, 300))
    for x in (150, 180, 210):
        touch(tools, "touchMove", (x, 300))
    touch(tools, "touchEnd")
    assert page.evaluate(CAMERA) != pytest.approx(before, abs=0.05)
    assert page.evaluate(far) == pytest.approx(distance, rel=1e-3)
    touch(tools, "touchStart", (150, 300), (240, 300))
    for x in (20, 40, 60):
        touch(tools, "touchMove", (150 - x, 300), (240 + x, 300))
    touch(tools, "touchEnd")
    assert page.evaluate(far) < 0.9 * distance
    assert page.evaluate("() => scrollY") == 0
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    tall = page.evaluate("() => document.querySelector('.stage-tools').getBoundingClientRect().height")
    assert tall < 100, "the tools leave the picture to be seen"


@pytest.mark.proof
def test_in_full_quality_things_have_shadows_and_reflections(open_page) -> None:
    """SwiftShader takes seconds a frame: one is drawn."""
    page = open_page(query="&manual=1")
    page.evaluate("() => { location.search = '?quality=high&manual=1'; }")
    page.wait_for_function("() => globalThis.worldfs?.scene?.low === false")
    page.wait_for_function(FIRST)
    assert page.evaluate("() => worldfs.scene.renderer.shadowMap.enabled && worldfs.scene.scene.environment !== null")
    picture = Image.open(io.BytesIO(page.locator("canvas").first.screenshot())).convert("RGB")
    assert len(picture.getcolors(1 << 20)) > 5_000


@pytest.mark.proof
def test_to_hurry_begins_no_second_attempt_beside_one_that_is_under_way(open_page, page_server) -> None:
    page = open_page(query="&manual=1")
    page.watch.allowed = SERVER_AWAY
    page.evaluate(
        """() => {
            globalThis.attempts = 0;
            const Given = WebSocket;
            globalThis.WebSocket = class extends Given { constructor(...all) { super(...all); attempts += 1; } };
        }"""
    )
    page_server.end()
    with socket.create_server(("127.0.0.1", page_server.port), backlog=8) as silent:  # it takes connections, no more
        silent.settimeout(60)
        page.wait_for_selector(".state-lost")
        page.evaluate("() => worldfs.world.hurry()")
        held = silent.accept()[0]
        again = "for (let n = 0; n < 20; n += 1) worldfs.world.hurry()"
        hurried = f"() => {{ const before = attempts; {again}; return attempts - before; }}"
        assert page.evaluate(hurried) == 0
    held.close()
    page_server.begin()
    page.wait_for_function("() => { worldfs.world.hurry(); return worldfs.world.state.value === 'open'; }")


@pytest.mark.proof
def test_over_tls_the_page_and_its_stream_are_the_same(open_page, page_server, tmp_path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    try:
        subprocess.run([*made, "-subj", "/CN=localhost", "-keyout", key, "-out", cert], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")
    where = ListenOptions(port=0, certificate=str(cert), key=str(key))
    with BackgroundServer(page_server.realm, where, site=StaticSite().page) as server:
        served = page_server.page._replace(url=f"https://127.0.0.1:{server.started.port}/")
        page = open_page(served, query="&manual=1", ignore_https_errors=True)
        page.wait_for_function(FIRST)
        assert page.evaluate("() => location.protocol + worldfs.world.state.value") == "https:open"
        assert page.evaluate("() => worldfs.scene.frames") > 0
        page.goto("about:blank")


@pytest.mark.proof
def test_the_page_says_its_language_and_writes_times_in_it(open_page) -> None:
    page = open_page(query="&manual=1")
    assert page.evaluate("() => document.documentElement.lang") == "en"
    page.get_by_label("Language").select_option("zh")
    assert page.evaluate("() => document.documentElement.lang") == "zh-Hans"
    at = "async () => (await import('/texts.js')).timeText(new Date(2026, 0, 2, 15, 4, 5))"
    assert page.evaluate(at) == "15:04:05"
    page.get_by_label("语言").select_option("en")
    assert page.evaluate("() => document.documentElement.lang") == "en"
