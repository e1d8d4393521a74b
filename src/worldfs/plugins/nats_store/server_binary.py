"""The nats-server program: where it is, and whether it is new enough."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

from .jetstream_connection import OLDEST, version_of

NAME: Final = "nats-server"
VARIABLE: Final = "PAOS_NATS_SERVER"  # the configured program
_ANSWER_S: Final = 10.0


def find_server(environ: Mapping[str, str]) -> str:
    """The first that is new enough: the configured one, that on PATH, that of the extra.

    Raises `MissingRequirement` naming each that was found, with its version.
    """
    old = []
    for program in _programs(environ):
        version = server_version(program)
        if version_of(version) >= OLDEST:
            return program
        old.append(f"{program} ({version or '?'})")
    oldest = ".".join(map(str, OLDEST))
    found = coded("engine.old_programs", names=old) if old else coded("engine.no_program", name=NAME)
    raise MissingRequirement(
        found,
        op="open a store",
        expected=coded("engine.at_least", oldest=oldest),
        fix=coded("engine.get_server", oldest=oldest),
        code="ENGINE_VERSION" if old else "MISSING",
    )


def server_version(program: str) -> str:
    """As `nats-server --version` says, without the v; "": it does not say."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return said.stdout.strip().rpartition(" ")[2].lstrip("v")


def _programs(environ: Mapping[str, str]) -> Iterator[str]:
    if configured := environ.get(VARIABLE):
        yield configured
        return
    if found := shutil.which(NAME, path=environ.get("PATH")):
        yield found
    own = Path(sysconfig.get_path("scripts"), NAME)
    if own.exists() and str(own) != found:
        yield str(own)
