"""The files of nodes and of their services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound
from worldfs.base.json_text import compact_json
from worldfs.base.messages import coded
from worldfs.tree.virtual_file import FileBehaviour, Names

from .bound_file import BoundFile, ViewContext
from .node_view import NodeView, descriptor

if TYPE_CHECKING:
    from .visible_services import VisibleService


def views(context: ViewContext) -> dict[str, FileBehaviour]:
    return {
        "node_caps": NodeCapsFile(context),
        "node_status": NodeStatusFile(context),
        "node_record": NodeRecordFile(context),
        "node_services": NodeServicesFile(context),
        "service_file": ServiceFile(context),
        "services_index": AgentServicesFile(context),
    }


class _NodeFile(BoundFile):
    def view(self, names: Names) -> NodeView:
        view = self.context.visible.node(names["node"])
        if view is None:
            raise NotFound(coded("tree.no_node"), path=f"/nodes/{names['node']}", op="read")
        return view

    def service(self, names: Names) -> VisibleService:
        view = self.view(names)
        found = view.by_id.get(names["service"])
        if found is None:
            raise NotFound(coded("tree.no_service"), path=f"/nodes/{view.id}/services/{names['service']}", op="read")
        return found


class NodeCapsFile(_NodeFile):
    fixed = True

    def read(self, names: Names) -> bytes:
        return compact_json(self.view(names).caps)


class NodeStatusFile(_NodeFile):
    def read(self, names: Names) -> bytes:
        return compact_json(self.context.visible.node_status(self.view(names)))


class NodeRecordFile(_NodeFile):
    """NODE.json: the payload of `control.node_get`; nodes that the control plane does not know have none."""

    def read(self, names: Names) -> bytes:
        record = self.context.visible.sources.plane.node(names["node"])
        if record is None:
            raise NotFound(coded("tree.unknown_node"), path=f"/nodes/{names['node']}", op="read")
        return compact_json({"node": record})

    def exists(self, names: Names) -> bool:
        return self.context.visible.sources.plane.node(names["node"]) is not None


class NodeServicesFile(_NodeFile):
    fixed = True

    def read(self, names: Names) -> bytes:
        return compact_json(self.view(names).listed)


class ServiceFile(_NodeFile):
    fixed = True

    def read(self, names: Names) -> bytes:
        service, file = self.service(names), names["file"]
        if file != "README.md":
            return compact_json(descriptor(service, file))
        words = service.raw.get("help_md")
        if isinstance(words, str) and words:
            return words.encode("utf-8", "replace")
        title = f"# Service {service.id}\n\nOf kind {service.kind or 'unknown'}, on node {names['node']}."
        how = (
            f" It takes orders: write JSON into {self.view(names).place(service)}/control/invoke.json."
            if service.invokes
            else ""
        )
        return f"{title}{how}\n".encode("utf-8", "replace")


class AgentServicesFile(BoundFile):
    """The agent's SERVICES.json."""

    fixed = True

    def read(self, names: Names) -> bytes:
        return self.context.visible.services_index
