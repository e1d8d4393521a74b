"""The control plane: the nodes, services and projects, and the access to them. Durable, one writer."""

from worldfs.access.caller import Caller, PlaneConfig

from .control_operations import OPS, ROWS, OpRow
from .control_plane import ControlPlane
from .plane_error import PlaneError

__all__ = ["OPS", "ROWS", "Caller", "ControlPlane", "OpRow", "PlaneConfig", "PlaneError"]
