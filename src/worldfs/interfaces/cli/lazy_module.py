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
                try:
                    spec.loader.exec_module(self)
                except BaseException:  # a Ctrl-C, say: the next use loads it again, as a second import would
                    self.__spec__ = None
                    raise
                self.__class__ = ModuleType  # type: ignore[assignment]
        return ModuleType.__getattribute__(self, name)


def load_when_used(name: str) -> None:
    """From now on `import name` costs nothing; the first use of something in it loads it.

    For a module written in Python, of which no module that it imports uses anything while it is loaded itself.
    """
    sys.modules.setdefault(name, _LazyModule(name))
