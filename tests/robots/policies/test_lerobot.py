"""LeRobot's asynchronous inference, against a server made as LeRobot's is: real protobuf, real pickle.loads."""

import pickle
import struct
import sys
import threading
import types
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from queue import Empty, Queue
from typing import ClassVar

import numpy as np
import pytest

from worldfs.policies.lerobot_bytes import PIECE, pieces
from worldfs.policies.lerobot_pickle import load_actions
from worldfs.policies.pickle_reader import UnsafePickle
from worldfs.testing.free_port import free_port
from worldfs.testing.waiting import PATIENCE_S

from .peers import PICTURE, POSE, WORDS, close_once, trouble

grpc = pytest.importorskip("grpc", reason="the policies extra is not installed: pip install 'worldfs[policies]'")
descriptors = pytest.importorskip("google.protobuf.descriptor_pb2", reason="protobuf is not installed")

SHOWN = {"rgb.front": PICTURE, "ee_pose": POSE}
HELPERS = "lerobot.async_inference.helpers"


@pytest.fixture(scope="module")
def messages():
    """transport/services.proto, built field by field by protobuf itself."""
    from google.protobuf import descriptor_pool, message_factory

    file = descriptors.FileDescriptorProto(name="worldfs_tests/services.proto", package="transport", syntax="proto3")
    state = file.enum_type.add(name="TransferState")
    for number, name in enumerate(("UNKNOWN", "BEGIN", "MIDDLE", "END")):
        state.value.add(name=f"TRANSFER_{name}", number=number)
    enum, data = descriptors.FieldDescriptorProto.TYPE_ENUM, descriptors.FieldDescriptorProto.TYPE_BYTES
    for name, fields in {
        "Observation": ("transfer_state", "data"),
        "Actions": ("data",),
        "PolicySetup": ("data",),
    }.items():
        kind = file.message_type.add(name=name)
        for number, word in enumerate(fields, 1):
            added = kind.field.add(name=word, number=number, label=1, type=data if word == "data" else enum)
            if word != "data":
                added.type_name = ".transport.TransferState"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = ("Observation", "Actions", "PolicySetup")
    return types.SimpleNamespace(
        **{name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"transport.{name}")) for name in made}
    )


@dataclass
class TimedObservation:
    timestamp: float
    timestep: int
    observation: dict
    must_go: bool = False


@dataclass
class TimedAction:
    timestamp: float
    timestep: int
    action: object


@dataclass
class RemotePolicyConfig:
    policy_type: str
    pretrained_name_or_path: str
    lerobot_features: dict
    actions_per_chunk: int
    device: str = "cpu"
    rename_map: dict = field(default_factory=dict)


@pytest.fixture(autouse=True)
def helpers(monkeypatch):
    """The module whose classes the pickles name, as a server of LeRobot has it."""
    for name in ("lerobot", "lerobot.async_inference", HELPERS):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for kind in (TimedObservation, TimedAction, RemotePolicyConfig):
        monkeypatch.setattr(kind, "__module__", HELPERS)
        setattr(sys.modules[HELPERS], kind.__name__, kind)


class Torch:
    """Pickles of tensors, byte for byte as torch writes them: storages in torch.save's old form."""

    KINDS: ClassVar = {"<f4": ("FloatStorage", "float32"), "<f8": ("DoubleStorage", "float64")}

    def __init__(self, array, storage=None, offset=0, stride=None, *, typed=True):
        self.array, self.storage = array, array if storage is None else storage
        self.offset, self.typed = offset, typed
        self.stride = stride or tuple(step // array.itemsize for step in array.strides)

    @classmethod
    def saved(cls, storage):
        name, _ = cls.KINDS[storage.dtype.str]
        stream = BytesIO()
        for part in (0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}):
            pickle.dump(part, stream, 2)
        key = f"X\x07\x00\x00\x00storagectorch\n{name}\nX\x03\x00\x00\x00140X\x03\x00\x00\x00cpu".encode()
        stream.write(b"\x80\x02(" + key + b"J" + struct.pack("<i", storage.size) + b"NtQ.")
        pickle.dump(["140"], stream, 2)
        stream.write(struct.pack("<q", storage.size) + storage.tobytes())
        return stream.getvalue()

    def __reduce__(self):
        import torch

        storage = torch.storage.Saved(self.saved(np.ascontiguousarray(self.storage).ravel()))
        arguments = (storage, self.offset, self.array.shape, self.stride, False, OrderedDict())
        return torch._utils._rebuild_tensor_v2, arguments


