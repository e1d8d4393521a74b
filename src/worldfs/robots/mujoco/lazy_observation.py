"""An environment's observation after a step: numbers at once, pictures only when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


class LazyObservation(Mapping[str, Array]):
    """`pictures`: name → how to capture it. A picture is of the moment of its first access: read it before a step."""

    def __init__(self, numbers: Mapping[str, Array], pictures: Mapping[str, Callable[[], Array]]) -> None:
        self._taken = dict(numbers)
        self._pictures = pictures

    def __getitem__(self, name: str) -> Array:
        if name not in self._taken:
            self._taken[name] = self._pictures[name]()
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        yield from {**dict.fromkeys(self._taken), **dict.fromkeys(self._pictures)}

    def __len__(self) -> int:
        return len({*self._taken, *self._pictures})
