"""The kinds of models by name: built-in ones over pydantic-ai, and those of packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from worldfs.base.chat_model import ChatModel
from worldfs.base.driver import PluginContext
from worldfs.base.plugin_registry import PluginGroup
from worldfs.formats.config_models import MODELS_GROUP

MODELS: Final = PluginGroup[Callable[[Mapping[str, object], PluginContext], ChatModel]](
    MODELS_GROUP,
    {
        "openai": "worldfs.models.pydantic_model:openai_model",
        "anthropic": "worldfs.models.pydantic_model:anthropic_model",
    },
)
