"""The control plane: which nodes, services and projects there are, and who may see them. Durable, one writer."""

from .caller import Caller, Config
from .ops import OPS, ROWS, OpRow
from .plane import Plane
from .refusal import PlaneError

__all__ = ["OPS", "ROWS", "Caller", "Config", "OpRow", "Plane", "PlaneError"]
