"""The key of a model: from a file that only its owner can read, else from an environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from worldfs.base.chat_model import ModelUnavailable
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.secret_file import header_secret, read_secret_file
from worldfs.formats.config_models import ModelConfig


def read_api_key(config: ModelConfig, home: Path, environ: Mapping[str, str]) -> str:
    """ "" where the settings name none. Raises `ModelUnavailable` (MODEL_KEY), which never holds the key."""
    file, named = config.api_key_file, config.api_key_env
    try:
        if file:
            return header_secret(read_secret_file(home / Path(file).expanduser(), file), file)
        if named and not environ.get(named, "").strip():
            found, fix = coded("model.no_env", name=named), coded("model.give_env", name=named)
            raise BadInput(found, expected=coded("model.the_key"), fix=fix)
        return header_secret(environ[named].strip(), named) if named else ""
    except BadInput as error:
        where = f"config.json models.{config.name}.{'apiKeyFile' if file else 'apiKeyEnv'}"
        raise ModelUnavailable(
            error.found, path=where, op="ask a model", expected=error.expected, fix=error.fix, code="MODEL_KEY"
        ) from None
