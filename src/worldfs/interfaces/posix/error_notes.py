"""Why a change was refused: the sentence for `user.paos.error`, and the private file `last_error` beside the path."""

from __future__ import annotations

from typing import Final

from worldfs.base.errors import WorldError
from worldfs.base.messages.message_rendering import error_message

from .scratch_names import ScratchNames

LAST_ERROR: Final = "last_error"
ERRORS_MOST: Final = 256


class ErrorNotes:
    """The last error of each path, of the last few hundred paths."""

    def __init__(self, scratch: ScratchNames) -> None:
        self._scratch = scratch
        self._said: dict[str, str] = {}

    def add(self, error: WorldError) -> None:
        if error.path:
            self._note(error.path, error.path.rpartition("/")[0], error)

    def add_below(self, directory: str, error: WorldError) -> None:
        """Of a name that is not there: its directory says why."""
        self._note(directory, directory, error)

    def _note(self, path: str, directory: str, error: WorldError) -> None:
        if len(self._said) >= ERRORS_MOST:
            self._said.clear()
        text = self._said[path] = str(error_message(error))
        place = f"{directory}/{LAST_ERROR}"
        file = self._scratch.get(place) or self._scratch.create(place)
        file.read_only = True
        file.truncate(0)
        file.write(0, f"{text}\n".encode())

    def remove_from(self, directory: str) -> None:
        """Of a directory that is removed: our own file keeps none from it."""
        place = f"{directory}/{LAST_ERROR}"
        if place in self._scratch:
            self._scratch.remove(place)

    def get(self, path: str) -> str:
        """ "" where the last change was not refused."""
        return self._said.get(path, "")

    def clear(self, path: str) -> None:
        self._said.pop(path, None)
