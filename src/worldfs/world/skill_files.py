"""The skill files of a workspace: `skills.json`, which says what each may do, and a target's `allow_skill`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from worldfs.access.standing import shown_actor
from worldfs.base.errors import BadInput, Conflict, NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import render
from worldfs.base.messages.message_rendering import finding_message
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import Names, VirtualFile

if TYPE_CHECKING:
    from worldfs.base.model import Json
    from worldfs.sessions.skill_records import SkillRecords

    from .workspace_targets import WorkspaceTargets

Declarations = Callable[[], "WorkspaceTargets"]
Records = Callable[[], "SkillRecords"]


class SkillsFile(VirtualFile):
    """`skills.json`: each skill file with its state, the reason for it, and the real targets that it is allowed on."""

    def __init__(self, declared: Declarations, records: Records, language: Callable[[], str]) -> None:
        self.declared, self.records, self.language = declared, records, language

    def read(self, names: Names) -> bytes:
        from worldfs.base.model.skill import REAL

        declared, records = self.declared(), self.records()
        files, wrong = declared.skill_files()
        real = [target for target in declared.targets().values() if target.kind == REAL]
        taken = declared.declared_skills()
        found: list[Json] = []
        for skill in files.values():
            now = records.state(skill)
            on = {target.id: records.state(skill, target) for target in real}
            allowed = [state for state in on.values() if state.state == "allowed"]
            why = coded("skill.taken", skill=skill.id) if skill.id in taken else (allowed or [now])[0].why
            found.append(
                {
                    "skill": skill.id, "state": (allowed or [now])[0].state, "why": self._said(why),
                    "sha256": skill.digest, "trials": now.rate.tried, "successes": now.rate.good,
                    "low": round(now.rate.low, 4),
                    "targets": {id: {"state": at.state, "why": self._said(at.why)} for id, at in on.items()},
                }
            )  # fmt: skip
        unreadable = [self._said(finding_message(item)) for item in wrong]
        return (json.dumps({"skills": found, "unreadable": unreadable}, ensure_ascii=False, indent=1) + "\n").encode()

    def _said(self, text: str) -> str:
        return str(render(text, self.language()))


class AllowSkillFile(VirtualFile):
    """A target's `allow_skill`: a write promotes the skill file that has this hash now."""

    def __init__(self, declared: Declarations, records: Records) -> None:
        self.declared, self.records = declared, records

    def read(self, names: Names) -> bytes:
        return b""

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        from worldfs.base.model.skill import REAL

        path = f"/nodes/{names['node']}/allow_skill"
        try:
            value = as_object(parse_json(data))
        except ValueError:
            value = {}
        name, digest = value.get("skill"), value.get("sha256")
        if not isinstance(name, str) or not isinstance(digest, str) or len(value) != 2:
            raise BadInput(
                repr(data[:80].decode("utf-8", "replace")), path=path, op="allow a skill", actor=ask.actor,
                expected=coded("skill.payload"),
            )  # fmt: skip
        declared = self.declared()
        skill, target = declared.skills().get(name), declared.targets().get(names["node"])
        if skill is None or not skill.digest:
            there = coded("common.either_of", names=sorted(declared.skill_files()[0]) or [coded("common.none")])
            raise NotFound(coded("skill.unknown", skill=name[:80]), path=path, op="allow a skill", expected=there)
        if target is None or target.kind != REAL:
            raise BadInput(
                coded("skill.not_real", target=names["node"]), path=path, op="allow a skill", actor=ask.actor,
                expected=coded("skill.real_target"),
            )  # fmt: skip
        if skill.digest != digest:
            raise Conflict(
                coded("skill.changed", skill=name), path=path, op="allow a skill", actor=ask.actor,
                fix=coded("skill.try_it", skill=name),
            )  # fmt: skip
        self.records().allow(skill, target, shown_actor(ask.name or ask.actor))
