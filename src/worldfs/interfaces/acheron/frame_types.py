"""The frame types: those that a client may send, and those that only a server sends."""

from __future__ import annotations

from typing import Final

from worldfs.control.control_operations import ROWS

ACHERON_REQUESTS: Final = (
    "version", "attach", "walk", "open", "read", "write", "stat", "clunk", "flush",
    "create", "remove", "rename", "setattr",
)  # fmt: skip
_FS: Final = (
    "hello", "exports", "lookup", "getattr", "readdirp", "symlink", "setxattr", "getxattr", "listxattr", "removexattr",
    "open", "read", "close", "lock", "create", "write", "truncate", "unlink", "mkdir", "rmdir", "rename", "statfs",
)  # fmt: skip
ACHERON: Final = frozenset(
    f"acheron.{way}_{op}" for way in "tr" for op in (*ACHERON_REQUESTS, *(f"fs_{op}" for op in _FS))
) | {"acheron.error", "acheron.err_fs", "acheron.e_fs_inval", "acheron.e_fs_inval_dir"}
CONTROL_REPLIES: Final = frozenset({
    "control.version_ack", "control.connect_ack", "control.pong", "control.error", "control.node_service_event",
})  # fmt: skip
CONTROL: Final = frozenset(f"control.{op}" for op in ROWS) | CONTROL_REPLIES
KNOWN: Final = ACHERON | CONTROL
