"""Our policy server: one port, four ways to speak, bounded in every direction; and the command that starts it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, Busy
from worldfs.base.model import Order, Skill
from worldfs.policies.policy_client import PolicyInfo
from worldfs.policies.policy_server import MOST
from worldfs.policies.served_policies import NAMES, ScriptedPolicy, hold, load_policy, reach, tabletop
from worldfs.sessions.preflight import TargetCapabilities, check_contract
from worldfs.testing.waiting import PATIENCE_S, until

from .peers import PICTURE, POSE, SHOWN, WORDS, Plain, trouble

ROOT = Path(__file__).resolve().parents[3]
JSON = {"Content-Type": "application/json"}


def ask(port, method="POST", path="/predict", body=b"{}", headers=JSON):
    line = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        line.request(method, path, body, headers)
        answer = line.getresponse()
        return answer.status, answer.read()
    finally:
        line.close()


def test_health_is_for_everybody_and_the_rest_needs_the_token(serve):
    port = serve(token="t").port
    assert ask(port, "GET", "/healthz", None, {}) == (200, b"OK\n")
    assert ask(port)[0] == 401
    for scheme in ("Bearer", "Api-Key"):
        assert ask(port, headers={**JSON, "Authorization": f"{scheme} t"})[0] == 200
    assert ask(port, headers={**JSON, "Authorization": "Bearer tt"})[0] == 401


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"path": "/nowhere"}, 404),
        ({"method": "PUT"}, 405),
        ({"headers": {"Content-Type": "text/plain"}}, 415),
        ({"headers": {**JSON, "Origin": "http://evil.example"}}, 415),
        ({"body": b"nonsense"}, 400),
        ({"body": b"[]"}, 400),
        ({"body": b'{"observation": 1}'}, 400),
        ({"body": b'{"instruction": 1}'}, 400),
        ({"body": b'{"observation": {"a": "x"}}'}, 400),
        ({"body": b'{"observation": {"a": NaN}}'}, 400),
        ({"body": b'{"observation": {"a": {"__png__": "AAAA"}}}'}, 400),
        ({"body": b"[" * 100_000}, 400),
    ],
)
def test_what_is_no_question_is_answered_with_a_status_and_words(serve, request_, status):
    found, body = ask(serve().port, **request_)
    assert found == status and json.loads(body)["error"]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", b"400"),
        (b"POST /predict HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"400"),
        (b"POST /predict HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST /predict HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        (b"POST /predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"411"),
        (b"POST /predict HTTP/1.1\r\nContent-Length: 999999999999\r\n\r\n", b"413"),
        (b"GET /" + b"x" * 70_000, b"431"),
    ],
)
def test_what_is_no_http_is_refused(serve, data, status):
    with socket.create_connection(("127.0.0.1", serve().port), PATIENCE_S) as line:
        line.sendall(data)
        assert line.recv(100).split()[1] == status


def test_a_connection_is_kept_and_two_questions_at_once_wait_for_each_other(serve):
    class Alone(Plain):
        """It looks whether another question comes while it is at one."""

        at, most = 0, 0

        def infer(self, observation, words):
            self.at += 1
            self.most = max(self.most, self.at)
            time.sleep(0.02)
            try:
                return super().infer(observation, words)
            finally:
                self.at -= 1

    policy = Alone()
    port = serve(policy).port
    line = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    for _ in range(2):
        line.request("POST", "/predict", b"{}", {**JSON, "Expect": "100-continue"})
        assert line.getresponse().read()
    line.close()
    threads = [threading.Thread(target=ask, args=(port,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.most == 1 and len(policy.shown) == 5


def test_only_so_many_connections_are_served(serve):
    port = serve().port
    held = [socket.create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(MOST)]
    try:
        until(lambda: ask(port, "GET", "/healthz", None, {})[0] == 503)
    finally:
        for line in held:
            line.close()
    until(lambda: ask(port, "GET", "/healthz", None, {})[0] == 200)


def test_a_web_page_gets_no_websocket(serve):
    with socket.create_connection(("127.0.0.1", serve().port), PATIENCE_S) as line:
        line.sendall(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: http://evil.example\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert line.recv(100).split()[1] == b"403"


def test_a_policy_that_answers_nonsense_is_a_mistake_of_the_server(serve):
    for actions in (np.array([[np.nan]]), np.zeros((0, 7)), np.zeros((1, 2, 3))):
        assert ask(serve(Plain(actions)).port)[0] == 400


def test_a_taken_port_is_named(serve):
    port = serve().port
    with pytest.raises(Busy, match=rf"port {port} is taken"):
        serve(port=port)


# -- the policies that need no training --------------------------------------------------------------------------------


def test_holding_moves_nothing_and_keeps_the_gripper():
    for width, grip in ((0.08, 1.0), (0.0, -1.0)):
        given, actions = hold({"ee_pose": POSE, "gripper": np.array([width])}, "")
        assert given == "ee_delta" and actions.tolist() == [[0] * 6 + [grip]]
    given, actions = hold({"joint_states": np.arange(7.0)}, "")
    assert given == "joint_position" and actions.tolist() == [[*range(7), 1.0]]
    assert hold({}, "")[1].shape == (1, 7)


def test_reaching_ends_at_the_goal():
    position = POSE[:3].copy()
    goal = np.array([0.55, 0.1, 0.2])
    for _ in range(4):
        _, actions = reach({"ee_position": position, "goal": goal}, "")
        assert np.linalg.norm(actions[:, :3], axis=1).max() <= 0.02 + 1e-9
        position += actions[:, :3].sum(axis=0)
    np.testing.assert_allclose(position, goal, atol=1e-6)
    given, actions = reach({"joint_states": np.zeros(2), "goal_joints": np.array([1.0, -0.1])}, "")
    assert given == "joint_position"
    np.testing.assert_allclose(actions[[0, -1], :2], [[0.05, -0.05], [0.4, -0.1]])


def test_the_tabletop_policy_picks_what_the_words_name_in_a_world_of_points():
    hand, width = POSE[:3].copy(), 0.08
    things = {"object.apple_01": np.array([0.5, 0.1, 0.03]), "object.cube_01": np.array([0.4, -0.2, 0.03])}
    for _ in range(40):
        shown = {"ee_position": hand, "gripper": np.array([width]), **things}
        _, actions = tabletop(shown, "Pick up the apple, please")
        for row in actions[:4]:
            hand = hand + row[:3]
            apple = things["object.apple_01"]
            near = np.linalg.norm(hand - apple) < 0.025
            if row[6] < 0:
                width = max(0.05 if near or width == 0.05 else 0.0, width - 0.02)
            if row[6] < 0 and width == 0.05:
                things["object.apple_01"] = hand.copy() if near else apple
            elif row[6] > 0:
                width = 0.08
    assert things["object.apple_01"][2] > 0.08 and things["object.cube_01"].tolist() == [0.4, -0.2, 0.03]


def test_the_default_policy_contradicts_no_contract(serve, client):
    port = serve(load_policy("scripted", lambda kind: None, SystemClock())).port
    info = client("http", f"http://127.0.0.1:{port}/predict").connect(PATIENCE_S)
    given = TargetCapabilities(frozenset(), {"rgb.front": ((4, 4, 3), "uint8")}, {"joint_position": (8,)}, policy=info)
    assert check_contract(Order("o", "t", "s", {}), Skill("s", "R"), given, {}, lambda *words: "") == []


def test_a_policy_that_there_is_not_is_refused_with_those_that_there_are(tmp_path):
    with pytest.raises(BadInput, match="hold, reach, scripted, or a file"):
        load_policy("dance", lambda kind: None, SystemClock())
    with pytest.raises(BadInput, match="no such file"):
        load_policy("dance.onnx", lambda kind: None, SystemClock())
    (tmp_path / "x.onnx").write_bytes(b"")
    asked = []

    class Local:
        def __init__(self, spec, clock):
            asked.append(spec)

        def connect(self, timeout_s):
            return PolicyInfo("file")

    relayed = load_policy(str(tmp_path / "x.onnx"), lambda kind: {"local": Local}[kind], SystemClock())
    assert relayed.info().name == "file" and asked[0].checkpoint == str(tmp_path / "x.onnx")


def test_a_rule_names_what_it_gives():
    for name in NAMES:
        chunk = load_policy(name, lambda kind: None, SystemClock()).infer(SHOWN, WORDS)
        assert chunk.extra["representation"] == "ee_delta" and chunk.actions.dtype == np.float32
    assert ScriptedPolicy("hold", hold).info() == load_policy("hold", lambda kind: None, SystemClock()).info()


# -- the command -------------------------------------------------------------------------------------------------------


def start(*words):
    command = (sys.executable, "-m", "worldfs.interfaces.cli.main", "policy", "serve", "--port", "0", "--json", *words)
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_command_serves_every_dialect_until_it_is_told_to_stop(client):
    with start() as process:
        try:
            port = json.loads(process.stdout.readline())["port"]
            assert port > 0
            for kind, place in (("http", "http://{}/predict"), ("openvla", "http://{}/act"), ("openpi", "ws://{}")):
                ours = client(kind, place.format(f"localhost:{port}"))
                assert ours.connect(PATIENCE_S).name == "scripted"
                assert ours.infer({"rgb.front": PICTURE, "ee_pose": POSE}, WORDS, PATIENCE_S).actions.shape[1] == 7
        finally:
            process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    assert json.loads(out)["state"] == "stopped"
    trouble("POLICY_CONNECTION", lambda: client("http", f"http://localhost:{port}/predict").connect(PATIENCE_S))


@pytest.mark.slice(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "--token-file"),
        (("--policy", "dance"), "hold, reach, scripted"),
        (("--port", "70000"), "65535"),
    ],
)
def test_the_command_refuses_what_cannot_be(words, said):
    with start(*words) as process:
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2 and said in out
