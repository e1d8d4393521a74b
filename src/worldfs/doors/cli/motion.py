"""A film of the motion, made by the body itself, whoever serves its kernel."""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from worldfs.ground.errors import BadInput, NotFound, WorldError

if TYPE_CHECKING:
    from worldfs.world.world import World

    from .call import Call

TAKEN_S = 10.0  # for a kernel to begin
BROKEN_S = 2.0  # for a kernel that may be gone
ENDED_S = 120.0  # for the body to finish what it does and the encoder to write the file


class Motion:
    """While inside, the body films; then the film is at `path`. Asked for through the node's `film` file."""

    def __init__(self, call: Call, world: World, path: str) -> None:
        node = world.desk(call["node"]).robot_id
        self._world, self._actor, self._path = world, call.actor, path
        self._control = f"/nodes/{node}/film"
        self._name = f"do_{datetime.now(UTC):%Y%m%d_%H%M%S_%f}{os.path.splitext(path)[1].lower()}"
        self.made = False

    def __enter__(self) -> Self:
        self._ask(self._name, TAKEN_S)
        for alert in self._world.status()["alerts"]:
            if str(alert.get("field", "")).startswith(".paos/control/"):
                raise BadInput(alert["found"], op="--record", fix=alert["fix"], code=alert["code"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is not None:  # perhaps the kernel has gone: what went wrong is said, not what came of the film
            with contextlib.suppress(WorldError):
                self._ask("", BROKEN_S)
            return
        self._ask("", ENDED_S)
        film = self._world.root / "artifacts" / "films" / self._name
        if film.exists():
            shutil.move(film, self._path)
            self.made = True

    def _ask(self, text: str, patience: float) -> None:
        """Written, and done once the file has gone."""
        self._world.tree.write(self._control, text.encode(), self._actor)
        self._world.tree.wait(self._control, self._actor, lambda data: data is None, timeout=patience)
        with contextlib.suppress(NotFound):
            self._world.tree.read(self._control, self._actor)
            raise BadInput("the kernel did not answer", path=self._control, op="--record", fix="see: paos status")
