"""The files of nodes and of their services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldfs.ground.errors import NotFound
from worldfs.tree.leaf import Behaviour, Names

from ..compact import compact
from .node import NodeView, described
from .seen import Seen, Seer

if TYPE_CHECKING:
    from .services import Service


def views(seer: Seer) -> dict[str, Behaviour]:
    return {
        "node_caps": Caps(seer),
        "node_status": Status(seer),
        "node_record": Record(seer),
        "node_services": Services(seer),
        "service_file": ServiceFile(seer),
        "services_index": Index(seer),
    }


class _Node(Seen):
    def view(self, names: Names) -> NodeView:
        view = self.seer.sight.node(names["node"])
        if view is None:
            raise NotFound("no such node", path=f"/nodes/{names['node']}", op="read")
        return view

    def service(self, names: Names) -> Service:
        view = self.view(names)
        found = view.by_id.get(names["service"])
        if found is None:
            raise NotFound("no such service", path=f"/nodes/{view.id}/services/{names['service']}", op="read")
        return found


class Caps(_Node):
    def read(self, names: Names) -> bytes:
        return compact(self.view(names).caps)


class Status(_Node):
    def read(self, names: Names) -> bytes:
        return compact(self.seer.sight.node_status(self.view(names)))


class Record(_Node):
    """NODE.json: the literal payload of `control.node_get`; nodes that the control plane does not know have none."""

    def read(self, names: Names) -> bytes:
        record = self.seer.sight.sources.plane.node(names["node"])
        if record is None:
            raise NotFound("the control plane does not know this node", path=f"/nodes/{names['node']}", op="read")
        return compact({"node": record})

    def exists(self, names: Names) -> bool:
        return self.seer.sight.sources.plane.node(names["node"]) is not None


class Services(_Node):
    def read(self, names: Names) -> bytes:
        return compact(self.view(names).listed)


class ServiceFile(_Node):
    def read(self, names: Names) -> bytes:
        service, file = self.service(names), names["file"]
        if file != "README.md":
            return compact(described(service, file))
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


class Index(Seen):
    """The agent's SERVICES.json."""

    def read(self, names: Names) -> bytes:
        return self.seer.sight.services_index
