"""Operations of projects: create, update, delete, lock, mount, activate.

Source: acheron §3.3; acheron D7, D17 (a list contains what the caller may read), acheron D19, D47 (a hidden
project does not exist for the caller), acheron D48 (`system` needs an admin who is the primary agent).
"""

from __future__ import annotations

from typing import Final, TypedDict

import msgspec

from worldfs.access.binding import SYSTEM
from worldfs.access.judge import judge
from worldfs.access.things import ExportTarget, ProjectRequest, ProjectScope, ProjectToken
from worldfs.access.verb import Verb
from worldfs.formats.wire.frames import Json

from .access_policy import read_policy
from .mount_selection import add
from .payload_fields import (
    NAME_MAX,
    VISION_MAX,
    export_name,
    flag,
    identifier,
    invalid,
    is_id,
    line,
    mount_path,
    optional,
    required_text,
)
from .plane_error import PlaneError
from .plane_records import ActiveProject, Mount, Project
from .plane_status import reconcile_status as reconciled
from .plane_status import workspace
from .transaction import Reply, Transaction, new_secret

PROJECTS_MAX: Final = 10_000
MOUNTS_MAX: Final = 1024
ACTIVES_MAX: Final = 10_000  # agents with an active project; a user may use any agent name


def require_project(transaction: Transaction, payload: Json) -> Project:
    """The project of the payload, if the caller may take the row's action on it."""
    verb, project_id = Verb(transaction.row.action), identifier(payload, "project_id")
    own, reads = transaction.row.op == "project_activate", verb in (Verb.READ, Verb.OBSERVE)
    return _permitted(transaction, project_id, verb, payload, bound=reads, own=own)


def _permitted(
    transaction: Transaction, project_id: str, verb: Verb, payload: Json, *, bound: bool = False, own: bool = True
) -> Project:
    project = transaction.state.project(project_id)
    request = ProjectRequest(project, payload.get("project_token"), bound, own)
    decision = judge(transaction.caller.binding, verb, request)
    if not decision:
        raise PlaneError.of(decision)
    assert project is not None  # nobody may use a project that does not exist
    return project


class ProjectFields(TypedDict, total=False):
    """What a payload says of a project, by the names of the record."""

    name: str
    vision: str
    status: str
    actions: dict[str, str]
    agents: dict[str, dict[str, str]]
    mounts: tuple[Mount, ...]


def _given_fields(payload: Json) -> ProjectFields:
    fields: ProjectFields = {}
    if payload.get("name") is not None:
        fields["name"] = line(payload["name"], NAME_MAX)
    if payload.get("vision") is not None:
        fields["vision"] = line(payload["vision"], VISION_MAX, empty=True)
    if payload.get("status") is not None:
        if not is_id(payload["status"], 64):
            raise invalid()
        fields["status"] = payload["status"]
    if payload.get("access_policy") is not None:
        fields["actions"], fields["agents"] = read_policy(payload["access_policy"])
    return fields


def create(transaction: Transaction, payload: Json) -> Json:
    """`{name,vision?,status?,access_policy?}` → P, not locked."""
    required_text(payload, "name")
    project = _created(transaction, _given_fields(payload))
    transaction.put_project(project)
    return project.to_json()


def _created(transaction: Transaction, fields: ProjectFields) -> Project:
    if len(transaction.state.projects) >= PROJECTS_MAX:
        raise PlaneError("control_plane_error", "TooManyProjects")
    project_id = transaction.fresh("proj", "projects", transaction.state.projects)
    transaction.count("creates")
    return Project(project_id=project_id, created_at_ms=transaction.now, updated_at_ms=transaction.now, **fields)


def _changed(transaction: Transaction, project: Project, **fields: object) -> Project:
    changed = msgspec.structs.replace(project, updated_at_ms=transaction.now, **fields)
    transaction.put_project(changed)
    return changed


def update(transaction: Transaction, payload: Json) -> Json:
    project = require_project(transaction, payload)
    fields = _given_fields(payload)
    if project.system and fields:
        raise PlaneError("project_protected")
    transaction.count("updates")
    return _changed(transaction, project, **fields).to_json()


def get(transaction: Transaction, payload: Json) -> Json:
    return require_project(transaction, payload).to_json()


