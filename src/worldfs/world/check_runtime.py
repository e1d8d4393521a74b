"""`paos check` of the runtime's registries: sessions and targets refer to entries that exist and match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from worldfs.base.clock import SystemClock
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.formats.runtime import sessions
from worldfs.robots.targets import target_declaration
from worldfs.sessions import preflight
from worldfs.sessions.plugins import POLICIES, SKILLS, TARGETS
from worldfs.sessions.skill_records import SkillRecords
from worldfs.sessions.unread_fields import review_skill, review_target
from worldfs.storage.store_interface import Store

from .workspace_targets import WorkspaceTargets


def broken_references(store: Store) -> Iterator[Finding]:
    """Warnings for sessions that wait or would be refused."""
    registries = WorkspaceTargets(store)
    targets, skills, place = registries.targets(), registries.skills(), registries.pointer
    for target in targets.values():
        for id in target.skills:
            if id not in skills:
                field = place("TARGETS.md", target.id, "supported_skills")
                yield _unknown("SKILL_RUNTIME_MISSING", field, coded("world.kind_skill"), id, skills)
        if target.adapter and target.adapter not in TARGETS:
            field = place("TARGETS.md", target.id, "adapter.class")
            yield _unknown("TARGET_BUILD", field, coded("world.kind_adapter"), target.adapter, TARGETS)
        yield from target_declaration.review(target, place)
        yield from review_target(target, place)
    for skill in skills.values():
        for there, member, name in (
            (SKILLS, "runtime", skill.runtime),
            (POLICIES, "policy_client.type", skill.policy.type if skill.policy else ""),
        ):
            if name and name not in there:
                field = place("SKILLS.md", skill.id, member)
                yield _unknown("SKILL_RUNTIME_MISSING", field, member, name, there)
        yield from review_skill(skill, place)
    yield from registries.skill_files()[1]
    yield from _sessions(store, registries)


def _sessions(store: Store, registries: WorkspaceTargets) -> Iterator[Finding]:
    try:
        stored = store.get(sessions.FILE)
        entries = sessions.read(stored.data).entries if stored else ()
    except UserError:
        return  # reported where the document is read
    targets, skills, records = registries.targets(), registries.skills(), SkillRecords(store, SystemClock())
    for entry in entries:
        if entry.order is None or entry.state == "terminal":
            continue
        at = f"{sessions.FILE} {entry.id}"
        target, skill = targets.get(entry.order.node), skills.get(entry.order.op)
        if target is None and (why := registries.refused(entry.order.node)) is not None:
            yield replace(why, job=entry.id, warning=True)
        elif target is None:
            yield _unknown("NODE_UNKNOWN", f"{at} target_ref", coded("common.target"), entry.order.node, targets)
        if skill is None:
            yield _unknown(
                "SKILL_RUNTIME_MISSING", f"{at} skill_ref", coded("world.kind_skill"), entry.order.op, skills
            )
        if target is None or skill is None:
            continue
        yield from preflight.check_documents(entry.order, skill, target, registries.pointer)
        yield from preflight.check_draft(entry.order, skill, target, records.state, registries.pointer)
        if not target.enabled:
            fix = coded("world.set_enabled", where=registries.pointer("TARGETS.md", target.id, "enabled"))
            found = coded("world.session_waits", id=target.id)
            yield Finding("TARGET_DISABLED", at, coded("world.enabled_target"), found, fix, entry.id, True)


def _unknown(code: str, field: str, what: str, found: str, there: Iterable[str]) -> Finding:
    expected = coded("world.existing", what=what, names=sorted(there) or coded("common.none"))
    return Finding(code, field, expected, found, coded("world.declare_or_correct"), warning=True)
