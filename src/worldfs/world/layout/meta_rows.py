"""The rows about the tree itself, and those of pairing, visible to an operator whose policy shows them."""

from __future__ import annotations

from worldfs.access.roles import EVERYBODY, OPERATOR, readers
from worldfs.tree.row_table import FileKind, FileRow

from .row_builders import control_row, directory_rows, literal_row, view_row

PROTOCOL = {
    "channel": "acheron",
    "version": "acheron-1",
    "layout": "world-v1",
    "ops": ["t_version", "t_attach", "t_walk", "t_open", "t_read", "t_write", "t_stat", "t_clunk", "t_flush"],
}
META_SCHEMA = {
    "kind": "meta",
    "entries": [
        "protocol.json",
        "view.json",
        "workspace_status.json",
        "workspace_availability.json",
        "workspace_health.json",
        "workspace_alerts.json",
    ],
}
_OF_PROJECT = {
    "workspace_status": "the project's meta/workspace_status.json",
    "workspace_availability": "the project's meta/availability.json",
    "workspace_health": "the project's meta/health.json",
    "workspace_alerts": "the project's meta/alerts.json",
}
_DEBUG = readers(OPERATOR)
_PAIRING = "/debug/pairing"
_INVITES = _PAIRING + "/invites"


def _record(path: str, about: str, name: str) -> FileRow:
    return view_row(path, about, name, mount="debug", readers=_DEBUG)


def _pair(path: str, about: str, action: str) -> FileRow:
    row = control_row(path, about, "pairing_control", {OPERATOR: ""}, mount="debug", readers=_DEBUG)
    return row._replace(given={"action": action})


def _folder(path: str, title: str, about: str, schema: object, caps: object = None) -> tuple[FileRow, ...]:
    return directory_rows(path, title, about, schema, caps, mount="debug", readers=_DEBUG)


ROWS: tuple[FileRow, ...] = (
    FileRow(
        "/meta/README.md",
        FileKind.VIEW,
        "this tree, explained from its own table",
        EVERYBODY,
        view="pages",
        mount="house",
    ),
    FileRow("/meta/SCHEMA.json", FileKind.VIEW, "the table of files as data", EVERYBODY, view="schema", mount="house"),
    literal_row("/meta/CAPS.json", {"read": True, "write": False}, "what can be done here"),
    literal_row("/meta/protocol.json", PROTOCOL, "the protocol that serves this tree"),
    view_row("/meta/view.json", "who you are here, and how much policy shows you", "view"),
    view_row(
        "/meta/status.json", "what `paos status` says: the kernel, nodes, jobs and alerts that you see", "world_status"
    ),
    *(
        view_row(f"/meta/{name}.json", about, "own_project")._replace(given={"file": name.removeprefix("workspace_")})
        if name != "workspace_status"
        else view_row(f"/meta/{name}.json", about, "own_project")._replace(given={"file": name})
        for name, about in _OF_PROJECT.items()
    ),
    *_folder(
        "/debug",
        "Debug",
        "For whoever runs this place: what the control plane says, and who wants to join.",
        {"kind": "debug", "entries": ["README.md", "stream.log", "pairing"]},
    ),
    _record("/debug/stream.log", "pushes of the control plane to this connection, one a line", "stream_log"),
    *_folder(
        _PAIRING,
        "Pairing",
        "Nodes that ask to join, and what was decided. Read pending.json, then write a request_id into control/.",
        {
            "kind": "pairing_queue",
            "entries": ["pending.json", "last_result.json", "last_error.json", "control", "invites"],
        },
    ),
    _record(_PAIRING + "/pending.json", "who waits for a decision", "pairing_pending"),
    _record(_PAIRING + "/last_result.json", "what the last decision did", "pairing_result")._replace(
        given={"queue": "pending"}
    ),
    _record(_PAIRING + "/last_error.json", "why the last one failed; null if it did not", "pairing_error")._replace(
        given={"queue": "pending"}
    ),
    *_folder(
        _PAIRING + "/control",
        "Pairing control",
        "Each file takes the payload of one operation; the outcome stands in ../last_result.json.",
        {
            "kind": "pairing_control",
            "writes": {
                "approve.json": "control.node_join_approve payload",
                "deny.json": "control.node_join_deny payload",
                "refresh": "refresh pending queue snapshot",
            },
        },
        {"approve": True, "deny": True, "refresh": True},
    ),
    _pair(_PAIRING + "/control/approve.json", 'let a node in: {"request_id": …}', "approve"),
    _pair(_PAIRING + "/control/deny.json", 'send a node away: {"request_id": …}', "deny"),
    _pair(_PAIRING + "/control/refresh", "write anything to look again", "refresh"),
    *_folder(
        _INVITES,
        "Invites",
        "Tokens with which a node joins at once, each of them once.",
        {
            "kind": "pairing_invites",
            "entries": ["active.json", "last_result.json", "last_error.json", "control"],
        },
    ),
    _record(_INVITES + "/active.json", "invites that still work", "pairing_active"),
    _record(_INVITES + "/last_result.json", "what the last action did", "pairing_result")._replace(
        given={"queue": "invites"}
    ),
    _record(_INVITES + "/last_error.json", "why the last one failed; null if it did not", "pairing_error")._replace(
        given={"queue": "invites"}
    ),
    *_folder(
        _INVITES + "/control",
        "Invite control",
        "Each file takes the payload of one operation; the outcome stands in ../last_result.json.",
        {
            "kind": "pairing_invite_control",
            "writes": {
                "create.json": "control.node_invite_create payload",
                "refresh": "refresh active invite snapshot",
            },
        },
        {"create": True, "refresh": True},
    ),
    _pair(_INVITES + "/control/create.json", 'make an invite: {"expires_in_ms": …}, or nothing', "invites_create"),
    _pair(_INVITES + "/control/refresh", "look again; may ask for redeemed and expired ones too", "invites_refresh"),
)
