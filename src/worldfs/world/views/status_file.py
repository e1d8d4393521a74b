"""/meta/status.json: what `paos status` says of the home's workspace, as far as the binding sees it."""

from __future__ import annotations

import json
from typing import Any

from worldfs.tree.virtual_file import FileBehaviour, Names

from .bound_file import BoundFile, ViewContext

STATUS = "/meta/status.json"


def views(seer: ViewContext) -> dict[str, FileBehaviour]:
    return {"world_status": StatusFile(seer)}


class StatusFile(BoundFile):
    """Nodes and their jobs as the binding sees them; no place on the server's disk."""

    light = False  # gathered from files

    def exists(self, names: Names) -> bool:
        sight = self.seer.sight
        return bool(sight.sources.home) and (bool(sight.home) or sight.binding.admin)

    def read(self, names: Names) -> bytes:
        sight = self.seer.sight
        status: dict[str, Any] = dict(sight.sources.glance())
        seen = set(sight.bodies)
        kernel = status.get("kernel")
        status["workspace"] = f"/projects/{sight.sources.home}"
        status["kernel"] = {key: kernel[key] for key in ("pid", "started_at") if key in kernel} if kernel else None
        status["nodes"] = [node for node in status["nodes"] if node["id"] in seen]
        status["recent"] = [job for job in status["recent"] if job["node"] in seen]
        return json.dumps(status, ensure_ascii=False, indent=1).encode("utf-8", "replace")
