"""Secrets of a vehicle's connection: from the environment or a file of mode 0600, never from TARGETS.md itself."""

from __future__ import annotations

import os
from pathlib import Path

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target
from worldfs.base.secret_file import read_secret_file


def password(target: Target) -> str:
    """`config.password_file` or `config.password_env`; "" for none. Raises with what is wrong and the fix."""
    at = f"TARGETS.md {target.id} config"
    for word in ("password", "token"):
        if word in target.config:
            raise BadInput(
                coded("vehicle.secret_in_page", word=word), path=f"{at}.{word}", code="SECRETS_READABLE",
                expected=coded("vehicle.secret_place"), fix=coded("vehicle.move_secret", word=word),
            )  # fmt: skip
    if name := target.config.get("password_env"):
        if value := os.environ.get(str(name), ""):
            return value
        fix, expected = coded("vehicle.set_variable", name=str(name)), coded("vehicle.secret_place")
        raise MissingRequirement(
            coded("vehicle.no_variable", name=str(name)), path=f"{at}.password_env", expected=expected, fix=fix
        )
    file = target.config.get("password_file")
    if not file:
        return ""
    try:
        return read_secret_file(Path(str(file)).expanduser(), str(file))
    except BadInput as error:
        raise BadInput(
            error.found, path=f"{at}.password_file", expected=error.expected, fix=error.fix, code=error.code
        ) from None
