"""The home directory: config.json, and the workspace that it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from worldfs.base.errors import from_os

if TYPE_CHECKING:
    from worldfs.formats.config import Config

DEFAULT = "~/.PhyAgentOS"
VARIABLE = "PAOS_HOME"


class Home(NamedTuple):
    path: Path

    @staticmethod
    def find(option: str | None, environ: Mapping[str, str]) -> Home:
        """`--home`, else `PAOS_HOME`, else `~/.PhyAgentOS`."""
        return Home(Path(option or environ.get(VARIABLE) or DEFAULT).expanduser().absolute())

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
            data = self.config_path.read_bytes()
        except FileNotFoundError:
            data = b""
        except OSError as error:
            raise from_os(error, path=str(self.config_path), op="read") from error
        read = config.read(data, environ)._replace(home=str(self.path), profiles=str(self.profiles))
        return place_fleet(read, self.path)

    def root(self, config: Config) -> Path:
        """The workspace; of a fleet the shared one."""
        return Path(config.shared_workspace) if config.mode == "fleet" else self.workspace