@pytest.fixture
def torch(monkeypatch):
    """A module of torch's names, so that pickle writes them."""
    made = {name: types.ModuleType(name) for name in ("torch", "torch.storage", "torch._utils")}
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    made["torch"].storage, made["torch"]._utils = made["torch.storage"], made["torch._utils"]

    def _load_from_bytes(data):
        raise AssertionError("nothing calls torch here")

    def _rebuild_tensor_v2(*arguments):
        raise AssertionError("nothing calls torch here")

    _load_from_bytes.__module__, _load_from_bytes.__qualname__ = "torch.storage", "_load_from_bytes"
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"

    class Saved:
        def __init__(self, data):
            self.data = data

        def __reduce__(self):
            return _load_from_bytes, (self.data,)

    made["torch.storage"]._load_from_bytes, made["torch.storage"].Saved = _load_from_bytes, Saved
    made["torch._utils"]._rebuild_tensor_v2 = _rebuild_tensor_v2
    return Torch


def timed(rows):
    return [TimedAction(0.1 * i, i, row) for i, row in enumerate(rows)]


ROWS = np.arange(35, dtype=np.float32).reshape(5, 7)


class Server:
    """LeRobot's PolicyServer: a queue of one, an answer for each observation, nothing for none."""

    def __init__(self, messages, answer, port):
        self.messages, self.answer, self.port = messages, answer, port
        self.queue = Queue(1)
        self.configs, self.seen, self.states, self.readies = [], [], [], 0

    def Ready(self, request, context):  # as the service is written
        self.readies += 1
        return b""

    def SendPolicyInstructions(self, request, context):
        self.configs.append(pickle.loads(self.messages.PolicySetup.FromString(request).data))
        assert isinstance(self.configs[-1], RemotePolicyConfig)
        return b""

    def SendObservations(self, requests, context):
        data = b""
        for request in requests:
            message = self.messages.Observation.FromString(request)
            self.states.append(message.transfer_state)
            data += message.data
        observation = pickle.loads(data)
        assert isinstance(observation, TimedObservation) and observation.must_go
        self.seen.append(observation)
        self.queue.put(observation)
        return b""

    def GetActions(self, request, context):
        try:
            observation = self.queue.get(timeout=0.1)
            answer = self.answer(observation)
        except Empty:
            return b""
        data = answer if isinstance(answer, bytes) else pickle.dumps(answer)
        return self.messages.Actions(data=data).SerializeToString()


@contextmanager
def replica(messages, answer=lambda observation: timed(ROWS), port=0):
    kinds = {"SendObservations": grpc.stream_unary_rpc_method_handler}
    calls = ("Ready", "SendPolicyInstructions", "SendObservations", "GetActions")
    listening = grpc.server(ThreadPoolExecutor(4), options=(("grpc.max_receive_message_length", 1 << 24),))
    server = Server(messages, answer, port)
    make = grpc.unary_unary_rpc_method_handler
    handlers = {name: kinds.get(name, make)(getattr(server, name)) for name in calls}
    listening.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("transport.AsyncInference", handlers),))
    server.port = listening.add_insecure_port(f"127.0.0.1:{port}")
    listening.start()
    try:
        yield server
    finally:
        listening.stop(0).wait()


@pytest.fixture
def ask(client):
    def make(port, host="127.0.0.1", **extra):
        return client("lerobot", f"{host}:{port}", "user/act_pick", policy_type="act", **extra)

    return make


