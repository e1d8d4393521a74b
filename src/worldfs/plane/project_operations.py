"""Projects: made, changed, locked, mounted, activated.

Source: acheron §3.3; acheron D7, D17 (a list shows what one may read), acheron D19, D47 (what
one may not see is not there), acheron D48 (`system` needs an admin who is the primary agent).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from worldfs.tree.binding import SYSTEM, Binding
from worldfs.wire.frames import Json

from .access_policy import allows, hidden, read_policy, require_access
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
    secrets_equal,
)
from .plane_error import PlaneError
from .plane_records import ActiveProject, Mount, Project
from .plane_status import reconcile_status as reconciled
from .plane_status import workspace
from .transaction import Reply, Transaction, new_secret

PROJECTS_MAX: Final = 10_000
MOUNTS_MAX: Final = 1024
ACTIVES_MAX: Final = 10_000  # agents with a project; a user may take any agent's name
_TOLD: Final = ("name", "vision", "status", "access_policy")


def require_project(work: Transaction, payload: Json) -> Project:
    """The project of the payload, if the caller may do with it what the operation's row says."""
    project = _there(work, identifier(payload, "project_id"))
    reads = work.row.action in ("read", "observe")
    require_access(project, work.caller.binding, work.row.action, payload, bound=reads)
    return project


def _there(work: Transaction, project_id: str) -> Project:
    binding = work.caller.binding
    project = work.state.project(project_id)
    if project is None:
        raise PlaneError("project_not_found")
    if project.system and not binding.primary:
        if work.row.op in ("project_activate", "project_up"):
            raise PlaneError("project_assignment_forbidden")
        if not binding.admin:
            raise PlaneError("project_not_found")
        if work.row.op in ("project_mount_set", "project_mount_remove"):
            raise PlaneError("project_assignment_forbidden")
    return project


def _told(payload: Json) -> dict[str, Any]:
    """The fields of a project that a payload names, by their names in the record."""
    fields: dict[str, Any] = {}
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


def create(work: Transaction, payload: Json) -> Json:
    """`{name,vision?,status?,access_policy?}` → P, not locked."""
    required_text(payload, "name")
    project = _made(work, _told(payload))
    work.put_project(project)
    return project.shown()


def _made(work: Transaction, fields: dict[str, Any]) -> Project:
    if len(work.state.projects) >= PROJECTS_MAX:
        raise PlaneError("control_plane_error", "TooManyProjects")
    project_id = work.fresh("proj", "projects", work.state.projects)
    work.count("creates")
    return Project(project_id=project_id, created_at_ms=work.now, updated_at_ms=work.now, **fields)


def _changed(work: Transaction, project: Project, **fields: Any) -> Project:
    changed = msgspec.structs.replace(project, updated_at_ms=work.now, **fields)
    work.put_project(changed)
    return changed


def update(work: Transaction, payload: Json) -> Json:
    project = require_project(work, payload)
    fields = _told(payload)
    if project.system and fields:
        raise PlaneError("project_protected")
    work.count("updates")
    return _changed(work, project, **fields).shown()


def get(work: Transaction, payload: Json) -> Json:
    return require_project(work, payload).shown()


def list_projects(work: Transaction, _: Json) -> Json:
    """All for an admin; for a user those that he may read."""
    projects, binding = work.state.projects, work.caller.binding
    rows = [projects[key] for key in work.state.project_ids()]
    return {"projects": [project.row() for project in rows if allows(project, binding, "read")]}


def delete(work: Transaction, payload: Json) -> Json:
    project = require_project(work, payload)
    if project.protected:
        raise PlaneError("project_protected")
    work.put("projects", project.project_id, None)
    for agent, active in work.state.actives.items():
        if active.project_id == project.project_id:
            work.put("actives", agent, None)
    work.count("project_deletes")
    work.touch_project(project.project_id)
    return {"deleted": True, "project_id": project.project_id}


def token_rotate(work: Transaction, payload: Json) -> Json:
    """A new token, which locks the project; the old one is worth nothing from now on."""
    project = require_project(work, payload)
    if project.system:
        raise PlaneError("project_protected")
    work.count("token_rotates")
    changed = _changed(work, project, token=new_secret("proj"))
    return {
        "project_id": changed.project_id,
        "project_token": changed.token,
        "rotated": True,
        "updated_at_ms": changed.updated_at_ms,
    }


def token_revoke(work: Transaction, payload: Json) -> Json:
    """No token any more: unlocked."""
    project = require_project(work, payload)
    if project.system:
        raise PlaneError("project_protected")
    work.count("token_revokes")
    changed = _changed(work, project, token="")
    return {
        "project_id": changed.project_id,
        "project_token": None,
        "revoked": True,
        "updated_at_ms": changed.updated_at_ms,
    }


def _mount(work: Transaction, payload: Json) -> Mount:
    mount = Mount(mount_path(payload), identifier(payload, "node_id"), export_name(payload))
    if mount.node_id not in work.state.nodes or not _seen(work, mount):
        raise PlaneError("node_not_found")
    return mount


def _seen(work: Transaction, mount: Mount) -> bool:
    """Is what a mount leads to there for the caller? To a user what a project shows him: a mount of his own would else
    be the way to every node's files."""
    binding = work.caller.binding

    def shows(project: Project) -> bool:
        known = any((one.node_id, one.export_name) == (mount.node_id, mount.export_name) for one in project.mounts)
        return (known or mount.node_id in project.nodes) and allows(project, binding, "read")

    return binding.admin or any(shows(project) for project in work.state.projects.values())


def mount_set(work: Transaction, payload: Json) -> Json:
    """One candidate more; the same place on another node is a failover candidate."""
    project = require_project(work, payload)
    mounts = add(project.mounts, _mount(work, payload), MOUNTS_MAX)
    work.count("mount_sets")
    return _changed(work, project, mounts=mounts).shown()


