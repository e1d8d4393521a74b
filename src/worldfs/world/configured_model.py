"""A language model as config.json names it: opened when it is first asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.chat_model import ConfiguredModel, ModelCall, ModelUnavailable, RecordingModel
from worldfs.base.clock import Clock
from worldfs.models.open_model import open_model

if TYPE_CHECKING:
    from worldfs.formats.config import Config


def configured_model(
    config: Config | None,
    home: Path,
    environ: Mapping[str, str],
    clock: Clock,
    name: str,
    *,
    log: Callable[[str, ModelCall], None] = lambda name, call: None,
) -> ConfiguredModel | None:
    """None where none is configured. One whose settings were refused says so when it would be asked, and counts as
    required: its settings cannot say whether it is. `log`: is given the name and each call."""
    if config is None:
        return None
    settings = config.models.get(name)
    if settings is not None:
        opened = settings
        return ConfiguredModel(
            lambda: open_model(opened, home, environ, clock, partial(log, name)),
            settings.timeout_s,
            required=settings.required,
        )
    refused = [item for item in config.findings if item.field.startswith(f"config.json models.{name}")]
    if not refused:
        return None
    wrong = refused[0]

    def broken() -> RecordingModel:
        raise ModelUnavailable(
            wrong.found, path=wrong.field, op="ask a model", expected=wrong.expected, fix=wrong.fix, code="MODEL_CONFIG"
        )

    return ConfiguredModel(broken, required=True)
