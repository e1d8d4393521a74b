"""GR00T's ZeroMQ service, against a server made as gr00t/policy/server_client.py is, and each way of failing."""

import io
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from worldfs.policies.policy_client import PolicyError
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S, until

from .peers import PICTURE, POSE, WORDS, close_once, raw_server, silent, trouble

zmq = pytest.importorskip("zmq", reason="the policies extra is not installed: pip install 'worldfs[policies]'")
msgpack = pytest.importorskip("msgpack", reason="the policies extra is not installed")

SHOWN = {"video.front": PICTURE, "state.ee": POSE.astype(np.float64)}
CONFIG = {
    "video": ("front", [0]),
    "state": ("ee", [0]),
    "action": ("arm", list(range(4))),
    "language": ("annotation.human.task", [0]),
}


def encode(value):
    if isinstance(value, np.ndarray):
        stream = io.BytesIO()
        np.save(stream, value, allow_pickle=False)
        return {"__ndarray_class__": True, "as_npy": stream.getvalue()}
    return value


def decode(value):
    return np.load(io.BytesIO(value["as_npy"]), allow_pickle=False) if "__ndarray_class__" in value else value


def modalities(actions=("arm", "gripper")):
    config = {}
    for kind, (key, deltas) in CONFIG.items():
        keys = list(actions) if kind == "action" else [key]
        plain = {"modality_keys": keys, "delta_indices": deltas, "sin_cos_embedding_keys": None}
        config[kind] = {"__ModalityConfig_class__": True, "as_json": plain}
    return config


def act(observation, options):
    assert observation["video"]["front"].shape == (1, 1, 24, 32, 3) and observation["video"]["front"].dtype == np.uint8
    assert observation["state"]["ee"].shape == (1, 1, 7) and observation["state"]["ee"].dtype == np.float32
    assert observation["language"] == {"annotation.human.task": [[WORDS]]} and options is None
    arm = np.arange(24, dtype=np.float32).reshape(1, 4, 6)
    return [{"gripper": np.ones((1, 4, 1), np.float32), "arm": arm}, {"took": 1}]


@contextmanager
def replica(port=0, token=None, config=modalities, **endpoints):
    """The loop of GR00T's PolicyServer; `asked` gathers the endpoints, in order."""
    context, asked, over = zmq.Context(), [], threading.Event()
    socket = context.socket(zmq.REP)
    socket.setsockopt(zmq.LINGER, 0)
    port = port or socket.bind_to_random_port("tcp://127.0.0.1")
    if not socket.getsockopt_string(zmq.LAST_ENDPOINT):
        socket.bind(f"tcp://127.0.0.1:{port}")
    known = {"ping": lambda: {"status": "ok"}, "get_modality_config": config, "get_action": act,
             "reset": lambda options: {}, **endpoints}  # fmt: skip

    def run():
        while not over.is_set():
            if not socket.poll(20):
                continue
            try:
                request = msgpack.unpackb(socket.recv(), object_hook=decode)
                asked.append(request["endpoint"])
                if token and request.get("api_token") != token:
                    answer = {"error": "Unauthorized: Invalid API token"}
                else:
                    answer = known[request["endpoint"]](**request.get("data", {}))
            except Exception as error:
                answer = {"error": str(error) or repr(error)}
            if isinstance(answer, bytes):
                socket.send(answer)
            elif answer is not ...:
                socket.send(msgpack.packb(answer, default=encode))
            else:
                return  # it dies while somebody waits

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield port, asked
    finally:
        over.set()
        thread.join()
        socket.close(0)
        context.term()


def at(port):
    return f"tcp://127.0.0.1:{port}"


def test_modalities_are_asked_first_and_actions_joined_in_their_order(client):
    with replica() as (port, asked):
        ours = client("gr00t", at(port))
        info = ours.connect(PATIENCE_S)
        assert info.extra["modalities"]["action"] == ("arm", "gripper") and info.horizon == 4
        ours.reset()
        chunk = ours.infer(SHOWN, WORDS, PATIENCE_S)
        assert chunk.actions.shape == (4, 7)
        assert chunk.actions[0].tolist() == [0, 1, 2, 3, 4, 5, 1]
        ours.close()
    assert asked == ["ping", "get_modality_config", "reset", "get_action"]  # and never "kill"


def test_our_own_names_serve_where_they_are_the_same(client):
    with replica() as (port, _):
        ours = client("gr00t", at(port))
        ours.infer({"rgb.front": PICTURE, "ee": POSE}, WORDS, PATIENCE_S)
        trouble(
            "POLICY_CLIENT", lambda: ours.infer({"rgb.wrist": PICTURE}, WORDS, PATIENCE_S), "video.front", "rgb.wrist"
        )


def test_the_skill_may_choose_the_actions(client):
    with replica() as (port, _):
        ours = client("gr00t", at(port), actions=["gripper"])
        assert ours.infer(SHOWN, WORDS, PATIENCE_S).actions.shape == (4, 1)


def test_a_token_opens_it(client, monkeypatch):
    monkeypatch.setenv("GR00T_TOKEN", "t")
    with replica(token="t") as (port, _):
        assert client("gr00t", at(port), token_env="GR00T_TOKEN").connect(PATIENCE_S).name == "gr00t"
        trouble(
            "POLICY_CONNECTION", lambda: client("gr00t", at(port)).connect(PATIENCE_S), "Unauthorized", "token_file"
        )


