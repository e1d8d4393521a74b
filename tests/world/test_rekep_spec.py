"""The specification's own session on the simulation: the ReKep runtime, and a small policy at the skill's endpoint."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("gymnasium", reason="the simulation is an extra")

from worldfs.formats.runtime import sessions
from worldfs.robots.mujoco.gl import gl_status
from worldfs.world.world import World

DOCUMENTS = Path(__file__).parent.parent / "fixtures" / "runtime"
JOB = "sess_pick_apple_001"


class Policy(BaseHTTPRequestHandler):
    """POST /predict answers with an action of no meaning: a policy that has nothing to say about constraints."""

    def do_GET(self):
        self.say({"name": "tiny"})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say({"actions": [[0, 0, 0, 0, 0, 0, 0]]})

    def say(self, said):
        data = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def port():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Policy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def opened(root, port, **changes):
    for name in ("TARGETS.md", "SKILLS.md", "SESSIONS.md"):
        text = (DOCUMENTS / name).read_text().replace("localhost:8765", f"localhost:{port}")
        text = text.replace("scene_xml: /path/to/tabletop.xml", "seed: 7")  # a placeholder: there is no such file
        for old, new in changes.items():
            text = text.replace(old, new)
        (root / name).write_text(text)
    with World.open(root, serve=True) as world:
        world.run(stop=threading.Event(), until_idle=True)
        return world.jobs.load(JOB).status


def test_the_session_of_the_specification_succeeds_with_evidence(tmp_path, port):
    status = opened(tmp_path, port)
    outcome = status.outcome
    if not gl_status().backend:
        assert outcome.code == "REQUIRED_SENSOR_MISSING"
        return
    assert outcome.ok, outcome.message
    said = outcome.evidence
    assert said["object"] == "apple_01" and said["object_moved"] > 0.1
    assert {one["name"] for one in said["success"]} == {"held", "risen_m", "carried"} and all(
        one["ok"] for one in said["success"]
    )
    assert "no proposal" in said["policy"]
    folder = tmp_path / said["artifact_dir"] / "constraints"
    assert json.loads((folder / "metadata.json").read_text())["num_stages"] == 2
    assert "get_grasping_cost_by_keypoint_idx" in (folder / "stage2_path_constraints.txt").read_text()
    words = {item.id: item.word for item in sessions.read((tmp_path / "SESSIONS.md").read_bytes()).entries}
    assert words == {JOB: "succeeded"}


def test_without_its_policy_the_session_is_told_how_to_start_one(tmp_path):
    if not gl_status().backend:
        pytest.skip("the cameras that the skill needs are not here, which is said first")
    outcome = opened(tmp_path, 1).outcome
    assert outcome.code == "POLICY_ENDPOINT_UNREACHABLE" and "paos policy serve --port 1" in outcome.message


def test_a_missing_object_is_told_with_those_there_are(tmp_path, port):
    outcome = opened(tmp_path, port, apple_01="moon_01").outcome
    if gl_status().backend:
        assert outcome.code == "UNKNOWN_OBJECT" and "cube_01" in outcome.message
