"""LeRobot's Python, for a machine without a GPU: the operators that torchvision declares are declared empty, then the
script that follows is run. `with_torchvision.py SCRIPT ARGUMENT …`."""

from __future__ import annotations

import re
import runpy
import sys

import torch


def declare() -> None:
    """torchvision of the registry is built for GPUs, and its operators do not load on a plain CPU machine."""
    declared = torch.library.Library("torchvision", "DEF")
    for _ in range(40):
        try:
            import torchvision  # noqa: F401  # the question is whether it can be

            return
        except RuntimeError as error:
            missing = re.search(r"torchvision::(\w+)", str(error))
            if missing is None:
                raise
            declared.define(f"{missing[1]}(Tensor a) -> Tensor")
            for name in [name for name in sys.modules if name.startswith("torchvision")]:
                del sys.modules[name]


if __name__ == "__main__":
    declare()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
