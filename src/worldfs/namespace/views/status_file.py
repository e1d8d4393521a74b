"""/meta/status.json: the report of `paos status`, as far as the binding sees it."""

from __future__ import annotations

import json

from worldfs.access.judge import judge
from worldfs.access.things import Realm
from worldfs.access.verb import Verb
from worldfs.base.json_values import as_object, as_objects
from worldfs.tree.virtual_file import FileBehaviour, Names

from .bound_file import BoundFile, ViewContext


def views(context: ViewContext) -> dict[str, FileBehaviour]:
    return {"world_status": StatusFile(context)}


class StatusFile(BoundFile):
    """Nodes and their jobs as the binding sees them, without paths of the server's disk."""

    light = False  # read from files

    def exists(self, names: Names) -> bool:
        return bool(judge(self.context.visible, Verb.SEE, Realm.STATUS))

    def read(self, names: Names) -> bytes:
        visible = self.context.visible
        status: dict[str, object] = dict(visible.sources.status())
        seen = set(visible.bodies)
        kernel = as_object(status.get("kernel"))
        status["workspace"] = f"/projects/{visible.sources.home}"
        status["kernel"] = {key: kernel[key] for key in ("pid", "started_at") if key in kernel} if kernel else None
        status["nodes"] = [node for node in as_objects(status["nodes"]) if node["id"] in seen]
        status["recent"] = [job for job in as_objects(status["recent"]) if job["node"] in seen]
        return json.dumps(status, ensure_ascii=False, indent=1).encode("utf-8", "replace")