def list_projects(transaction: Transaction, _: Json) -> Json:
    """All for an admin; for a user those that it may read."""
    projects, binding = transaction.state.projects, transaction.caller.binding
    rows = [projects[key] for key in transaction.state.project_ids()]
    return {
        "projects": [project.summary_json() for project in rows if judge(binding, Verb.READ, ProjectScope(project))]
    }


def delete(transaction: Transaction, payload: Json) -> Json:
    project = require_project(transaction, payload)
    if project.protected:
        raise PlaneError("project_protected")
    transaction.put("projects", project.project_id, None)
    for agent, active in transaction.state.actives.items():
        if active.project_id == project.project_id:
            transaction.put("actives", agent, None)
    transaction.count("project_deletes")
    transaction.touch_project(project.project_id)
    return {"deleted": True, "project_id": project.project_id}


def token_rotate(transaction: Transaction, payload: Json) -> Json:
    """A new token, which locks the project; the old one is invalid from now on."""
    project = require_project(transaction, payload)
    if project.system:
        raise PlaneError("project_protected")
    transaction.count("token_rotates")
    changed = _changed(transaction, project, token=new_secret("proj"))
    return {
        "project_id": changed.project_id,
        "project_token": changed.token,
        "rotated": True,
        "updated_at_ms": changed.updated_at_ms,
    }


def token_revoke(transaction: Transaction, payload: Json) -> Json:
    """Remove the token: unlocks the project."""
    project = require_project(transaction, payload)
    if project.system:
        raise PlaneError("project_protected")
    transaction.count("token_revokes")
    changed = _changed(transaction, project, token="")
    return {
        "project_id": changed.project_id,
        "project_token": None,
        "revoked": True,
        "updated_at_ms": changed.updated_at_ms,
    }


def _mount(transaction: Transaction, payload: Json) -> Mount:
    mount = Mount(mount_path(payload), identifier(payload, "node_id"), export_name(payload))
    if mount.node_id not in transaction.state.nodes:
        raise PlaneError("node_not_found")
    target = ExportTarget(mount.node_id, mount.export_name, transaction.state.projects.values())
    decision = judge(transaction.caller.binding, Verb.MOUNT, target)
    if not decision:
        raise PlaneError.of(decision)
    return mount


def mount_set(transaction: Transaction, payload: Json) -> Json:
    """Add a candidate; the same place on another node is a failover candidate."""
    project = require_project(transaction, payload)
    mounts = add(project.mounts, _mount(transaction, payload), MOUNTS_MAX)
    transaction.count("mount_sets")
    return _changed(transaction, project, mounts=mounts).to_json()


def mount_remove(transaction: Transaction, payload: Json) -> Json:
    """Remove all candidates of a place, or those of a node, or of an export."""
    project = require_project(transaction, payload)
    path, node_id, export = mount_path(payload), optional(payload, "node_id"), optional(payload, "export_name")
    kept = tuple(
        mount
        for mount in project.mounts
        if mount.mount_path != path or node_id not in (None, mount.node_id) or export not in (None, mount.export_name)
    )
    if len(kept) == len(project.mounts):
        raise PlaneError("mount_not_found")
    transaction.count("mount_removes")
    return _changed(transaction, project, mounts=kept).to_json()


def mount_list(transaction: Transaction, payload: Json) -> Json:
    project = require_project(transaction, payload)
    return {"project_id": project.project_id, "mounts": [mount.to_json() for mount in project.mounts]}


def _activate(transaction: Transaction, project: Project) -> None:
    agent = transaction.caller.binding.agent
    if agent not in transaction.state.actives and len(transaction.state.actives) >= ACTIVES_MAX:
        raise PlaneError("control_plane_error", "TooManyAgents")
    transaction.put("actives", agent, ActiveProject(project.project_id))
    transaction.count("activations")


def activate(transaction: Transaction, payload: Json) -> Json:
    """Set the agent's default project for requests that name none."""
    project = require_project(transaction, payload)
    _activate(transaction, project)
    transaction.touch_project(project.project_id)
    return {
        "agent_id": transaction.caller.binding.agent,
        "project_id": project.project_id,
        "workspace_root": project.root,
    }


