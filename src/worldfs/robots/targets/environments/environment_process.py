"""The other side of `process_target`: an environment in a process of its own. Run by a Python that has its library.

Nothing of worldfs is imported here. A message is a frame with JSON, then a frame for each array that the JSON names;
what a library prints goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Protocol

import numpy as np
from foreign_values import Array, Reply, Settings


class TaskEnvironment(Protocol):
    """What each class of `KINDS` is; `about`: actions, words, what it is called."""

    about: dict[str, object]

    def __init__(self, config: Settings) -> None: ...
    def reset(self, seed: int | None, options: Settings) -> Reply: ...
    def step(self, action: Array, representation: str) -> Reply: ...
    def close(self) -> None: ...


KINDS = {
    "gymnasium": ("gymnasium_tasks", "GymnasiumTasks"), "libero": ("libero_tasks", "LiberoTasks"),
    "maniskill": ("maniskill_tasks", "ManiSkillTasks"), "isaac_sim": ("isaac_lab_tasks", "IsaacLabTasks"),
}  # fmt: skip
"""Backend → module beside this file, and its class."""


def main(kind: str, descriptor: int) -> None:
    os.dup2(2, 1)
    line = Connection(descriptor)
    environment: TaskEnvironment | None = None
    try:
        while True:
            request, arrays = receive(line)
            try:
                if request["op"] == "open":
                    module, name = KINDS[kind]
                    environment = getattr(importlib.import_module(module), name)(request["config"])
                    assert environment is not None
                    reply: Reply = (environment.about, {})
                else:
                    assert environment is not None
                    reply = _asked(environment, request, arrays)
                send(line, {"ok": True, **reply[0]}, reply[1])
            except ImportError as error:
                send(line, {"ok": False, "missing": error.name or str(error), "error": str(error)})
            except Exception as error:  # whatever a simulator raises is told, and the next question may fare better
                send(line, {"ok": False, "error": f"{type(error).__name__}: {error}"})
    except (EOFError, OSError):
        return  # nobody asks any more
    finally:
        if environment is not None:
            environment.close()


def _asked(environment: TaskEnvironment, request: Settings, arrays: dict[str, Array]) -> Reply:
    if request["op"] == "reset":
        return environment.reset(request.get("seed"), request.get("options") or {})
    return environment.step(arrays["action"], str(request["representation"]))


def send(line: Connection, head: Mapping[str, object], arrays: Mapping[str, Array] | None = None) -> None:
    given = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in given.items()]
    line.send_bytes(json.dumps({**head, "arrays": listed}).encode())
    for array in given.values():
        line.send_bytes(array.tobytes())


def receive(line: Connection) -> tuple[Settings, dict[str, Array]]:
    head = json.loads(line.recv_bytes())
    arrays = {}
    for name, dtype, shape in head.pop("arrays"):
        arrays[name] = np.frombuffer(line.recv_bytes(), dtype=np.dtype(dtype)).reshape(shape)
    return head, arrays


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