def test_the_checkpoint_is_named_the_observation_shown_and_the_chunk_read(messages, ask):
    with replica(messages) as server:
        ours = ask(server.port, actions_per_chunk=5)
        assert ours.connect(PATIENCE_S).name == "lerobot" and server.configs == []
        for _ in range(2):
            np.testing.assert_array_equal(ours.infer(SHOWN, WORDS, PATIENCE_S).actions, ROWS)
        ours.close()
    (config,) = server.configs
    assert (config.policy_type, config.pretrained_name_or_path, config.actions_per_chunk, config.device) == (
        "act", "user/act_pick", 5, "cpu",
    )  # fmt: skip
    motors = [f"ee_pose.{i}" for i in range(7)]
    assert config.lerobot_features["observation.state"] == {"dtype": "float32", "shape": (7,), "names": motors}
    assert config.lerobot_features["observation.images.front"]["shape"] == (24, 32, 3)
    first, second = server.seen
    assert (first.timestep, second.timestep) == (1, 2) and first.observation["task"] == WORDS
    assert [first.observation[motor] for motor in motors] == POSE.tolist()
    np.testing.assert_array_equal(first.observation["front"], PICTURE)
    assert server.states == [3, 3]


def test_a_large_observation_goes_in_pieces_of_two_megabytes(messages, ask):
    picture = np.zeros((1200, 1600, 3), np.uint8)
    with replica(messages) as server:
        ours = ask(server.port)
        ours.infer({"rgb.front": picture}, WORDS, PATIENCE_S)
        ours.close()
    assert server.states == [1, 2, 3]
    np.testing.assert_array_equal(server.seen[0].observation["front"], picture)
    assert [len(list(pieces(b"x" * size))) for size in (1, PIECE, PIECE + 1, 3 * PIECE)] == [1, 1, 2, 3]


def test_tensors_are_read_without_torch(messages, ask, torch):
    whole = [torch(ROWS[i], ROWS, 7 * i, (1,)) for i in range(5)]  # views of one storage, as LeRobot sends them
    with replica(messages, lambda observation: timed(whole)) as server:
        ours = ask(server.port)
        np.testing.assert_array_equal(ours.infer(SHOWN, WORDS, PATIENCE_S).actions, ROWS)
        ours.close()


def test_tensors_of_doubles_and_of_steps_are_read(torch):
    (read,) = load_actions(pickle.dumps(timed([torch(ROWS.astype("<f8")[:, 0], ROWS.astype("<f8"), 0, (7,))])))
    np.testing.assert_array_equal(read, ROWS[:, 0])


class Bomb:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


def bombs():
    import builtins
    import os
    import subprocess

    yield Bomb(os.system, "true")
    yield Bomb(builtins.eval, "1")
    yield Bomb(builtins.exec, "1")
    yield Bomb(builtins.getattr, "x", "upper")
    yield Bomb(subprocess.Popen, ("true",))
    yield Bomb(pickle.loads, b"N.")
    yield Bomb(np.load, "x")
    yield Bomb(np.ndarray, (2,))
    yield Bomb(np.frombuffer, b"1234")


@pytest.mark.parametrize("bomb", list(bombs()), ids=lambda bomb: getattr(bomb.call, "__name__", "bomb"))
def test_a_pickle_that_names_anything_else_is_refused_wherever_it_hides(bomb):
    for value in (bomb, [bomb], timed([bomb]), timed([{"a": bomb}]), [TimedAction(bomb, 0, ROWS[0])]):
        with pytest.raises(UnsafePickle):
            load_actions(pickle.dumps(value))


def test_a_bomb_inside_a_tensors_storage_is_refused_too(torch, monkeypatch):
    import os

    def saved(storage):
        return pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps(Bomb(os.system, "true"))

    monkeypatch.setattr(torch, "saved", staticmethod(saved))
    with pytest.raises(UnsafePickle, match=r"posix\.system"):
        load_actions(pickle.dumps(timed([torch(ROWS)])))


@pytest.mark.parametrize(
    "tensor",
    [
        {"offset": 30, "stride": (1,)},
        {"offset": -1, "stride": (1,)},
        {"offset": 0, "stride": (6,)},
        {"offset": 0, "stride": (-1,)},
        {"offset": 0, "stride": (10**12,)},
    ],
)
def test_a_tensor_that_lies_outside_its_storage_is_refused(torch, tensor):
    with pytest.raises(UnsafePickle):
        load_actions(pickle.dumps(timed([torch(ROWS[0], ROWS, **tensor)])))


