"""Servers of GR00T's and LeRobot's wires with one answer for everything: what is measured is the way there and back."""

from __future__ import annotations

import io
import pickle
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np

CHUNK = np.zeros((10, 7), np.float32)


def gr00t() -> None:
    import msgpack
    import zmq

    stream = io.BytesIO()
    np.save(stream, CHUNK[None])
    keys = {"video": ["front"], "state": ["state"], "action": ["arm"], "language": ["task"]}
    config = {kind: {"modality_keys": names, "delta_indices": [0]} for kind, names in keys.items()}
    answers = {
        "get_action": msgpack.packb([{"arm": {"__ndarray_class__": True, "as_npy": stream.getvalue()}}, {}]),
        "get_modality_config": msgpack.packb(config),
        "ping": msgpack.packb({"status": "ok"}),
    }
    socket = zmq.Context().socket(zmq.REP)
    print(socket.bind_to_random_port("tcp://127.0.0.1"), flush=True)
    while True:
        said = socket.recv()
        name = next(name for name in answers if name.encode() in said[:64])
        socket.send(answers[name])


def lerobot() -> None:
    import grpc

    module = types.ModuleType("lerobot.async_inference.helpers")
    for name in ("lerobot", "lerobot.async_inference", module.__name__):
        sys.modules[name] = module
    timed = type("TimedAction", (), {"__module__": module.__name__})
    module.TimedAction = timed  # type: ignore[attr-defined]  # the pickle says its name
    rows = []
    for i, row in enumerate(CHUNK):
        action = timed()
        action.__dict__.update(timestamp=0.0, timestep=i, action=row)
        rows.append(action)
    data = pickle.dumps(rows)
    size, head = len(data), b"\x0a"
    while size > 127:
        head, size = head + bytes((size & 127 | 128,)), size >> 7
    answer = head + bytes((size,)) + data

    def taken(requests: object, context: object) -> bytes:
        for _ in requests:  # type: ignore[attr-defined]  # a stream
            pass
        return b""

    one, stream = grpc.unary_unary_rpc_method_handler, grpc.stream_unary_rpc_method_handler
    calls = {
        "Ready": one(lambda request, context: b""),
        "SendPolicyInstructions": one(lambda request, context: b""),
        "SendObservations": stream(taken),
        "GetActions": one(lambda request, context: answer),
    }
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("transport.AsyncInference", calls),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    {"gr00t": gr00t, "lerobot": lerobot}[sys.argv[1]]()
