"""A film of the motion, recorded by the driver itself, for a local kernel and a served one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.given_file import check_made_file
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.robots.video_writer import kind_of

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.world import World

    from .command_context import CommandContext

TAKEN_S = 10.0  # for a kernel to begin
BROKEN_S = 2.0  # for a kernel that may be gone
ENDED_S = 120.0  # for the driver to finish its action and the encoder to write the file


def check_film_options(context: CommandContext) -> None:
    """Check the options before a world is built. Raises `BadInput`."""

    kind_of(context["record"])
    check_made_file(context["record"], op="--record")
    if context["no_cameras"]:
        raise BadInput(coded("command.needs_cameras"), op="--record", fix=coded("command.with_cameras"))


def report_film(context: CommandContext, film: _Film | None) -> None:
    """Whether the film of `--record` was made, once the world is closed. None: there was nothing to film."""
    if film is not None and film.made:
        said, event = coded("command.film", path=context["record"]), {"event": "film", "file": context["record"]}
        context.output.report(said, event)
    else:
        context.output.notice(coded("command.no_film"))


class _Film:
    """While entered, the driver films; afterwards the film is at `path`. Controlled through the node's `film` file."""

    def __init__(self, node: str, path: str) -> None:
        self._path = path
        self._control = f"/nodes/{node}/film"
        self._name = f"do_{SystemClock().now():%Y%m%d_%H%M%S_%f}{os.path.splitext(path)[1].lower()}"
        self.made = False

    def __enter__(self) -> Self:
        self._ask(self._name, TAKEN_S)
        for alert in self._alerts():
            if str(alert.get("field", "")).startswith(".paos/control/"):
                found, fix, code = (str(alert[key]) for key in ("found", "fix", "code"))
                raise BadInput(found, op="--record", fix=fix, code=code)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is not None:  # the kernel may have ended: report that error, not the film's
            with contextlib.suppress(WorldError):
                self._ask("", BROKEN_S)
            return
        self._ask("", ENDED_S)
        self.made = self._fetch()

    def _ask(self, text: str, patience: float) -> None:
        """Write the request; it is done once the file is empty again."""
        if not self._written(text.encode(), patience):
            fix = coded("command.see_status")
            raise BadInput(coded("command.kernel_silent"), path=self._control, op="--record", fix=fix)

    def _written(self, text: bytes, patience: float) -> bool:
        raise NotImplementedError

    def _alerts(self) -> list[Mapping[str, object]]:
        raise NotImplementedError

    def _fetch(self) -> bool:
        """Copy the film to its path; False: there is no film."""
        raise NotImplementedError


class LocalFilmRecording(_Film):
    """For a world on this disk."""

    def __init__(self, context: CommandContext, world: World, path: str) -> None:
        super().__init__(world.planner_port(context["node"]).robot_id, path)
        self._world, self._actor = world, context.actor

    def _written(self, text: bytes, patience: float) -> bool:
        self._world.namespace(self._actor).write(self._control, text)
        return self._world.changes.wait(self._control, self._actor, lambda data: not data, timeout=patience)

    def _alerts(self) -> list[Mapping[str, object]]:
        return [*as_objects(self._world.status()["alerts"])]

    def _fetch(self) -> bool:
        film = self._world.root / "artifacts" / "films" / self._name
        if not film.exists():
            return False
        shutil.move(film, self._path)
        return True


class RemoteFilmRecording(_Film):
    """For a served world: the film comes over the socket, and stays in its artifacts if the server keeps it."""

    def __init__(self, world: FarWorld, node: str, project: str, path: str) -> None:
        super().__init__(node, path)
        self._world, self._film = world, f"{project}/artifacts/films/{self._name}"

    def _written(self, text: bytes, patience: float) -> bool:
        self._world.write(self._control, text)
        return self._world.wait(self._control, lambda data: not data, timeout=patience) is not None

    def _alerts(self) -> list[Mapping[str, object]]:
        return list(parse_json(self._world.read("/meta/status.json"))["alerts"])

    def _fetch(self) -> bool:
        try:
            data = self._world.read(self._film)
        except NotFound:
            return False
        with open(self._path, "wb") as file:
            file.write(data)
        with contextlib.suppress(WorldError):  # only an operator may remove it there
            self._world.remove(self._film)
        return True
