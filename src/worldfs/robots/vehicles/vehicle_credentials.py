"""Secrets of a vehicle's connection: from the environment or a file of mode 0600, never from TARGETS.md itself."""

from __future__ import annotations

import os
import stat
from typing import Final

from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.messages import coded
from worldfs.base.model import Target

_LONGEST: Final = 4096


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
    return _read(os.path.expanduser(str(file)), f"{at}.password_file") if file else ""


def _read(path: str, at: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            if mode & 0o077:
                raise BadInput(
                    coded("file.mode", mode=mode), path=at, code="SECRETS_READABLE",
                    expected=coded("file.mode_0600"), fix=f"chmod 600 {path}",
                )  # fmt: skip
            return stream.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise MissingRequirement(
            coded("vehicle.no_file", path=path, why=why), path=at, expected=coded("vehicle.secret_place"),
            fix=coded("vehicle.write_file", path=path),
        ) from None  # fmt: skip
