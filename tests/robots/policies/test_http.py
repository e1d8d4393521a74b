"""The generic client: what it sends, what it takes, and each way of failing."""

import json
import threading

import numpy as np
import pytest

from worldfs.base.errors import BadInput
from worldfs.policies.policy_client import PolicyInfo
from worldfs.testing.free_port import free_port
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.waiting import PATIENCE_S, until

from .peers import PICTURE, POSE, SHOWN, WORDS, Plain, always, close_once, http, raw_server, read_http, trouble

CHUNK = http(b'{"actions": [[1, 2, 3]]}')


def at(port, path="/predict"):
    return f"http://127.0.0.1:{port}{path}"


def test_what_is_shown_arrives_and_what_is_answered_returns(serve, client):
    policy = Plain(extra={"representation": "ee_delta"})
    ours = client("http", at(serve(policy).port))
    assert ours.connect(PATIENCE_S).name == "plain" and ours.connect(PATIENCE_S).version == "1.2.3"
    chunk = ours.infer(SHOWN, WORDS, PATIENCE_S)
    np.testing.assert_allclose(chunk.actions, policy.actions, atol=1e-7)
    assert chunk.actions.dtype == np.float32 and chunk.server_ms >= 0 and chunk.extra["representation"] == "ee_delta"
    (shown, words), *_ = policy.shown
    assert words == WORDS and shown["rgb.front"].dtype == np.uint8
    np.testing.assert_array_equal(shown["rgb.front"], PICTURE)
    np.testing.assert_array_equal(shown["ee_pose"], POSE)


def test_pictures_go_as_png_where_the_skill_says_so(serve, client):
    policy = Plain()
    ours = client("http", at(serve(policy).port), images="png")
    ours.infer(SHOWN, WORDS, PATIENCE_S)
    np.testing.assert_array_equal(policy.shown[0][0]["rgb.front"], PICTURE)


def test_the_first_question_of_an_episode_says_so(client):
    asked = []

    def handle(taken, n):
        while request := read_http(taken):
            asked.append(json.loads(request.partition(b"\r\n\r\n")[2]))
            taken.sendall(CHUNK)

    with raw_server(handle) as port:
        ours = client("http", at(port))
        for _ in range(2):
            ours.infer({}, "", PATIENCE_S)
        ours.reset()
        ours.infer({}, "", PATIENCE_S)
        ours.close()
    assert [question.get("reset", False) for question in asked] == [True, False, True]


def test_a_server_that_describes_nothing_is_there_all_the_same(client):
    with always(http(b"", "405 Method Not Allowed")) as port:
        ours = client("http", at(port))
        assert ours.connect(PATIENCE_S) == PolicyInfo()
        ours.close()


def test_observations_are_described_under_our_names_and_pictures_of_any_size(serve, client):
    info = PolicyInfo("p", observations={"cam": ((224, 224, 3), "uint8"), "q": ((7,), "float32")}, action_dim=7)
    ours = client("http", at(serve(Plain(info=info)).port), observations={"rgb.front": "cam", "joint_states": "q"})
    said = ours.connect(PATIENCE_S)
    assert said.observations == {"rgb.front": ((0, 0, 3), "uint8"), "joint_states": ((7,), "float32")}
    assert said.action_dim == 7