def action(value):
    return lambda observation, options: value


def pickled(observation, options):
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return msgpack.packb([{"arm": {"__ndarray_class__": True, "as_npy": stream.getvalue()}}, {}])


@pytest.mark.parametrize(
    ("get_action", "code", "words"),
    [
        (lambda observation, options: 1 / 0, "POLICY_CLIENT", "division by zero"),
        (action(b"ERROR"), "POLICY_CLIENT", "ERROR"),
        (action(b"\xc1"), "POLICY_PROTOCOL", "no msgpack"),
        (action([1]), "POLICY_PROTOCOL", "int"),
        (action([{}, {}]), "POLICY_PROTOCOL", "dict"),
        (action([{"arm": np.zeros((1, 4, 6), np.float32)}, {}]), "POLICY_PROTOCOL", "action gripper"),
        (action([{"arm": np.zeros((4, 6), np.float32)}, {}]), "POLICY_PROTOCOL", "(4, 6)"),
        (action([{"arm": np.full((1, 4, 6), np.nan, np.float32), "gripper": np.ones((1, 4, 1), np.float32)}, {}]),
         "POLICY_PROTOCOL", "NaN"),
        (action([{"arm": np.zeros((1, 3, 6), np.float32), "gripper": np.ones((1, 4, 1), np.float32)}, {}]),
         "POLICY_PROTOCOL", "[3, 4]"),
        (pickled, "POLICY_PROTOCOL", "an array of type O"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_named(client, get_action, code, words):
    with replica(get_action=get_action) as (port, _):
        ours = client("gr00t", at(port))
        trouble(code, lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), words)


def test_a_server_without_modalities_is_said(client):
    with replica(config=lambda: {}) as (port, _):
        trouble("POLICY_PROTOCOL", lambda: client("gr00t", at(port)).connect(PATIENCE_S), "no modalities")


def test_after_a_timeout_there_is_a_new_socket_and_the_old_answer_is_nobodys(client):
    given_up = threading.Event()

    def slow(observation, options):
        if observation["language"]["annotation.human.task"] == [["slow"]]:
            given_up.wait(PATIENCE_S)
            return [{"arm": np.zeros((1, 1, 1), np.float32), "gripper": np.zeros((1, 1, 1), np.float32)}, {}]
        return act(observation, options)

    with replica(get_action=slow) as (port, _):
        ours = client("gr00t", at(port))
        ours.connect(PATIENCE_S)
        trouble("POLICY_TIMEOUT", lambda: ours.infer(SHOWN, "slow", 0.15), "within 0.15 s")
        given_up.set()
        assert ours.infer(SHOWN, WORDS, PATIENCE_S).actions.shape == (4, 7)


def test_nobody_there_is_said_at_once(client):
    trouble("POLICY_CONNECTION", lambda: client("gr00t", at(free_port())).connect(PATIENCE_S), "nothing listens there")
    with raw_server(silent) as port:
        trouble("POLICY_CONNECTION", lambda: client("gr00t", at(port)).connect(0.3))


def test_a_server_that_dies_while_it_is_asked_is_a_dropped_connection(client):
    with replica(get_action=action(...)) as (port, asked):
        ours = client("gr00t", at(port))
        ours.connect(PATIENCE_S)
        failed = []

        def ask():
            failed.append(trouble("POLICY_CONNECTION", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S), "dropped"))

        thread = threading.Thread(target=ask)
        thread.start()
        until(lambda: "get_action" in asked)
    thread.join(PATIENCE_S)
    assert failed


def test_an_answer_that_is_too_large_is_not_taken(client):
    big = [{"arm": np.zeros((1, 4, 6000), np.float32), "gripper": np.zeros((1, 4, 1), np.float32)}, {}]
    with replica(get_action=action(big)) as (port, _):
        trouble(
            "POLICY_CONNECTION",
            lambda: client("gr00t", at(port), max_bytes=10_000).infer(SHOWN, WORDS, PATIENCE_S),
            "max_bytes",
        )


def test_a_server_that_was_started_anew_is_found_again(client):
    port = free_port()
    with replica(port=port):
        ours = client("gr00t", at(port))
        ours.connect(PATIENCE_S)
    with replica(port=port):
        try:
            found = ours.infer(SHOWN, WORDS, PATIENCE_S)
        except PolicyError:  # what was sent before the system told of the end is lost with the old connection
            found = ours.infer(SHOWN, WORDS, PATIENCE_S)
        assert found.actions.shape == (4, 7)


def test_closing_from_another_thread_ends_what_waits(client):
    over = threading.Event()
    with replica(get_action=lambda observation, options: over.wait(100)) as (port, asked):
        ours = client("gr00t", at(port))
        ours.connect(PATIENCE_S)
        close_once(ours, lambda: "get_action" in asked)
        try:  # it answers only after this: who is not closed waits for 60 s, and says so
            trouble("POLICY_CONNECTION", lambda: ours.infer(SHOWN, WORDS, 60), "closed meanwhile")
        finally:
            over.set()
