"""The verbs of the judge: what an actor wants to do to a thing."""

from __future__ import annotations

from enum import StrEnum


class Verb(StrEnum):
    READ = "read"
    WRITE = "write"
    WRITE_AT_STARTUP = "write at startup"  # while the world is being assembled
    REMOVE = "remove"  # a name goes, comes or changes: remove, rename, mkdir
    SEE = "see"  # to know that it is there
    OBSERVE = "observe"  # its state and its changes
    INVOKE = "invoke"
    MOUNT = "mount"
    ADMIN = "admin"  # to change it, its policy and its token
    CALL = "call"
    ATTACH = "attach"  # to be bound to it
    COMMAND = "command"  # to give an order to a node
    STOP = "stop"
    RESUME = "resume"  # to end a stop
    APPROVE = "approve"  # of a plan that waits
