"""A policy on this machine, by its checkpoint.

An ONNX file is run here; a TorchScript file or a LeRobot directory in a process and an environment of its own.

    policy_client: {type: local, checkpoint: pick.onnx}
    policy_client: {type: local, checkpoint: pick.pt, python: /opt/torch/bin/python}
    policy_client: {type: local, checkpoint: outputs/act, python: /opt/lerobot/bin/python}
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.messages import coded
from worldfs.base.model import PolicySpec

from .onnx_file import OnnxPolicy
from .policy_client import PolicyClient, PolicyError
from .process_policy import ProcessPolicy

_FILES: Final[dict[str, Callable[[PolicySpec, str, Clock], PolicyClient]]] = {
    ".onnx": OnnxPolicy,
    **dict.fromkeys(
        (".pt", ".ts", ".torchscript"), lambda spec, path, clock: ProcessPolicy(spec, path, "torchscript", clock)
    ),
}
_LEROBOT: Final = "config.json"  # what a checkpoint directory of LeRobot has


def client(spec: PolicySpec, clock: Clock) -> PolicyClient:
    """Raises `PolicyError` (POLICY_CLIENT) for a checkpoint that is missing or of an unknown kind."""
    path = os.path.abspath(os.path.expanduser(spec.checkpoint)) if spec.checkpoint else ""
    if not path or not os.path.exists(path):
        raise PolicyError(
            coded("session.no_checkpoint") if path else coded("session.checkpoint_unnamed"),
            path=path or "policy_client.checkpoint",
            expected=coded("session.checkpoints"),
            fix=coded("session.correct_checkpoint"),
            code="POLICY_CLIENT",
        )
    if os.path.isdir(path):
        inner = os.path.join(path, "pretrained_model")  # a training run's checkpoints/last
        path = inner if not os.path.exists(os.path.join(path, _LEROBOT)) and os.path.isdir(inner) else path
        if os.path.exists(os.path.join(path, _LEROBOT)):
            return ProcessPolicy(spec, path, "lerobot", clock)
        raise _odd(path, f"a directory without {_LEROBOT}")
    make = _FILES.get(os.path.splitext(path)[1].lower())
    if make is None:
        raise _odd(path, f"a file ending in {os.path.splitext(path)[1] or 'nothing'}")
    return make(spec, path, clock)


def _odd(path: str, found: str) -> PolicyError:
    fix = coded("session.export_model")
    expected = coded("session.checkpoint_kinds")
    return PolicyError(found, path=path, expected=expected, fix=fix, code="POLICY_CLIENT")
