"""Secrets that settings name by a file: one line that only the file's owner can read."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Final

from .errors import BadInput
from .messages import coded

LONGEST: Final = 4_096  # bytes of the file


def read_secret_file(path: Path, named: str) -> str:
    """The secret in a file, which messages call by the name that the settings gave it.

    Raises `BadInput` for a file that cannot be read, that others may read, or that holds no line of text. Its message
    never holds the secret, and nothing is waited for: a pipe is refused.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        found = f"{named}: {error.strerror}"
        raise _unusable(found, coded("file.with_secret"), coded("file.put_secret", file=_pasted(named))) from None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise _unusable(coded("file.irregular", file=named), coded("file.with_secret"), coded("file.name_other"))
        if info.st_mode & 0o077:
            found = coded("file.readable", file=named)
            raise _unusable(found, coded("file.mode_0600"), f"chmod 600 {_pasted(named)}", "SECRETS_READABLE")
        secret = os.read(fd, LONGEST).decode("utf-8", "ignore").strip()
        return _said(secret, named, bool(secret) and secret.isprintable(), coded("file.one_printable"))
    finally:
        os.close(fd)


def _pasted(named: str) -> str:
    """As a shell takes it; a shell opens `~/` only outside of quotes."""
    home, rest = ("~/", named[2:]) if named.startswith("~/") else ("", named)
    return home + shlex.quote(rest)


def header_secret(secret: str, named: str) -> str:
    """A secret that goes into a header of HTTP: one line of printable ASCII. Raises `BadInput` for any other."""
    return _said(secret, named, bool(secret) and secret.isascii() and secret.isprintable(), coded("file.one_line"))


def _said(secret: str, named: str, usable: bool, expected: str) -> str:
    if not usable:
        raise _unusable(coded("file.no_secret", file=named), expected, coded("file.write_secret", file=named))
    return secret


def _unusable(found: str, expected: str, fix: str, code: str = "SECRET_FILE") -> BadInput:
    return BadInput(found, op="read a secret", expected=expected, fix=fix, code=code)
