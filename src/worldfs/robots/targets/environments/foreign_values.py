"""What passes between an environment and the process that runs it. Beside the modules that import it, wherever that is.

They are run as scripts by another Python: the type checker does not find this module, and takes its names as unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Foreign = object  # an object of a simulator's own library
Settings = dict[str, object]  # `target.config`
Reply = tuple[dict[str, object], dict[str, Array]]  # facts of a reset or a step, and the observation


def truth(value: Foreign, name: str) -> bool:
    """True, False or `numpy.bool_`, as Gymnasium documents it. Raises `TypeError` for what is merely like one."""
    if value is True or value is False or type(value) is np.bool_:
        return bool(value)
    raise TypeError(f"{name} is {type(value).__name__}; True or False is expected")


def flat(observation: object, prefix: str = "") -> dict[str, Array]:
    """An observation as arrays by dotted names; what is no mapping is called `state`."""
    if not isinstance(observation, Mapping):
        return {prefix or "state": np.asarray(observation)}
    found: dict[str, Array] = {}
    for name, value in observation.items():
        found |= flat(value, f"{prefix}.{name}" if prefix else str(name))
    return found
