"""A tool of a language model that takes one text."""

from __future__ import annotations

from worldfs.base.chat_model import ModelTool


def one_text_tool(name: str, description: str, argument: str) -> ModelTool:
    """`argument`: the name of the text, which is never empty."""
    schema = {
        "type": "object",
        "properties": {argument: {"type": "string", "minLength": 1}},
        "required": [argument],
        "additionalProperties": False,
    }
    return ModelTool(name, description, schema)