def up(transaction: Transaction, payload: Json) -> Reply:
    """Create or find (by id, else by name), update, mount and activate in one transaction."""
    activates = flag(payload, "activate", True)
    given = payload.get("project_id")
    known = None
    if given is not None:
        known = _permitted(transaction, identifier(payload, "project_id"), Verb.SEE, payload)
    else:
        name = line(required_text(payload, "name"), NAME_MAX)
        same_name = [project for project in transaction.state.projects.values() if project.name == name]
        known = min(same_name, key=lambda project: (project.created_at_ms, project.project_id), default=None)
        # A hidden project does not exist for the caller: then this name makes a new one.
        scope, binding = ProjectScope(known), transaction.caller.binding
        if known is not None and not known.system and not judge(binding, Verb.READ, scope):
            asks = payload.get("project_token") is not None and judge(binding, Verb.SEE, scope)
            known = known if asks else None
    fields = _given_fields(payload)
    if known is None:
        project = _created(transaction, fields)
    else:
        for verb in (Verb.SEE, *_required_verbs(known, fields, payload)):
            project = _permitted(transaction, known.project_id, verb, payload)
        if project.system and (fields or payload.get("desired_mounts") is not None):
            raise PlaneError("project_protected")
        transaction.count("updates")
    if payload.get("desired_mounts") is not None:
        fields["mounts"] = _desired(transaction, payload["desired_mounts"])
        transaction.count("mount_sets")
    project = _changed(transaction, project, **fields)
    if activates:
        _activate(transaction, project)
    shown = ProjectToken(project.token, payload.get("project_token") or "")
    proved = judge(transaction.caller.binding, Verb.SEE, shown)

    def reply() -> Json:
        return {
            "project_id": project.project_id,
            "project_token": project.token if project.token and proved else None,
            "created": known is None,
            "activated": activates,
            "workspace": workspace(
                transaction.state, transaction.reconcile, project, transaction.caller.binding, transaction.now
            ),
        }

    return reply


def _required_verbs(project: Project, fields: ProjectFields, payload: Json) -> list[Verb]:
    """What `up` needs on a known project: an unchanged one needs only `read`."""
    changes = any(getattr(project, key) != value for key, value in fields.items())
    asked = [Verb.ADMIN] if changes else []
    if payload.get("desired_mounts") is not None:
        asked.append(Verb.MOUNT)
    return asked or [Verb.READ]


def _desired(transaction: Transaction, value: object) -> tuple[Mount, ...]:
    if not isinstance(value, list):
        raise invalid()
    mounts: tuple[Mount, ...] = ()
    for item in value:
        if not isinstance(item, dict):
            raise invalid()
        mounts = add(mounts, _mount(transaction, item), MOUNTS_MAX)
    return mounts


def workspace_status(transaction: Transaction, payload: Json) -> Json:
    """`{project_id?,project_token?}` → W: of that project, else of the agent's active one, else of the bound one."""
    binding = transaction.caller.binding
    if payload.get("project_id") is not None:
        project = require_project(transaction, payload)
        decision = judge(binding, Verb.SEE, ProjectScope(project, own=True))
        if not decision:
            raise PlaneError.of(decision)
        return workspace(transaction.state, transaction.reconcile, project, binding, transaction.now)
    active = transaction.state.actives.get(binding.agent)
    for project_id in (active.project_id if active else "", binding.project):
        project_or_none = transaction.state.project(project_id)
        if project_or_none is None or (project_id == SYSTEM and (active is None or active.project_id != SYSTEM)):
            continue  # an agent that starts in `system` has activated nothing
        if judge(binding, Verb.OBSERVE, ProjectScope(project_or_none, own=True)):
            return workspace(transaction.state, transaction.reconcile, project_or_none, binding, transaction.now)
    return workspace(transaction.state, transaction.reconcile, None, binding, transaction.now)


def reconcile_status(transaction: Transaction, payload: Json) -> Json:
    """`{project_id?}` → of one project, else of all that the caller may observe (acheron D18)."""
    only = require_project(transaction, payload) if payload.get("project_id") is not None else None
    return reconciled(transaction.state, transaction.reconcile, transaction.caller.binding, transaction.now, only)
