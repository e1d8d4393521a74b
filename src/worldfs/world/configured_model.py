"""The planner's language model, as config.json configures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from worldfs.base.chat_model import ModelUnavailable, RecordingModel
from worldfs.base.clock import Clock
from worldfs.models.open_model import open_model
from worldfs.planning.planner import PlannerModel
from worldfs.planning.planner.planner_model import nobody

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
) -> PlannerModel | None:
    """None where none is configured. One whose settings were refused says so when it would be asked."""
    if config is None:
        return None
    settings = config.models.get(PLANNER)
    refused = [item for item in config.findings if item.field.startswith(f"config.json models.{PLANNER}")]
    if settings is None and not refused:
        return None

    def opened() -> RecordingModel:
        if settings is None:
            wrong = refused[0]
            raise ModelUnavailable(
                wrong.found,
                path=wrong.field,
                op="ask a model",
                expected=wrong.expected,
                fix=wrong.fix,
                code="MODEL_CONFIG",
            )
        return open_model(settings, home, environ, clock)

    return PlannerModel(opened, clock, ask, confirmed)
