"""OpenVLA's /act: both forms, its mistakes, the gripper's figures."""

import base64
import json

import numpy as np
import pytest

from worldfs.testing.waiting import PATIENCE_S

from .peers import PICTURE, SHOWN, WORDS, Plain, always, http, raw_server, read_http, trouble


def at(port):
    return f"http://127.0.0.1:{port}/act"


def act(payload):
    """What OpenVLA's deploy.py does with a payload, with json-numpy's forms written out."""
    twice = "encoded" in payload
    if twice:
        assert len(payload) == 1
        payload = json.loads(payload["encoded"])
    try:
        image = payload["image"]
        picture = np.frombuffer(base64.b64decode(image["__numpy__"]), image["dtype"]).reshape(image["shape"])
        assert picture.shape == (24, 32, 3) and payload["instruction"] == WORDS
        assert payload.get("unnorm_key") in (None, "bridge_orig")
    except (KeyError, AssertionError):
        return json.dumps("error")
    action = np.arange(7) / 10
    said = {"__numpy__": base64.b64encode(action.tobytes()).decode(), "dtype": "<f8", "shape": [7]}
    return json.dumps(json.dumps(said) if twice else said)


def deploy(taken, n):
    while request := read_http(taken):
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET"):
            taken.sendall(http(b'{"detail":"Method Not Allowed"}', "405 Method Not Allowed"))
        else:
            taken.sendall(http(act(json.loads(body)).encode()))


@pytest.mark.parametrize("encoded", [False, True])
def test_one_picture_and_words_give_one_action_of_seven(client, encoded):
    with raw_server(deploy) as port:
        ours = client("openvla", at(port), unnorm_key="bridge_orig", encoded=encoded)
        info = ours.connect(PATIENCE_S)
        assert (info.representation, info.action_dim) == ("ee_delta", 7)
        chunk = ours.infer(SHOWN, WORDS, PATIENCE_S)
        np.testing.assert_allclose(chunk.actions, np.arange(7)[None] / 10, rtol=1e-6)
        assert chunk.extra["gripper"] == {"closed": 0.0, "open": 1.0}
        ours.close()


def test_the_body_error_is_an_error_though_the_status_is_200(client):
    with raw_server(deploy) as port:
        ours = client("openvla", at(port), unnorm_key="unknown")
        trouble("POLICY_CLIENT", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), '"error"', "unnorm_key")
        ours.close()
    with always(http(b"error")) as port:
        ours = client("openvla", at(port))
        trouble("POLICY_CLIENT", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), "unnorm_key")
        ours.close()


@pytest.mark.parametrize("body", [b"[1, 2, 3]", b'"oops"', b'{"a": 1}', b"null"])
def test_what_is_no_action_of_seven_is_refused(client, body):
    with always(http(body)) as port:
        ours = client("openvla", at(port))
        trouble("POLICY_PROTOCOL", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S))
        ours.close()


def test_two_pictures_without_a_name_are_a_question(client):
    ours = client("openvla", "http://127.0.0.1:1/act")
    two = {"rgb.left": PICTURE, "rgb.right": PICTURE}
    trouble("POLICY_CLIENT", lambda: ours.infer(two, WORDS, PATIENCE_S), "rgb.left, rgb.right", "observations")
    trouble("POLICY_CLIENT", lambda: ours.infer({}, WORDS, PATIENCE_S), "none")


@pytest.mark.parametrize("encoded", [False, True])
def test_our_own_server_speaks_it(serve, client, encoded):
    policy = Plain(np.full((3, 7), 0.5))
    ours = client("openvla", at(serve(policy).port), encoded=encoded)
    assert ours.connect(PATIENCE_S).name == "plain"
    action = ours.infer(SHOWN, WORDS, PATIENCE_S).actions
    np.testing.assert_allclose(action, [[0.5] * 6 + [0.75]])  # ours is -1 … 1, theirs 0 … 1
    np.testing.assert_array_equal(policy.shown[0][0]["image"], PICTURE)


def test_our_own_server_answers_mistakes_as_openvlas_does(serve, client):
    joints = serve(Plain(extra={"representation": "joint_position"})).port
    for port in (serve(Plain(np.zeros((1, 8)))).port, joints, serve(Plain(fails=RuntimeError("x"))).port):
        ours = client("openvla", at(port))
        trouble("POLICY_CLIENT", lambda ours=ours: ours.infer(SHOWN, WORDS, PATIENCE_S), '"error"')