@pytest.mark.parametrize(
    "value", [b"", b"x", b"\x80\x04.", pickle.dumps(3), pickle.dumps([1]), pickle.dumps(timed([1]))]
)
def test_what_is_no_list_of_actions_is_refused(value):
    with pytest.raises(UnsafePickle):
        load_actions(value)


def test_arrays_of_objects_are_refused():
    with pytest.raises(UnsafePickle):
        load_actions(pickle.dumps(timed([np.array([1, "a"], object)]), 3))


def test_the_client_says_what_it_refused(messages, ask):
    import os

    with replica(messages, lambda observation: Bomb(os.system, "true")) as server:
        error = trouble("POLICY_PROTOCOL", lambda: ask(server.port).infer(SHOWN, WORDS, PATIENCE_S), "posix.system")
        assert "do not trust it" in error.fix
    ragged = [TimedAction(0, 0, np.zeros(3)), TimedAction(0, 1, np.zeros(4))]
    with replica(messages, lambda observation: ragged) as server:
        trouble("POLICY_PROTOCOL", lambda: ask(server.port).infer(SHOWN, WORDS, PATIENCE_S))


def test_another_machine_is_asked_only_if_the_operator_trusts_it(ask):
    error = trouble("POLICY_CLIENT", lambda: ask(8080, "gpu.example.org"), "CVE-2026-25874")
    assert "policy_client.trust: true" in error.fix
    for word in ("true", 1, "yes"):
        trouble("POLICY_CLIENT", lambda word=word: ask(8080, "192.0.2.1", trust=word))
    assert ask(8080, "192.0.2.1", trust=True).spec.endpoint == "192.0.2.1:8080"


def test_a_skill_without_checkpoint_is_told_what_is_missing(client):
    trouble("POLICY_CLIENT", lambda: client("lerobot", "localhost:8080"), "policy_type: act")


def test_a_server_that_has_no_actions_is_asked_twice_and_then_said(messages, ask):
    with replica(messages, lambda observation: b"") as server:
        trouble("POLICY_CLIENT", lambda: ask(server.port).infer(SHOWN, WORDS, PATIENCE_S), "its own log")
        assert [item.timestep for item in server.seen] == [1, 2]


def test_late_and_lost_and_wrong_servers_are_told_apart(messages, ask):
    over = threading.Event()
    with replica(messages, lambda observation: over.wait(PATIENCE_S)) as server:
        late = ask(server.port)
        late.connect(PATIENCE_S)
        trouble("POLICY_TIMEOUT", lambda: late.infer(SHOWN, WORDS, 0.2))
        over.set()
    trouble("POLICY_CONNECTION", lambda: ask(free_port()).connect(PATIENCE_S))
    with replica(messages, lambda observation: timed(np.zeros((400, 700), np.float32))) as server:
        trouble(
            "POLICY_PROTOCOL", lambda: ask(server.port, max_bytes=10_000).infer(SHOWN, WORDS, PATIENCE_S), "max_bytes"
        )
    empty = grpc.server(ThreadPoolExecutor(1))
    port = empty.add_insecure_port("127.0.0.1:0")
    empty.start()
    trouble("POLICY_PROTOCOL", lambda: ask(port).connect(PATIENCE_S), "UNIMPLEMENTED")
    empty.stop(0).wait()


def test_a_server_that_was_started_anew_is_told_its_checkpoint_again(messages, ask):
    port = free_port()
    with replica(messages, port=port):
        ours = ask(port)
        ours.infer(SHOWN, WORDS, PATIENCE_S)
    trouble("POLICY_CONNECTION", lambda: ours.infer(SHOWN, WORDS, PATIENCE_S))
    with replica(messages, port=port) as server:
        assert ours.infer(SHOWN, WORDS, PATIENCE_S).actions.shape == (5, 7)
        assert len(server.configs) == 1


def test_closing_from_another_thread_ends_what_waits(messages, ask):
    asked, over = threading.Event(), threading.Event()
    with replica(messages, lambda observation: asked.set() or over.wait(100)) as server:
        ours = ask(server.port)
        close_once(ours, asked.is_set)
        try:  # it answers only after this: who is not closed waits for 60 s, and says so
            trouble("POLICY_CONNECTION", lambda: ours.infer(SHOWN, WORDS, 60), "closed meanwhile")
        finally:
            over.set()
