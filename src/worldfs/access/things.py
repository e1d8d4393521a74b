"""The things that the judge is asked about, as far as they are no rows of the layout."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from worldfs.tree.row_table import FileRow


class ServedFile(NamedTuple):
    """A file of the served tree. `role`: the file role of the binding at its real path (`visibility.role_at`)."""

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


class Realm(Enum):
    """What there is once in a served world."""

    DEBUG = "the debug directory"
    WORKSPACE = "the home's own workspace"
    STATUS = "the report of the home's own workspace"
    OWN_SERVICES = "the services that every agent has"
