"""The planner's language model, as config.json configures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.chat_model import ModelCall
from worldfs.base.clock import Clock
from worldfs.planning.planner import PlannerModel
from worldfs.planning.planner.planner_model import nobody

from .configured_model import configured_model

if TYPE_CHECKING:
    from worldfs.formats.config import Config

PLANNER: Final = "planner"  # the name in `models` of config.json


def planner_model(
    config: Config | None,
    home: Path,
    environ: Mapping[str, str],
    clock: Clock,
    *,
    ask: Callable[[str], str] = nobody,
    confirmed: str = "",
    log: Callable[[str, ModelCall], None] = lambda name, call: None,
) -> PlannerModel | None:
    """None where none is configured. `log`: as of `configured_model`."""
    found = configured_model(config, home, environ, clock, PLANNER, log=log)
    return None if found is None else PlannerModel(found.open, clock, ask, confirmed)