def test_nobody_there_names_the_command_that_would_be(client):
    port = free_port()
    error = trouble("POLICY_CONNECTION", lambda: client("http", at(port)).connect(PATIENCE_S), "nothing listens there")
    assert error.fix == f"paos policy serve --port {port}"


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (http(b"not json"), "POLICY_PROTOCOL", "no JSON"),
        (http(b"[1, 2]"), "POLICY_PROTOCOL", "a JSON list"),
        (http(b'{"hello": 1}'), "POLICY_PROTOCOL", "an answer with hello"),
        (http(b'{"actions": []}'), "POLICY_PROTOCOL", "shape (1, 0)"),
        (http(b'{"actions": [[[1]]]}'), "POLICY_PROTOCOL", "shape (1, 1, 1)"),
        (http(b'{"actions": [[1, 2], [3]]}'), "POLICY_PROTOCOL", "actions"),
        (http(b'{"actions": "up"}'), "POLICY_PROTOCOL", "str"),
        (http(b'{"actions": [[NaN, 1]]}'), "POLICY_PROTOCOL", "NaN"),
        (http(b'{"actions": [[1e999, 1]]}'), "POLICY_PROTOCOL", "NaN or infinity"),
        (http(b'{"actions": {"__numpy__": "AAAA", "dtype": "<f4", "shape": [9]}}'), "POLICY_PROTOCOL", "shape"),
        (http(b'{"actions": {"__numpy__": "AAAA", "dtype": "O", "shape": [1]}}'), "POLICY_PROTOCOL", "no array"),
        (http(b'{"error": "no gripper in this picture"}'), "POLICY_CLIENT", "no gripper"),
        (http(b'{"detail": "out of memory"}', "500 Oh"), "POLICY_CLIENT", "HTTP 500: out of memory"),
        (http(b"", "404 Not Found"), "POLICY_CLIENT", "HTTP 404"),
        (http(b"", "307 Elsewhere", Location="http://127.0.0.1:1/"), "POLICY_CLIENT", "HTTP 307"),
        (http(b"{}", "401 No"), "POLICY_CONNECTION", "token"),
        (b"SSH-2.0-x\r\n\r\n", "POLICY_PROTOCOL", "BadStatusLine"),
        (http(b"x" * 3000), "POLICY_PROTOCOL", "3000 bytes"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3000, "POLICY_PROTOCOL", "bytes"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_named(client, answer, code, words):
    def handle(taken, n):
        read_http(taken)
        taken.sendall(answer)

    with raw_server(handle) as port:
        ours = client("http", at(port), max_bytes=2000)
        trouble(code, lambda: ours.infer({}, "", PATIENCE_S), words)
        ours.close()


def test_a_late_answer_is_a_timeout_and_the_next_question_gets_its_own(client):
    given_up = threading.Event()

    def handle(taken, n):
        taken.sendall(CHUNK) if read_http(taken) else None
        while read_http(taken):
            if n == 0:
                given_up.wait(PATIENCE_S)
                taken.sendall(http(b'{"actions": [[9, 9]]}'))
            taken.sendall(CHUNK)

    with raw_server(handle) as port:
        ours = client("http", at(port))
        ours.infer({}, "", PATIENCE_S)
        trouble("POLICY_TIMEOUT", lambda: ours.infer({}, "", 0.2), "within 0.2 s", "timeouts.skill")
        given_up.set()
        assert ours.infer({}, "", PATIENCE_S).actions.tolist() == [[1, 2, 3]]
        ours.close()


def test_an_answer_that_drips_for_ever_is_late_too(client):
    clock = ManualClock()

    def handle(taken, n):
        read_http(taken)
        taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:  # until its other end is closed
            taken.sendall(b" ")
            clock.advance(0.05)

    with raw_server(handle) as port:
        ours = client("http", at(port), clock=clock)
        trouble("POLICY_TIMEOUT", lambda: ours.infer({}, "", PATIENCE_S))
        ours.close()


def test_an_idle_connection_that_was_closed_is_opened_again(client):
    closed = []

    def handle(taken, n):
        read_http(taken)
        taken.sendall(CHUNK)
        taken.close()
        closed.append(n)

    with raw_server(handle) as port:
        ours = client("http", at(port))
        for n in range(3):
            assert ours.infer({}, "", PATIENCE_S).actions.shape == (1, 3)
            until(lambda n=n: n in closed)
        ours.close()


def test_a_connection_that_is_kept_gives_each_question_a_deadline_of_its_own(client):
    clock = ManualClock()
    connections = []

    def handle(taken, n):
        connections.append(n)
        while read_http(taken):
            taken.sendall(CHUNK)

    with raw_server(handle) as port:
        ours = client("http", at(port), clock=clock)
        for _ in range(4):
            assert ours.infer({}, "", PATIENCE_S).actions.shape == (1, 3)
            clock.advance(40)  # past the deadline of the question before
        ours.close()
    assert len(connections) == 1, "the connection was kept"


IMPOSSIBLE = ("-1e308", "-1", "1e308", "1" + "0" * 400)
BOOLEANS = ("[[true, false, true]]", "[[0.1, true]]", "[false]", "true")


@pytest.mark.parametrize(
    ("body", "words"),
    [(f'{{"actions": [[1, 2, 3]], "server_ms": {ms}}}', ("milliseconds", "127.0.0.1")) for ms in IMPOSSIBLE]
    + [(f'{{"actions": {actions}}}', ("no numbers",)) for actions in BOOLEANS],
)
def test_an_impossible_number_is_an_error_of_the_server(client, body, words):
    with always(http(body.encode())) as port:
        ours = client("http", at(port))
        trouble("POLICY_PROTOCOL", lambda: ours.infer({}, "", PATIENCE_S), *words)
        ours.close()


@pytest.mark.parametrize("length", ["9" * 20, "9" * 4000, "9" * 5000])
def test_a_length_that_no_answer_has_is_an_error_of_the_server(client, length):
    with always(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{{".encode()) as port:
        ours = client("http", at(port))
        trouble("POLICY_PROTOCOL", lambda: ours.infer({}, "", PATIENCE_S), "127.0.0.1")
        ours.close()


def test_a_dropped_connection_is_said(client):
    def handle(taken, n):
        read_http(taken)
        taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{")

    with raw_server(handle) as port:
        ours = client("http", at(port))
        trouble("POLICY_PROTOCOL", lambda: ours.infer({}, "", PATIENCE_S), "IncompleteRead")
        ours.close()

    with raw_server(lambda taken, n: read_http(taken)) as port:
        ours = client("http", at(port))
        trouble("POLICY_CONNECTION", lambda: ours.infer({}, "", PATIENCE_S), "dropped")
        ours.close()


def test_the_token_is_brought_from_a_private_file(serve, client, tmp_path):
    port = serve(token="open-sesame").port
    trouble("POLICY_CONNECTION", lambda: client("http", at(port)).connect(PATIENCE_S), "token")
    file = tmp_path / "token"
    file.write_text("open-sesame\n")
    file.chmod(0o644)
    trouble("POLICY_CLIENT", lambda: client("http", at(port), token_file=str(file)), "chmod 600")
    file.chmod(0o600)
    ours = client("http", at(port), token_file=str(file))
    assert ours.connect(PATIENCE_S).name == "plain" and len(ours.infer(SHOWN, WORDS, PATIENCE_S).actions) == 2


def test_a_token_in_the_environment_serves_too_and_one_in_the_document_is_refused(serve, client, monkeypatch):
    port = serve(token="open-sesame").port
    monkeypatch.setenv("MY_TOKEN", "open-sesame")
    assert client("http", at(port), token_env="MY_TOKEN").connect(PATIENCE_S).name == "plain"
    trouble("POLICY_CLIENT", lambda: client("http", at(port), token="open-sesame"), "agents read SKILLS.md")
    monkeypatch.delenv("MY_TOKEN")
    trouble("POLICY_CLIENT", lambda: client("http", at(port), token_env="MY_TOKEN"), "no MY_TOKEN")


@pytest.mark.parametrize("text", ["", "ftp://x/", "http://", "http://h:99999/", "http://a b/", "http://u:p@h/"])
def test_an_endpoint_that_is_none_is_refused_with_an_example(client, text):
    trouble("POLICY_CLIENT", lambda: client("http", text), "write it like http://localhost:80/predict")


def test_a_mistake_of_the_policy_reaches_the_client_in_its_words(serve, client):
    heard = []
    server = serve(Plain(fails=BadInput("no arm in sight")), log=heard.append)
    trouble("POLICY_CLIENT", lambda: client("http", at(server.port)).infer(SHOWN, WORDS, PATIENCE_S), "no arm in sight")
    server = serve(Plain(fails=ZeroDivisionError("by zero")), log=heard.append)
    trouble(
        "POLICY_CLIENT",
        lambda: client("http", at(server.port)).infer(SHOWN, WORDS, PATIENCE_S),
        "ZeroDivisionError: by zero",
    )
    assert "by zero" in heard[-1]


def test_closing_from_another_thread_ends_what_waits(serve, client):
    over = threading.Event()
    policy = Plain(takes=over)
    ours = client("http", at(serve(policy).port))
    ours.connect(PATIENCE_S)
    close_once(ours, lambda: policy.shown)
    try:
        trouble("POLICY_CONNECTION", lambda: ours.infer({}, "", 60), "dropped")
    finally:
        over.set()