def mount_remove(work: Transaction, payload: Json) -> Json:
    """All candidates of a place, or those of a node, or of an export."""
    project = require_project(work, payload)
    path, node_id, export = mount_path(payload), optional(payload, "node_id"), optional(payload, "export_name")
    kept = tuple(
        mount
        for mount in project.mounts
        if mount.mount_path != path or node_id not in (None, mount.node_id) or export not in (None, mount.export_name)
    )
    if len(kept) == len(project.mounts):
        raise PlaneError("mount_not_found")
    work.count("mount_removes")
    return _changed(work, project, mounts=kept).shown()


def mount_list(work: Transaction, payload: Json) -> Json:
    project = require_project(work, payload)
    return {"project_id": project.project_id, "mounts": [mount.shown() for mount in project.mounts]}


def _activate(work: Transaction, project: Project) -> None:
    agent = work.caller.binding.agent
    if agent not in work.state.actives and len(work.state.actives) >= ACTIVES_MAX:
        raise PlaneError("control_plane_error", "TooManyAgents")
    work.put("actives", agent, ActiveProject(project.project_id))
    work.count("activations")


def activate(work: Transaction, payload: Json) -> Json:
    """The agent's project from now on, where a request names none."""
    project = require_project(work, payload)
    _activate(work, project)
    work.touch_project(project.project_id)
    return {
        "agent_id": work.caller.binding.agent,
        "project_id": project.project_id,
        "workspace_root": project.root,
    }


def up(work: Transaction, payload: Json) -> Reply:
    """Make or find (by id, else by name), change, mount and activate in one step: all of it or nothing."""
    activates = flag(payload, "activate", True)
    given = payload.get("project_id")
    known = None
    if given is not None:
        known = _there(work, identifier(payload, "project_id"))
    else:
        name = line(required_text(payload, "name"), NAME_MAX)
        same_name = [project for project in work.state.projects.values() if project.name == name]
        known = min(same_name, key=lambda project: (project.created_at_ms, project.project_id), default=None)
        # What one may not see is not there: then a project of this name is a new one.
        if known is not None and not known.system and not allows(known, work.caller.binding, "read"):
            asks = payload.get("project_token") is not None and not hidden(known, work.caller.binding)
            known = known if asks else None
    fields = _told(payload)
    if known is None:
        project = _made(work, fields)
    else:
        project = _there(work, known.project_id)
        for action in _asked(project, fields, payload):
            require_access(project, work.caller.binding, action, payload, bound=False)
        if project.system and (fields or payload.get("desired_mounts") is not None):
            raise PlaneError("project_protected")
        work.count("updates")
    if payload.get("desired_mounts") is not None:
        fields["mounts"] = _desired(work, payload["desired_mounts"])
        work.count("mount_sets")
    project = _changed(work, project, **fields)
    if activates:
        _activate(work, project)
    proved = work.caller.binding.admin or secrets_equal(payload.get("project_token") or "", project.token)

    def reply() -> Json:
        return {
            "project_id": project.project_id,
            "project_token": project.token if project.token and proved else None,
            "created": known is None,
            "activated": activates,
            "workspace": workspace(work.state, work.reconcile, project, work.caller.binding, work.now),
        }

    return reply


def _asked(project: Project, fields: dict[str, Any], payload: Json) -> list[str]:
    """The actions that bringing up a known project is: to enter it unchanged, to read it is enough."""
    changes = any(getattr(project, key) != value for key, value in fields.items())
    asked = ["admin"] if changes else []
    if payload.get("desired_mounts") is not None:
        asked.append("mount")
    return asked or ["read"]


def _desired(work: Transaction, value: object) -> tuple[Mount, ...]:
    if not isinstance(value, list):
        raise invalid()
    mounts: tuple[Mount, ...] = ()
    for item in value:
        if not isinstance(item, dict):
            raise invalid()
        mounts = add(mounts, _mount(work, item), MOUNTS_MAX)
    return mounts


def workspace_status(work: Transaction, payload: Json) -> Json:
    """`{project_id?,project_token?}` → W: of that project, else of the agent's active one, else of the bound one."""
    binding = work.caller.binding
    if payload.get("project_id") is not None:
        project = require_project(work, payload)
        if project.system and not binding.primary:
            raise PlaneError("project_assignment_forbidden")
        return workspace(work.state, work.reconcile, project, binding, work.now)
    active = work.state.actives.get(binding.agent)
    for project_id in (active.project_id if active else "", binding.project):
        project_or_none = work.state.project(project_id)
        if project_or_none is None or (project_id == SYSTEM and (active is None or active.project_id != SYSTEM)):
            continue  # an agent that starts in `system` has activated nothing
        if project_or_none.system and not binding.primary:
            continue
        if allows(project_or_none, binding, "observe"):
            return workspace(work.state, work.reconcile, project_or_none, binding, work.now)
    return workspace(work.state, work.reconcile, None, binding, work.now)


def reconcile_status(work: Transaction, payload: Json) -> Json:
    """`{project_id?}` → of one project, else of all that the caller may observe (acheron D18)."""
    only = require_project(work, payload) if payload.get("project_id") is not None else None
    return reconciled(work.state, work.reconcile, work.caller.binding, work.now, only)


def check_attachable(project: Project | None, binding: Binding) -> None:
    """Raises `PlaneError` unless an agent may be bound to the project with this role and token."""
    if project is None:
        raise PlaneError("project_not_found")
    if project.system and not binding.primary:
        raise PlaneError("project_assignment_forbidden")
    require_access(project, binding, "read", {"project_token": binding.token or None}, bound=False)
