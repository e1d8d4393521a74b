"""The ports of the served tree: control plane, agents' jobs, node file systems and the home's own nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from worldfs.access.binding import Binding
from worldfs.tree.verb_values import Stat, Wait, WriteContext, Written

if TYPE_CHECKING:
    from worldfs.storage.dated_versions import DatedVersions

Json = dict[str, object]


class PlaneReader(Protocol):
    """Reads of the control plane. All of it from memory."""

    @property
    def version(self) -> int: ...

    def node_ids(self) -> Sequence[str]: ...

    def node(self, node_id: str) -> Json | None: ...

    def online(self, node_id: str) -> str:
        """online | degraded | missing"""
        ...

    def catalog(self, node_id: str) -> Sequence[Json] | None:
        """None: unknown; []: the node has no services."""
        ...

    def project_ids(self) -> Sequence[str]: ...

    def project(self, project_id: str) -> Json | None: ...

    def status(self, binding: Binding) -> Json | None:
        """The workspace status of the binding's project, redacted for it."""
        ...

    def allows(self, binding: Binding, action: str) -> bool: ...

    def holds_token(self, binding: Binding) -> bool:
        """Whether the binding's token is its project's present one."""
        ...

    def members(self, project_id: str) -> Sequence[str]:
        """The nodes of a project: those of its mounts, and its other members."""
        ...

    def pending(self) -> list[Json]: ...

    def invites(self, redeemed: bool = False, expired: bool = False) -> list[Json]: ...


class LocalNode(NamedTuple):
    """A node of the home's own workspace.

    `services` are S of acheron §3.2: a robot has one, a target one for each skill.
    """

    id: str
    services: list[Json]


class ServiceEndpoint(NamedTuple):
    """The directory of a service that takes orders: the agent's own ("memory", "contract:memory"), or a node's."""

    place: str  # the directory, as calls name it: "memory", "services/contracts/memory", or "/nodes/<id>/<mount>"
    service: str
    node: str = ""
    ops: Mapping[str, str] = {}  # name of an op's file → tool
    runtime: Mapping[str, object] = {}


class OrderPort(Protocol):
    """One endpoint that takes orders, for one binding."""

    def control(self, file: str) -> bytes: ...

    def write(self, file: str, data: bytes, ask: WriteContext) -> Written: ...

    def status(self) -> bytes: ...

    def result(self) -> bytes: ...


class JobsPort(Protocol):
    """The jobs of a binding's agent in its project."""

    def ids(self) -> Sequence[str]: ...

    def has(self, job: str) -> bool: ...

    def file(self, job: str, name: str) -> bytes:
        """`name`: status | result | log"""
        ...

    def past(self, job: str, name: str) -> DatedVersions: ...

    def wait(self, job: str) -> Wait | None:
        """None: it has ended."""
        ...

    def cancel(self, job: str) -> None: ...


class ChatPort(Protocol):
    """Chat and events of one binding."""

    def send(self, text: bytes, ask: WriteContext) -> Written: ...

    def selector(self) -> bytes: ...

    def select(self, data: bytes) -> None: ...

    def next(self) -> bytes: ...

    def wait(self) -> Wait | None: ...


class ActionsPort(Protocol):
    """The actions that a binding may start."""

    @property
    def jobs(self) -> JobsPort: ...

    @property
    def chat(self) -> ChatPort: ...

    def endpoint(self, place: ServiceEndpoint) -> OrderPort: ...


class NodeExports(Protocol):
    """The exports of one node, reached over its tunnel or on this machine. Paths have no leading "/"."""

    def dir_entry(self, path: str) -> Stat | None: ...

    def list(self, path: str) -> list[str]: ...

    def dir_entries(self, path: str) -> dict[str, Stat]:
        """As `list`, with the `dir_entry` of each."""
        ...

    def read(self, path: str) -> bytes: ...

    def write(self, path: str, data: bytes, offset: int) -> int: ...

    def replace(self, path: str, data: bytes) -> None:
        """The whole content at once."""
        ...

    def truncate(self, path: str, size: int) -> None: ...

    def create(self, path: str) -> object: ...

    def mkdir(self, path: str) -> None: ...

    def remove(self, path: str) -> None: ...

    def rename(self, old: str, new: str) -> None: ...


ExportsLookup = Callable[[str], "NodeExports | None"]  # by node id
