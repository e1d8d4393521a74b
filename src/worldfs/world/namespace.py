"""The namespace: one binding's whole tree, as every door serves it. Synchronous, and usable from many threads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from worldfs.ground.errors import BadInput, Exists, NotFound, NotPermitted, UserError
from worldfs.tree import path as paths
from worldfs.tree.leaf import Ask, Behaviour, Branch, Leaf, Names, Spot, Stat, Wait, Written
from worldfs.tree.rights import demand_read, may_write
from worldfs.tree.table import Kind, Row, Table
from worldfs.tree.tree import Content, Rooms, Tree

from . import visibility
from .identity import identity
from .views import debug, mounts, nodes, own, projects
from .views.fixed import Literal, Readme
from .views.readme import Readmes

if TYPE_CHECKING:
    from worldfs.tree.binding import Binding

    from .ports import Exported
    from .seat import Seat

_SELF: Final = ("agents", "self")
_LINKS: Final = frozenset({"fs_link", "node_link", "agent_link"})  # views whose target a path walks through
_STEADY: Final = frozenset({"served", "house", "node", "service", "debug", "project"})
PLACES_MOST: Final = 16_384  # that one sight remembers
LINKS_MOST: Final = 8  # links that one path may walk through
_ORDERS: Final = frozenset({Kind.SHEET, Kind.CONTROL})  # of a workspace: what is written there moves a body
_KEPT: Final = frozenset({Kind.RECORD, Kind.DROP, Kind.LOG, Kind.SHEET})  # what may be there with its first write
_HEAVY: Final = frozenset({"workspace", "workspace_pages", "mind", "mind_pages"})  # rooms whose files are on the disk


class Looked(NamedTuple):
    """What was found at a path, and where it really is."""

    parts: tuple[str, ...]
    real: tuple[str, ...]  # behind the links that the path walks through
    role: str  # in which the binding looks at it; "" sees nothing
    found: Spot | tuple[Row | None, dict[str, str]] | None
    light: bool | None = None  # None: nobody has asked yet


class Sources(NamedTuple):
    """What a namespace is made over; `Realm` hands it out."""

    table: Table
    readmes: Readmes
    literals: Literal
    rooms: dict[str, Rooms]  # of the home: "workspace", "mind"; those that there are
    behaviours: dict[str, Behaviour]  # of the home's rows


class Namespace:
    """A tree whose rooms list only what the binding may see, in the roles that the binding has there."""

    def __init__(self, binding: Binding, sources: Sources, seer: Seat) -> None:
        self.binding = binding
        self._seer = seer
        self._base_role = visibility.role(binding, ())
        self._own_role = visibility.role(binding, _SELF)
        from .rooms.joined import Joined
        from .rooms.sighted import SERVED, Minds, Pages, Sighted, Workspaces

        behaviours: dict[str, Behaviour | Branch] = {
            **sources.behaviours,
            "literal": sources.literals,
            **nodes.views(seer),
            **projects.views(seer),
            **own.views(seer),
            **debug.views(seer),
            **mounts.branches(seer),
        }
        rooms: dict[str, Rooms] = dict.fromkeys(SERVED, Sighted(seer, behaviours))
        if "workspace" in sources.rooms:
            rooms["workspace"] = workspace = Workspaces(seer, sources.rooms["workspace"])
            rooms["workspace_pages"] = Pages(workspace)
        if "mind" in sources.rooms:
            rooms["mind"] = minds = Minds(seer, sources.rooms["mind"])
            rooms["mind_pages"] = Pages(minds)
        self._rooms = Joined(rooms)
        behaviours["readme"] = Readme(binding, sources.readmes, self._rooms, frozenset(rooms))
        self.tree = Tree(sources.table, self._rooms, behaviours, {("agent", "self"): binding.agent})
        seer.readable = self.readable

    # -- looking ------------------------------------------------------------------------------------------------------

    def stat(self, path: str) -> Stat:
        """What is there, with its true size. Never waits. Raises `NotFound`."""
        parts, _, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="stat", actor=self.binding.role)
        shown = "/" + "/".join(parts)
        name = parts[-1] if parts else "/"
        if isinstance(found, Spot):
            return self._spot(shown, name, found)
        row, names = found
        if row is None:
            return Stat(identity(shown), name, shown, True, 0, False, "", None)
        size, revision = self._size(row, names)
        return Stat(identity(shown), name, shown, False, size, self._writable(row, names, role), revision, row.kind)

    def list(self, path: str) -> list[str]:
        """Names in a directory, sorted by bytes. Raises `NotFound`, `BadInput` (enotdir)."""
        _, real, role, found, _ = self._look(path)
        if found is None:
            raise NotFound("no such file or directory", path=path, op="list", actor=self.binding.role)
        if not (found.directory if isinstance(found, Spot) else found[0] is None):
            raise BadInput("it is a file", path=path, op="list", actor=self.binding.role, code="enotdir")
        return sorted(self.tree.children(real, role))

    def entries(self, path: str) -> Sequence[Stat]:
        """The stats of what is in a directory, by name as `list` sorts; what cannot be looked at is left out."""
        base, spots = path.rstrip("/"), self._exported(path)
        if spots is not None:
            return [self._spot(f"{base}/{name}", name, spots[name]) for name in sorted(spots)]
        found = []
        for name in self.list(path):
            with suppress(UserError):
                found.append(self.stat(f"{base}/{name}"))
        return found

    def read(self, path: str) -> Content:
        """The present bytes of a file. Raises `NotFound`, `BadInput` (eisdir)."""
        _, real, _, found, _ = self._look(path)
        row, names = self.tree.found(real) or (None, {}) if isinstance(found, Spot) else found or (None, {})
        if found is None:
            raise self._absent(path, "read")
        if row is None or (isinstance(found, Spot) and found.directory):
            raise BadInput("it is a directory", path=path, op="read", actor=self.binding.role, code="eisdir")
        if row.view:
            return Content(self.tree.behaviours[row.view].read(names), "")
        stored = self._rooms.store(row, names).get(self._rooms.key(row, names))
        if stored is None:
            raise self._absent(path, "read")
        return Content(stored.data, stored.revision)

    def write(self, path: str, data: bytes, *, offset: int = 0, correlation: str = "") -> Written:
        """Durable when it returns. A Control, a Sheet and a Drop take exactly these bytes, whatever the offset.

        A Record is replaced whole at offset 0, and patched beyond it; a Log is added to.
        """
        real, row, names = self._place(path, "write")
        role = self._role(real)
        if may_write(row, role) and not self._writable(row, names, role):
            raise NotPermitted(own.DENIED, path=path, op="write", actor=role)
        if offset and row.kind is Kind.RECORD:
            present = self.tree.fetch("/" + "/".join(real), role).data
            whole = present[:offset].ljust(offset, b"\0") + data + present[offset + len(data) :]
            written = self.tree.put((path, row, names), whole, Ask(role, offset, correlation))[1]
            return written._replace(n=len(data))
        return self.tree.put((path, row, names), data, Ask(role, offset, correlation))[1]

    def light(self, path: str, *, write: bool = False) -> bool:
        """May it be asked on an event loop? Only what is answered from memory; a write is made durable first."""
        if write:
            return False
        places = self._seer.sight.places
        known = places.get(path)
        if known is not None:
            if known.light is None:
                known = places[path] = known._replace(light=self._light(known.real))
            return known.light is True
        parts = paths.segments(paths.parse(path))
        return self._light(self._real(parts, self._role(parts)))

    def waits(self, path: str) -> Wait | None:
        """What a read of it should wait for first; None: it never blocks, or need not now. Never waits for a disk."""
        known = self._seer.sight.places.get(path)
        if known is None:
            parts = paths.segments(paths.parse(path))
            real = self._real(parts, self._role(parts))
            rows = [place.row for place, _ in self.tree.table.matches(real) if place.row is not None]
            if not rows or not rows[0].blocking or rows[0].room in _HEAVY:
                return None
            known = self._look(path)
        if known.found is None or isinstance(known.found, Spot):
            return None
        row, names = known.found
        return self._behaviour(row).wait(names) if row is not None and row.blocking else None

    def readable(self, path: str) -> bool:
        """Is it there for this binding, as a file or a directory?"""
        try:
            self.stat(path)
        except UserError:
            return False
        return True

    def sees(self, node: str, service: str) -> bool:
        """Is that service of that node there for this binding?"""
        self._seer.refresh()
        view = self._seer.sight.node(node)
        return view is not None and service in view.by_id

    # -- names made and unmade ----------------------------------------------------------------------------------------

    def replace(self, path: str, data: bytes) -> None:
        """The whole content of a file at once."""
        far = self._far(path, "write")
        if far is None:
            self.write(path, data)
        else:
            far[0].replace(far[1], data)

    def promise(self, path: str) -> Stat | None:
        """Of a file that is there with its first write, whole: a letter, or a document that nobody has written yet.

        None: it lies in what a node exports. Raises `NotPermitted`, `Exists`.
        """
        if self._far(path, "create") is not None:
            return None
        try:
            real, row, names = self._place(path, "create")
        except NotFound:
            row = None
        if row is None or row.kind not in _KEPT or not self._writable(row, names, self._role(real)):
            raise NotPermitted("names are not made or unmade here", path=path, op="create", actor=self.binding.role)
        if self._rooms.exists(row, names):
            raise Exists("it is there already", path=path, op="create", actor=self.binding.role)
        parts = self._start(path)
        return Stat(identity("/" + "/".join(parts)), parts[-1], path, False, 0, True, "", row.kind)

    def create(self, path: str, *, directory: bool = False) -> Stat:
        """A new file or directory, in what a node exports."""
        exports, there = self._made(path, "create")
        if directory:
            exports.mkdir(there)
        else:
            exports.create(there)
        return self.stat(path)

    def rename(self, old: str, new: str) -> None:
        """Within one node's exports; what is at `new` is replaced."""
        exports, there = self._made(old, "rename")
        other, target = self._made(new, "rename")
        if exports is not other:
            raise BadInput("the two lie on different nodes", path=new, op="rename", code="invalid")
        exports.rename(there, target)

    def remove(self, path: str) -> None:
        """A file, or an empty directory, in what a node exports."""
        exports, there = self._made(path, "remove")
        exports.remove(there)

    def _made(self, path: str, op: str) -> tuple[Exported, str]:
        far = self._far(path, op)
        if far is None:
            raise NotPermitted("names are not made or unmade here", path=path, op=op, actor=self.binding.role)
        return far

    def _far(self, path: str, op: str) -> tuple[Exported, str] | None:
        """The exports behind a path, and the path in them; None for what is of this house."""
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        role = self._role(real)
        found = self.tree.found(real) if role else None
        if found is None or found[0].view != "mounts" or not may_write(found[0], role):
            return None
        return cast("mounts.Mounts", self.tree.behaviours["mounts"]).reached(found[1], op)

    def _exported(self, path: str) -> dict[str, Spot] | None:
        """What lies in a directory inside an export, asked of its node at once; None elsewhere."""
        _, real, _, spot, _ = self._look(path)
        found = self.tree.found(real) if isinstance(spot, Spot) and spot.directory else None
        if found is None or found[0].view != "mounts":
            return None
        exports, there = cast("mounts.Mounts", self.tree.behaviours["mounts"]).exported(found[1]) or (None, "")
        return exports.spots(there) if exports is not None and there else None

    # -- inside -------------------------------------------------------------------------------------------------------

    def _role(self, parts: tuple[str, ...]) -> str:
        return self._own_role if parts[:2] == _SELF else self._base_role

    def _look(self, path: str) -> Looked:
        """What is at a path. What cannot change while the sight is the same is looked for once."""
        self._seer.refresh()
        known = self._seer.sight.places
        looked = known.get(path)
        if looked is not None:
            return looked
        parts = paths.segments(paths.parse(path))
        role = self._role(parts)
        real = self._real(parts, role)
        if real is not parts:
            role = self._role(real)
        found = self.tree.look(real, role) if role else None
        looked = Looked(parts, real, role, found)
        if found is not None and not isinstance(found, Spot) and real is parts and _steady(*found):
            if len(known) >= PLACES_MOST:
                known.clear()
            known[path] = looked
        return looked

    def _light(self, real: tuple[str, ...]) -> bool:
        if real[:1] == ("nodes",) and real[2:3] == ("fs",):
            return False  # on another machine
        for place, names in self.tree.table.matches(real):
            row = place.row
            if row is not None:
                return row.room not in _HEAVY and (not row.view or self._behaviour(row).light)
            if any(below.room in _HEAVY for below in place.rows) and (names or real == ("agents",)):
                return False
        return True

    def _start(self, path: str) -> tuple[str, ...]:
        self._seer.refresh()
        return paths.segments(paths.parse(path))

    def _real(self, parts: tuple[str, ...], role: str) -> tuple[str, ...]:
        """The path behind the links that it walks through. A link that is last is itself."""
        for _ in range(LINKS_MOST):
            if len(parts) < 5 or parts[0] != "projects":
                return parts
            found = self.tree.look(parts[:4], role)
            if found is None or isinstance(found, Spot):
                return parts
            row, names = found
            if row is None or row.view not in _LINKS:
                return parts
            link = cast("projects.Link", self.tree.behaviours[row.view])
            parts = paths.segments(link.target(names)) + parts[4:]
        raise BadInput("too many links", path="/" + "/".join(parts), op="walk")

    def _place(self, path: str, op: str) -> tuple[tuple[str, ...], Row, Names]:
        parts = self._start(path)
        real = self._real(parts, self._role(parts))
        role = self._role(real)
        found = self.tree.found(real)
        if found is None or not role:
            if role and self.tree.look(real, role) is not None:
                raise BadInput("it is a directory", path=path, op=op, actor=self.binding.role, code="eisdir")
            raise self._absent(path, op)
        row, names = found
        # Who may write but not read (an inbox) sees the name as far as it may write it.
        if op == "read" or not may_write(row, role):
            demand_read(row, role, path)
        if row.kind is not Kind.DROP and not self._there(row, names):
            raise self._absent(path, op)
        if not row.view and row.pattern.endswith("*}"):
            spot = self.tree.look(real, role)
            if isinstance(spot, Spot) and spot.directory:
                raise BadInput("it is a directory", path=path, op=op, actor=self.binding.role, code="eisdir")
        return real, row, names

    def _there(self, row: Row, names: Names) -> bool:
        if not row.pattern.endswith("*}"):
            return self._rooms.exists(row, names) or (row.room in _HEAVY and bool(row.writers))
        if not row.view:
            return True
        branch = cast("Branch", self.tree.behaviours[row.view])
        spot = branch.look(names)
        if spot is not None and spot.directory:
            raise BadInput("it is a directory", path=row.fill(names), code="eisdir")
        return spot is not None

    def _absent(self, path: str, op: str) -> NotFound:
        return NotFound("no such file", path=path, op=op, actor=self.binding.role)

    def _behaviour(self, row: Row) -> Behaviour:
        return cast("Behaviour", self.tree.behaviours[row.view]) if row.view else _STORED

    def _writable(self, row: Row, names: Names, role: str) -> bool:
        if not may_write(row, role):
            return False
        if row.view == "stop":
            return True  # who sees a robot may stop it
        if row.room == "workspace" and row.kind in _ORDERS and not self._seer.sight.commands(names.get("node", "")):
            return False
        if row.pattern.endswith("*}"):
            return True
        return not row.view or self._behaviour(row).writable(names)

    def _spot(self, shown: str, name: str, spot: Spot) -> Stat:
        kind = None if spot.directory else Kind.CONTROL if spot.writable else Kind.VIEW
        return Stat(identity(shown), name, shown, spot.directory, spot.size, spot.writable, spot.revision, kind)

    def _size(self, row: Row, names: Names) -> tuple[int, str]:
        if not row.view:
            stored = self._rooms.store(row, names).get(self._rooms.key(row, names))
            return (len(stored.data), stored.revision) if stored is not None else (0, "")
        behaviour = self._behaviour(row)
        if row.blocking and row.room not in _HEAVY and behaviour.wait(names) is not None:
            return own.WAITING_SIZE, ""
        size = behaviour.size(names)
        return len(behaviour.read(names)) if size is None else size, ""


def _steady(row: Row | None, names: Names) -> bool:
    """Is a place there as long as nothing changed that a sight is made of? Jobs, agents and links come and go."""
    if row is None:
        return "job" not in names and "agent" not in names
    return row.room in _STEADY and row.kind is not Kind.LINK


_STORED: Final = cast("Behaviour", Leaf())
