"""The bodies that packages make: their every answer is parsed."""

from __future__ import annotations

from worldfs.base.driver import OPTIONAL, Driver, DriverFactory, PluginContext
from worldfs.base.plugin_calls import called, checked, plugin_name


class CheckedBodies:
    """A package's factory, behind the port of a body."""

    def __init__(self, make: DriverFactory) -> None:
        self._make = make
        self.profile: object = called(lambda: getattr(make, "profile", None), plugin_name(make))

    def __call__(self, context: PluginContext) -> Driver:
        return checked(called(lambda: self._make(context), plugin_name(self._make)), Driver, *OPTIONAL)
