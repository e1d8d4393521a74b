"""A configured model, ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from worldfs.base.chat_model import ChatModel, ModelCall, ModelUnavailable
from worldfs.base.clock import Clock
from worldfs.base.driver import PluginContext
from worldfs.base.errors import UserError
from worldfs.base.extras import needs
from worldfs.base.plugin_calls import called, checked
from worldfs.formats.config_models import ModelConfig

from .api_key import read_api_key
from .call_log import ModelCallLog
from .metered_model import MeteredModel
from .model_registry import MODELS


def open_model(
    config: ModelConfig,
    home: Path,
    environ: Mapping[str, str],
    clock: Clock,
    log: Callable[[ModelCall], None] = lambda call: None,
) -> MeteredModel:
    """`log`: is given each call as well as the home's own log.

    Raises `ModelUnavailable` for a key or a package that cannot be used, `MissingRequirement` without the extra."""
    settings = {
        **config.more,
        "name": config.name,
        "model": config.model,
        "base_url": config.base_url,
        "key": read_api_key(config, home, environ),
        "max_tokens": config.max_tokens,
    }
    try:
        with needs("models", op="ask a model"):
            model = called(lambda: MODELS[config.kind](settings, PluginContext(clock)), f"models {config.kind}")
        model = checked(model, ChatModel)
        return MeteredModel(model, config, (ModelCallLog(home, config.name, clock).add, log))
    except UserError:
        raise
    except Exception as error:  # whatever a package raises
        where, found = f"config.json models.{config.name}", f"{config.kind}: {type(error).__name__}: {error}"[:300]
        raise ModelUnavailable(found, path=where, op="ask a model", code="MODEL_CONFIG") from None
