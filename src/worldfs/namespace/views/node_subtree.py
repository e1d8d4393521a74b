"""The tree below a node: exported files, endpoints that take orders, and the directories on the way to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from worldfs.access.decision import READ_ONLY
from worldfs.access.judge import judge
from worldfs.access.things import ExportName
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.tree.verb_values import Stat, Wait, WriteContext, Written
from worldfs.tree.virtual_file import Names, Subtree

from ..namespace_ports import NodeExports, OrderPort, ServiceEndpoint
from .bound_file import ViewContext
from .node_view import NodeView, ServiceDirectory
from .visible_services import VisibleService

_README = "README.md"


def subtrees(context: ViewContext) -> dict[str, Subtree]:
    return {"mounts": NodeSubtree(context), "service_inside": ServiceSubtree(context)}


class EndpointFile(NamedTuple):
    """A file of an endpoint."""

    read: Callable[[], bytes]
    write: Callable[[bytes, WriteContext], Written] | None = None


class _ComputedSubtree:
    """Directories and files that are computed: `_dir` and `_file` say which."""

    light = True

    def __init__(self, context: ViewContext) -> None:
        self.context = context

    def _node(self, names: Names) -> NodeView:
        view = self.context.visible.node(names["node"])
        if view is None:
            raise NotFound(coded("tree.no_node"), path=f"/nodes/{names['node']}", op="walk")
        return view

    def _orders(self, view: NodeView, service: VisibleService) -> OrderPort:
        place = ServiceEndpoint(
            view.place(service), service.id, view.id, service.operations, as_object(service.raw.get("runtime"))
        )
        return self.context.actions.endpoint(place)

    def _order_files(self, service: VisibleService, rest: tuple[str, ...]) -> list[str] | None:
        """Names in a directory of an endpoint, "/" at the end of a directory; None: no such directory."""
        if not rest:
            return ["control/", "status.json", "result.json"]
        if rest == ("control",):
            return [_README, "invoke.json", *(f"{name}.json" for name in service.operations)]
        return None

    def _order_file(self, view: NodeView, service: VisibleService, rest: tuple[str, ...]) -> EndpointFile | None:
        names = self._order_files(service, rest[:-1])
        if names is None or rest[-1] not in names:
            return None
        if rest[-1] == _README:
            return EndpointFile(lambda: _how(view, service))
        orders = self._orders(view, service)
        if rest == ("status.json",):
            return EndpointFile(orders.status)
        if rest == ("result.json",):
            return EndpointFile(orders.result)
        file = rest[-1]
        return EndpointFile(lambda: orders.control(file), lambda data, ask: orders.write(file, data, ask))

    # -- overridden ---------------------------------------------------------------------------------------------------

    def _dir(self, names: Names) -> list[str] | None:
        raise NotImplementedError

    def _file(self, names: Names) -> EndpointFile | None:
        raise NotImplementedError

    # -- a subtree ----------------------------------------------------------------------------------------------------

    def dir_entry(self, names: Names) -> Stat | None:
        file = self._file(names)
        if file is not None:
            return Stat(False, len(file.read()), file.write is not None)
        return Stat(True) if self._dir(names) is not None else None

    def list(self, names: Names) -> list[str]:
        return self._dir(names) or []

    def read(self, names: Names) -> bytes:
        file = self._file(names)
        if file is None:
            raise NotFound(coded("tree.no_file"), op="read")
        return file.read()

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        file = self._file(names)
        if file is None:
            raise NotFound(coded("tree.no_file"), op="write")
        if file.write is None:
            raise READ_ONLY.error(op="write", actor=ask.actor)
        return file.write(data, ask)

    def wait(self, names: Names) -> Wait | None:
        return None


class ServiceSubtree(_ComputedSubtree):
    """Below /nodes/<node>/services/<service>, for a service that has no mount below its node."""

    def _service(self, names: Names) -> VisibleService | None:
        view = self._node(names)
        service = view.by_id.get(names["service"])
        return service if service is not None and view.inside(service) else None

    def _dir(self, names: Names) -> list[str] | None:
        service = self._service(names)
        return self._order_files(service, _parts(names["inside"])) if service is not None else None

    def _file(self, names: Names) -> EndpointFile | None:
        service, rest = self._service(names), _parts(names["inside"])
        return self._order_file(self._node(names), service, rest) if service is not None and rest else None


class NodeSubtree(_ComputedSubtree):
    """Below /nodes/<node>."""

    def _find(self, view: NodeView, parts: tuple[str, ...]) -> tuple[ServiceDirectory, tuple[str, ...]] | None:
        """The last existing directory on the way, and the rest of the path."""
        here, rest = view.folders, parts
        while rest and rest[0] in here.below:
            here, rest = here.below[rest[0]], rest[1:]
        return (here, rest) if here is not view.folders or not parts else None

    def _dir(self, names: Names) -> list[str] | None:
        view = self._node(names)
        found = self._find(view, _parts(names["mount"]))
        if found is None:
            return None
        here, rest = found
        own = self._order_files(here.service, rest) if here.service is not None else None
        if rest:
            return own
        below = [f"{name}/" for name in here.below]
        return [*(own or ()), *below] if here is view.folders else [_README, *(own or ()), *below]

    def _file(self, names: Names) -> EndpointFile | None:
        view, parts = self._node(names), _parts(names["mount"])
        found = self._find(view, parts)
        if found is None or not found[1]:
            return None
        here, rest = found
        if rest == (_README,):
            return EndpointFile(lambda: _words(view, parts[:-1], here))
        return self._order_file(view, here.service, rest) if here.service is not None else None

    # -- exported files -----------------------------------------------------------------------------------------------

    def exported(self, names: Names) -> tuple[NodeExports | None, str] | None:
        """The exports of a node and a path in them; None for any other path. Raises `NotFound`.

        No exports: the node cannot be reached.
        """
        parts = _parts(names["mount"])
        if not parts or parts[0] != "fs" or parts == ("fs", _README):
            return None
        view = self._node(names)
        if "fs" not in view.folders.below:
            return None
        if len(parts) > 1 and not self._sees_export(view, parts[1]):
            raise NotFound(coded("tree.no_export"), path=f"/nodes/{view.id}/{'/'.join(parts)}", op="walk")
        return self.context.mounted(view.id), "/".join(parts[1:])

    def reached(self, names: Names, op: str) -> tuple[NodeExports, str] | None:
        """As `exported`, for a node that answers, and a path within one of its exports."""
        found = self.exported(names)
        if found is None:
            return None
        exports, path = found
        if exports is None:
            raise NotFound(coded("tree.node_unreachable"), path=f"/nodes/{names['node']}/fs/{path}", op=op)
        if not path:
            raise BadInput(coded("tree.is_directory"), path=f"/nodes/{names['node']}/fs", op=op, code="eisdir")
        return exports, path

    def dir_entry(self, names: Names) -> Stat | None:
        try:
            exported = self.exported(names)
        except NotFound:
            return None
        if exported is None:
            return super().dir_entry(names)
        exports, path = exported
        if not path:
            return Stat(True)
        return exports.dir_entry(path) if exports is not None else None

    def list(self, names: Names) -> list[str]:
        exported = self.exported(names)
        if exported is None:
            return super().list(names)
        exports, path = exported
        found = exports.list(path) if exports is not None else []
        if path:
            return found
        view = self._node(names)
        return [_README, *(name for name in found if self._sees_export(view, name.rstrip("/")))]

    def _sees_export(self, view: NodeView, export: str) -> bool:
        whole = any(service.kind == "fs" for service in view.services)
        return bool(judge(self.context.visible, Verb.SEE, ExportName(view.id, export, whole)))

    def read(self, names: Names) -> bytes:
        reached = self.reached(names, "read")
        return super().read(names) if reached is None else reached[0].read(reached[1])

    def write(self, names: Names, data: bytes, ask: WriteContext) -> Written | None:
        reached = self.reached(names, "write")
        if reached is None:
            return super().write(names, data, ask)
        return Written(reached[0].write(reached[1], data, ask.offset))


def _parts(rest: str) -> tuple[str, ...]:
    return tuple(rest.split("/")) if rest else ()


def _how(view: NodeView, service: VisibleService) -> bytes:
    """The README.md of a control directory: the ops, and where their parameters are described."""
    first = next(iter(service.operations), "")
    files = [
        f'- `invoke.json`: any op: {{"op": "{first or "…"}", "args": {{…}}}}; beside args, as in ACTION.md: '
        "priority, timeouts, retry, depends_on"
    ]
    files += [f"- `{name}.json`: what {name} takes, alone" for name in service.operations]
    return (
        f"# Control of {service.id}\n\nEach file takes one JSON object and acts at once; ../status.json and "
        f"../result.json tell what came of it.\nWhat an op takes stands in /nodes/{view.id}/services/{service.id}/"
        f"SCHEMA.json, as far as the node says so.\n\n" + "\n".join(files) + "\n"
    ).encode()


def _words(view: NodeView, parts: tuple[str, ...], here: ServiceDirectory) -> bytes:
    path = "/".join(parts)
    if parts == ("fs",):
        text = "The directories that this node exports; empty while the node cannot be reached."
    elif here.service is not None:
        text = f"Here the service {here.service.id} takes orders: write JSON into control/invoke.json."
    else:
        text = "Services of this node are mounted here."
    return f"# {path} of {view.id}\n\n{text}\n".encode()
