"""The home directory: config.json, and the workspace that it names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.errors import NotFound
from worldfs.base.given_file import read_given_file

if TYPE_CHECKING:
    from pathlib import Path

    from worldfs.formats.config import Config

DEFAULT = "~/.PhyAgentOS"
VARIABLE = "PAOS_HOME"


def absolute(path: str) -> str:
    """With `~` and the present directory put in; `..` and links stay. Text: readers should start fast."""
    path = os.path.expanduser(path)
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def home_path(option: str | None, environ: Mapping[str, str]) -> str:
    """`--home`, else `PAOS_HOME`, else `~/.PhyAgentOS`."""
    return absolute(option or environ.get(VARIABLE) or DEFAULT)


class Home(NamedTuple):
    path: Path

    @staticmethod
    def find(option: str | None, environ: Mapping[str, str]) -> Home:
        from pathlib import Path

        return Home(Path(home_path(option, environ)))

    @property
    def config_path(self) -> Path:
        return self.path / "config.json"

    @property
    def workspace(self) -> Path:
        return self.path / "workspace"

    @property
    def profiles(self) -> Path:
        """The operator's own profiles, a Markdown file each."""
        return self.path / "hal" / "profiles"

    def config(self, environ: Mapping[str, str]) -> Config:
        """config.json with the environment's overrides; without a file, the defaults. Unreadable: `BadInput`.

        The directories of a fleet are absolute.
        """
        from worldfs.formats import config

        from .fleet_directories import place_fleet

        try:
            data = read_given_file(self.config_path, op="read")
        except NotFound:
            data = b""
        read = config.read(data, environ)._replace(home=str(self.path), profiles=str(self.profiles))
        return place_fleet(read, self.path)

    def root(self, config: Config) -> Path:
        """The workspace; of a fleet the shared one."""
        return self.path / config.shared_workspace if config.mode == "fleet" else self.workspace
