"""A module of Python's own library that is loaded when something of it is used."""

from __future__ import annotations

import sys
import threading
from types import ModuleType

_loading = threading.RLock()


class _LazyModule(ModuleType):
    """A module without content. (`importlib.util.LazyLoader` loads at the second `import`, and is not for threads.)"""

    def __getattr__(self, name: str) -> object:
        with _loading:  # another thread that wants what is not there yet waits; this one has a circular import
            if self.__spec__ is None:
                from importlib.machinery import PathFinder
                from importlib.util import module_from_spec

                spec = PathFinder.find_spec(self.__name__)
                assert spec is not None and spec.loader is not None
                self.__dict__.update(module_from_spec(spec).__dict__)
                spec.loader.exec_module(self)
                self.__class__ = ModuleType  # type: ignore[assignment]
        return object.__getattribute__(self, name)


def load_when_used(name: str) -> None:
    """From now on `import name` costs nothing; the first use of something in it loads it."""
    sys.modules.setdefault(name, _LazyModule(name))
