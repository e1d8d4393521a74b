"""A policy on this machine, by its checkpoint.

An ONNX file is run here; a TorchScript file, a LeRobot or an OpenVLA directory in a process and an environment of its
own.

    policy_client: {type: local, checkpoint: pick.onnx}
    policy_client: {type: local, checkpoint: pick.pt, python: /opt/torch/bin/python}
    policy_client: {type: local, checkpoint: outputs/act, python: /opt/lerobot/bin/python}
    policy_client: {type: local, checkpoint: openvla-7b, python: /opt/openvla/bin/python, unnorm_key: bridge_orig}
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from worldfs.base.clock import Clock
from worldfs.base.errors import WorldError
from worldfs.base.given_file import check_given_file, read_given_file
from worldfs.base.json_text import parse_json
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
_CONFIG: Final = "config.json"  # what a checkpoint directory has
_OPENVLA: Final = "openvla"  # its `model_type` there


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
        path = inner if not os.path.exists(os.path.join(path, _CONFIG)) and os.path.isdir(inner) else path
        if os.path.exists(os.path.join(path, _CONFIG)):
            return ProcessPolicy(spec, path, _directory_kind(path), clock)
        raise _odd(path, f"a directory without {_CONFIG}")
    check_given_file(path, op="open a policy")
    make = _FILES.get(os.path.splitext(path)[1].lower())
    if make is None:
        raise _odd(path, f"a file ending in {os.path.splitext(path)[1] or 'nothing'}")
    return make(spec, path, clock)


def _directory_kind(path: str) -> str:
    """ "openvla" by what its configuration says, else "lerobot", which says itself what it does not know."""
    try:
        config = parse_json(read_given_file(os.path.join(path, _CONFIG), op="open a policy"))
    except (WorldError, ValueError):
        return "lerobot"
    return _OPENVLA if isinstance(config, dict) and config.get("model_type") == _OPENVLA else "lerobot"


def _odd(path: str, found: str) -> PolicyError:
    fix = coded("session.export_model")
    expected = coded("session.checkpoint_kinds")
    return PolicyError(found, path=path, expected=expected, fix=fix, code="POLICY_CLIENT")
