"""The things that the judge is asked about for a binding, a caller or a principal."""

# The annotations are evaluated: typing.NamedTuple compiles each that is text, which takes longer.

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from worldfs.tree.row_table import FileRow

from .binding import Binding
from .decision import Decision

if TYPE_CHECKING:
    from .tokens import TokenStore


class ServedFile(NamedTuple):
    """A file of the served tree. `role`: the file role of the binding at its real path (`Binding.role_at`)."""

    row: FileRow
    names: Mapping[str, str]
    role: str


class NodeName(NamedTuple):
    id: str


class RobotName(NamedTuple):
    """A node of the home's own workspace. "" as the thing of a command: every robot."""

    id: str


class AgentName(NamedTuple):
    id: str


class ProjectName(NamedTuple):
    id: str


class ExportName(NamedTuple):
    """An export of a node. `whole`: the `fs` service of the node is visible, and with it every export."""

    node: str
    export: str
    whole: bool


class ServicePermissions(NamedTuple):
    """`permissions` of a service's description, as its node sent them."""

    value: object


class JobOwner(NamedTuple):
    """The agent and the project of a job."""

    agent: str
    project: str


OPEN, TOKEN, ADMINS, DENY = "open", "token", "admin", "deny"  # modes of an action of a project


class ExportMount(Protocol):
    """A mount of a project, as far as rights go."""

    @property
    def node_id(self) -> str: ...
    @property
    def export_name(self) -> str: ...


class ProjectRules(Protocol):
    """A project, as far as rights go. `actions`, and by agent `agents`: the mode of an action."""

    @property
    def project_id(self) -> str: ...
    @property
    def token(self) -> str: ...
    @property
    def actions(self) -> Mapping[str, str]: ...
    @property
    def agents(self) -> Mapping[str, Mapping[str, str]]: ...
    @property
    def protected(self) -> bool: ...
    @property
    def system(self) -> bool: ...
    @property
    def locked(self) -> bool: ...
    @property
    def nodes(self) -> Sequence[str]: ...
    @property
    def mounts(self) -> Sequence[ExportMount]: ...


class ProjectScope(NamedTuple):
    """A project for a binding as it is: what it sees, and what is pushed to it. None: no such project.

    `own`: as the project that the binding works in.
    """

    project: ProjectRules | None
    own: bool = False


class ProjectRequest(NamedTuple):
    """A project for one request. `given`: the token in its payload. `bound`: the token of the caller's binding counts
    too. `own`: the caller would work in the project from then on."""

    project: ProjectRules | None
    given: object = None
    bound: bool = False
    own: bool = False


class ProjectToken(NamedTuple):
    """The token of a project. `given`: the one that the caller knows already."""

    token: str
    given: str


class ExportTarget(NamedTuple):
    """The target of a mount, and all projects."""

    node: str
    export: str
    projects: Iterable[ProjectRules]


class OperationRights(Protocol):
    """The rights of a row of the control operations."""

    @property
    def admin(self) -> bool: ...
    @property
    def own(self) -> bool: ...
    @property
    def node(self) -> bool: ...
    @property
    def mutation(self) -> bool: ...


class OperationCall(NamedTuple):
    """`token`: what a configured plane asks for beside the role, "" for nothing; `given`: what the payload holds."""

    row: OperationRights
    token: str
    given: object


class NodeClaim(NamedTuple):
    """A node, for a caller that speaks as it. `secret`: None if there is no such node; `given`: in the payload."""

    node: str
    secret: str | None
    given: object


class ServiceEvents(NamedTuple):
    """The changes of services. `for_users`: the plane is configured to send them to users."""

    for_users: bool


class AgentClaim(NamedTuple):
    """An agent, for a principal that wants to act as it."""

    agent: str
    tokens: "TokenStore"


class AttachableProjects(Protocol):
    """The projects of the control plane."""

    def project_ids(self) -> Sequence[str]: ...
    def allows(self, binding: Binding, action: str) -> bool: ...
    def attachable(self, binding: Binding) -> Decision: ...


class AttachClaim(NamedTuple):
    """A binding, for a principal that wants to be bound so."""

    binding: Binding
    tokens: "TokenStore"
    projects: AttachableProjects


class UnboundCall(NamedTuple):
    """A control operation of a connection without a binding. `free`: it needs none."""

    free: bool


class Realm(Enum):
    """What there is once in a served world."""

    DEBUG = "the debug directory"
    WORKSPACE = "the home's own workspace"
    STATUS = "the report of the home's own workspace"
    OWN_SERVICES = "the services that every agent has"
    MOUNT_SECRETS = "the secrets of the nodes behind a project's mounts"
    PUSHES = "the pushes of all projects"
    ROLE_TOKENS = "the tokens of the roles, which are the operator's"
    EVERY_AGENT = "the names of all agents"
    EVERY_PROJECT = "the figures of all projects together"
    JOIN_REQUESTS = "the requests of nodes to join"
