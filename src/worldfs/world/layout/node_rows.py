"""The rows of the root and of nodes: nodes, services and mounts (004; reference 4.1, 4.2)."""

from __future__ import annotations

from worldfs.access.roles import ASKERS, EVERYBODY
from worldfs.tree.row_table import FileKind, FileRow

from .row_builders import directory_rows, literal_row, view_row

NODE = "/nodes/{node}"
SERVICE = NODE + "/services/{service}"

_ROOT = {"kind": "root", "entries": ["nodes", "agents", "projects", "meta", "debug"]}
_NODES = {
    "kind": "collection",
    "entries": "node directories",
    "shape": "/nodes/<node_id>/{services,fs,camera,screen,user,terminal}",
}
_SERVICES = {
    "kind": "collection",
    "entries": "service_id",
    "shape": "/nodes/<node_id>/services/<service_id>/"
    "{SCHEMA.json,STATUS.json,CAPS.json,MOUNTS.json,OPS.json,RUNTIME.json,PERMISSIONS.json}",
}
DESCRIPTORS = {
    "README.md": "what the service is for, in its own words where it has any",
    "SCHEMA.json": "the shape of the service",
    "STATUS.json": "whether it works, and its first endpoint",
    "CAPS.json": "what it can do; `invoke` says that it takes orders",
    "MOUNTS.json": "where it hangs below its node",
    "OPS.json": "its verbs",
    "RUNTIME.json": "what carries it out",
    "PERMISSIONS.json": "who may see and use it",
}

ROWS: tuple[FileRow, ...] = (
    *directory_rows("/", "The world", "Everything there is, as files: read to know, write to act.", _ROOT),
    *directory_rows(
        "/nodes", "Nodes", "Whatever can be addressed: robots, machines, simulators, hosts of agents.", _NODES
    ),
    *directory_rows(
        NODE, "Node {node}", "One node: what it is, how it is, what it offers, and where that hangs.", mount="node"
    ),
    literal_row(
        NODE + "/SCHEMA.json",
        {"kind": "node", "children": "services + mount roots"},
        "the shape of this directory",
        mount="node",
    ),
    view_row(
        NODE + "/CAPS.json",
        "which kinds of resource it has, by the services that you may see",
        "node_caps",
        mount="node",
    ),
    view_row(NODE + "/STATUS.json", "whether the node is there", "node_status", mount="node"),
    view_row(NODE + "/NODE.json", "the node as the control plane knows it", "node_record", mount="node"),
    *directory_rows(
        NODE + "/services",
        "Services of {node}",
        "What the node offers, one directory a service.",
        _SERVICES,
        mount="node",
    ),
    view_row(NODE + "/services/SERVICES.json", "the services in one list", "node_services", mount="node"),
    *(
        view_row(f"{SERVICE}/{name}", about, "service_file", mount="service")._replace(given={"file": name})
        for name, about in DESCRIPTORS.items()
    ),
    FileRow(
        SERVICE + "/{inside*}",
        FileKind.CONTROL,
        "where a service hangs that has no place of its own below its node: control/, status.json, result.json",
        EVERYBODY,
        ASKERS,
        view="service_inside",
        mount="service",
    ),
    FileRow(
        NODE + "/{mount*}",
        FileKind.CONTROL,
        "where services hang: exported files below fs/, and below a service that takes orders control/invoke.json, "
        "control/<op>.json, status.json and result.json",
        EVERYBODY,
        ASKERS,
        view="mounts",
        mount="node",
    ),
)
