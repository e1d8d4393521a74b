"""The key of a model: from a file that only its owner can read, else from an environment variable."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from worldfs.base.chat_model import ModelUnavailable
from worldfs.base.messages import coded
from worldfs.formats.config_models import ModelConfig

LONGEST: Final = 4_096  # bytes of a key file


def read_api_key(config: ModelConfig, home: Path, environ: Mapping[str, str]) -> str:
    """ "" where the settings name none. Raises `ModelUnavailable` (MODEL_KEY), which never holds the key."""
    if config.api_key_file:
        return _from_file(config, home / Path(config.api_key_file).expanduser())
    if not config.api_key_env:
        return ""
    key = environ.get(config.api_key_env, "").strip()
    if not key:
        named = config.api_key_env
        found, fix = coded("model.no_env", name=named), coded("model.give_env", name=named)
        raise _wrong(config, "apiKeyEnv", found, coded("model.the_key"), fix)
    return _usable(config, key, config.api_key_env)


def _from_file(config: ModelConfig, path: Path) -> str:
    named = config.api_key_file
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        fix = coded("model.put_key", file=named)
        raise _wrong(config, "apiKeyFile", f"{named}: {error.strerror}", coded("model.key_file"), fix) from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            found = coded("model.irregular", file=named)
            raise _wrong(config, "apiKeyFile", found, coded("model.key_file"), coded("model.other_file"))
        if info.st_mode & 0o077:
            found = coded("model.readable", file=named)
            raise _wrong(config, "apiKeyFile", found, coded("file.mode_0600"), f"chmod 600 {named}")
        return _usable(config, os.read(fd, LONGEST).decode("ascii", "replace").strip(), named)
    finally:
        os.close(fd)


def _usable(config: ModelConfig, key: str, where: str) -> str:
    """A key goes into a header: one line of printable ASCII."""
    if not key or not key.isascii() or not key.isprintable():
        found, fix = coded("model.no_key", file=where), coded("model.write_key", file=where)
        raise _wrong(config, "apiKey", found, coded("model.one_line"), fix)
    return key


def _wrong(config: ModelConfig, key: str, found: str, expected: str, fix: str) -> ModelUnavailable:
    where = f"config.json models.{config.name}.{key}"
    return ModelUnavailable(found, path=where, op="ask a model", expected=expected, fix=fix, code="MODEL_KEY")
