"""Plug-ins by group and name: built-in ones by a table, those of packages by entry points, imported on first use.

    [project.entry-points."worldfs.bodies"]
    toy_arm = "toy_arm:ToyArm"

Every kind of plug-in is a `PluginGroup` beside its port; `GROUPS` lists the kinds. A plug-in that cannot be used is
named, with its package and the reason, and everything else goes on. A built-in one cannot be replaced. A module may
state the version of the ports that it was written for: `WORLDFS_PLUGIN_API = 1`; without that it is the present one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from .errors import BadInput
from .extras import needs
from .messages import coded
from .plugin_faults import contained, error_text, module_and_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .model import Finding


T = TypeVar("T")
API: Final = 1
API_NAME: Final = "WORLDFS_PLUGIN_API"
PREFIX: Final = "worldfs."
GROUPS: Final = (
    "worldfs.bodies", "worldfs.robots", "worldfs.targets", "worldfs.skills", "worldfs.policies", "worldfs.importers",
    "worldfs.web_search", "worldfs.reviewers", "worldfs.chat", "worldfs.models", "worldfs.stores",
)  # fmt: skip


def callable_object(made: Any) -> Any:
    """The usual check of a loaded plug-in: a class or a function. Raises `TypeError`."""
    if not callable(made):
        raise TypeError(f"a class or a function is expected, and {made!r:.80} is none")
    return made


class LoadedPlugins(NamedTuple, Generic[T]):
    """Every plug-in of a group that can be used, and a finding for each that cannot."""

    plugins: dict[str, T]
    findings: tuple[Finding, ...]


class PluginGroup(Mapping[str, T]):
    """One kind of plug-in, by name. The value is what the plug-in's "module:attribute" names.

    `[name]` and `get` import that plug-in and no other; they raise `BadInput` for one that cannot be used, and
    `MissingRequirement` for one of ours whose extra is not installed.
    `made`: what is handed out for a loaded object; it raises for an object that does not fit the port.
    """

    def __init__(self, group: str, built_in: Mapping[str, str], made: Callable[[Any], T] = callable_object) -> None:
        assert group in GROUPS
        self.group, self.built_in, self._made = group, built_in, made

    def __contains__(self, name: object) -> bool:
        return name in self.built_in or name in installed(self.group)

    def __iter__(self) -> Iterator[str]:
        """The built-in names in the order of their table, then those of packages."""
        return iter(dict.fromkeys((*self.built_in, *sorted(installed(self.group)))))

    def __len__(self) -> int:
        return len({*self.built_in, *installed(self.group)})

    def __getitem__(self, name: str) -> T:
        if (where := self.built_in.get(name)) is not None:
            module, _, attribute = where.partition(":")
            with needs(op="load a plug-in", path=name):
                return self._made(getattr(import_module(module), attribute))
        points = installed(self.group)[name]
        loaded = _load(self.group, name, points)
        try:
            return contained(lambda: self._made(loaded), name)
        except Exception as error:  # whatever a package's constructor raises
            found, expected = _raised(points[0], error), coded("plugin.port_object")
            raise _unusable(self.group, name, "PLUGIN_PORT", found, expected=expected) from error

    def is_foreign(self, name: str) -> bool:
        """Whether a package's code is imported for it."""
        ours = name in self.built_in or name not in installed(self.group)
        return not (ours or all(one.value.startswith(PREFIX) for one in installed(self.group)[name]))

    def load_all(self) -> LoadedPlugins[T]:
        """Imports every one of them; never raises because of a package's plug-in."""
        plugins, findings = {name: self[name] for name in self.built_in}, list(self.shadowed())
        for name in sorted({*installed(self.group)} - {*self.built_in}):
            try:
                plugins[name] = self[name]
            except BadInput as error:
                findings.append(_finding(error))
        return LoadedPlugins(plugins, tuple(findings))

    def shadowed(self) -> Iterator[Finding]:
        """Plug-ins of packages that have the name of a built-in one, which counts."""
        expected, fix = coded("plugin.built_in_name"), coded("plugin.rename")
        for name in sorted({*installed(self.group)} & {*self.built_in}):
            found = coded("plugin.from", names=[package_of(point) for point in installed(self.group)[name]])
            yield _finding(_unusable(self.group, name, "PLUGIN_TWICE", found, expected=expected, fix=fix))


def installed(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of a group, by name. Installed packages are listed once for each `sys.path`."""
    return _installed(group, tuple(sys.path))


@lru_cache(maxsize=4 * len(GROUPS))
def _installed(group: str, path: tuple[str, ...]) -> Mapping[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points  # 50 ms

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def findings() -> Iterator[Finding]:
    """What is wrong with the plug-ins of installed packages. Imports each but our own: `paos check` asks."""
    from importlib.metadata import distributions

    for point in sorted({point for package in distributions() for point in package.entry_points}):
        if point.group.startswith(PREFIX) and point.group not in GROUPS:
            expected, fix = coded("common.one_of", names=[*GROUPS]), coded("plugin.correct_group")
            found = coded("plugin.names_group", package=package_of(point), group=point.group)
            yield _finding(_unusable(point.group, point.name, "PLUGIN_GROUP", found, expected=expected, fix=fix))
    for group in GROUPS:
        for name, points in sorted(installed(group).items()):
            if len(points) > 1 or not points[0].value.startswith(PREFIX):
                try:
                    _load(group, name, points)
                except BadInput as error:
                    yield _finding(error)


def package_of(point: EntryPoint) -> str:
    """The package that brings a plug-in, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.value


def _load(group: str, name: str, points: tuple[EntryPoint, ...]) -> object:
    if len(points) > 1:
        found: str = coded("plugin.from", names=[package_of(point) for point in points])
        expected, fix = coded("plugin.one_of_name"), coded("plugin.uninstall")
        raise _unusable(group, name, "PLUGIN_TWICE", found, expected=expected, fix=fix)
    (point,) = points
    try:
        made = contained(point.load, name)
        version = contained(lambda: getattr(sys.modules.get(point.module), API_NAME, API), name)
    except Exception as error:  # whatever a package raises at import
        found, expected = _raised(point, error), coded("plugin.importable", name=point.value)
        raise _unusable(group, name, "PLUGIN_IMPORT", found, expected=expected) from error
    if type(version) is not int or version != API:
        said = str(version) if type(version) in (int, str, float) else module_and_name(version)[1]
        found = coded("plugin.other_version", package=package_of(point), version=said)
        expected, fix = coded("plugin.port_version", version=API), coded("plugin.fitting")
        raise _unusable(group, name, "PLUGIN_API", found, expected=expected, fix=fix)
    return made


def _raised(point: EntryPoint, error: BaseException) -> str:
    return f"{package_of(point)}: {type(error).__name__}: {error_text(error)}"


def _unusable(group: str, name: str, code: str, found: str, *, expected: str, fix: str = "") -> BadInput:
    fix = fix or coded("plugin.correct")
    return BadInput(found, path=f"plug-in {group} {name}", op="load a plug-in", expected=expected, fix=fix, code=code)


def _finding(error: BadInput) -> Finding:
    from .model import Finding  # seldom; its module's classes are a seventh of the start of `agent show`

    return Finding(error.code, error.path, error.expected, error.found, error.fix, warning=True)
