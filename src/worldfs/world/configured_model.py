"""A language model as config.json names it: opened when it is first asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.chat_model import ConfiguredModel, ModelUnavailable, RecordingModel
from worldfs.base.clock import Clock
from worldfs.models.open_model import open_model

if TYPE_CHECKING:
    from worldfs.formats.config import Config


def configured_model(
    config: Config | None, home: Path, environ: Mapping[str, str], clock: Clock, name: str
) -> ConfiguredModel | None:
    """None where none is configured. One whose settings were refused says so when it would be asked, and counts as
    required: nobody can read whether it is."""
    if config is None:
        return None
    settings = config.models.get(name)
    if settings is not None:
        opened = settings
        return ConfiguredModel(
            lambda: open_model(opened, home, environ, clock), settings.timeout_s, required=settings.required
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
