"""The targets of a workspace: TARGETS.md and SKILLS.md, and the nodes that run sessions on the targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import MAY_MOVE, ApprovalRule, Finding
from worldfs.base.model.skill import REAL
from worldfs.formats import environment
from worldfs.formats.runtime import skill_file, skills, targets
from worldfs.storage.store_interface import Store

if TYPE_CHECKING:
    from worldfs.base.chat_model import ConfiguredModel
    from worldfs.base.clock import Clock
    from worldfs.base.driver_memory import DriverMemory
    from worldfs.base.model import Json, Skill, Target
    from worldfs.formats.runtime.entry_registry import EntryRegistry
    from worldfs.runtime.body_worker import KernelNode
    from worldfs.runtime.kernel import Kernel
    from worldfs.sessions.plugins import Plugins
    from worldfs.sessions.skill_records import SkillRecords

T = TypeVar("T")
TARGETS, SKILLS = "TARGETS.md", "SKILLS.md"
_SKILLS_OF_R2 = "SKILLRUNTIME.md"
_LISTS = {TARGETS: "targets", SKILLS: "skills"}


class _CachedRegistry(Generic[T]):
    """A registry, read again when its bytes may have changed; while they are unreadable, the last good one counts."""

    def __init__(self, store: Store, key: str, read: Callable[[bytes], EntryRegistry[T]]) -> None:
        self.key = key
        self._store, self._read = store, read
        self._token: str | None = None
        self._registry: EntryRegistry[T] | None = None
        self.trouble: UserError | None = None

    def get(self) -> EntryRegistry[T]:
        try:
            token = self._store.probe(self.key)
            if self._registry is None or token != self._token:
                self._token = token
                stored = self._store.get(self.key) if token is not None else None
                self._registry, self.trouble = self._read(stored.data if stored else b""), None
        except UserError as error:
            self.trouble = error
        if self._registry is None:
            self._registry = self._read(b"")
        return self._registry


class WorkspaceTargets:
    """The targets and skills that the operator declares in one workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._targets = _CachedRegistry(store, TARGETS, targets.read)
        self._skills = _CachedRegistry(store, SKILLS, skills.read)
        self._skills_r2 = _CachedRegistry(store, _SKILLS_OF_R2, skills.read)

    def targets(self) -> Mapping[str, Target]:
        return self._targets.get().entries

    def refused(self, id: str) -> Finding | None:
        """Why TARGETS.md's entry of this id is no target; None: it has none, or a good one."""
        return self._targets.get().refused.get(id)

    def skills(self) -> Mapping[str, Skill]:
        """The skills of SKILLS.md (in the dialect where that is prose, of SKILLRUNTIME.md), then of the skill files."""
        return {**self.skill_files()[0], **self.declared_skills()}

    def declared_skills(self) -> Mapping[str, Skill]:
        """Those that the operator declares, which come before a file of the same name."""
        return self._skills.get().entries or self._skills_r2.get().entries

    def skill_files(self) -> tuple[dict[str, Skill], list[Finding]]:
        """The skills of skills/*.md as they are now, and what cannot be read."""
        found: dict[str, Skill] = {}
        wrong: list[Finding] = []
        try:
            names = [name for file in self._store.list(skill_file.FOLDER) if (name := skill_file.name_of(file))]
        except UserError as error:
            return {}, [Finding(error.code, skill_file.FOLDER, error.expected, error.found, error.fix)]
        for name in names:
            try:
                stored = self._store.get(f"{skill_file.FOLDER}/{name}.md")
                if stored is not None:
                    found[name] = skill_file.read(stored.data, name)
            except UserError as error:
                wrong.append(Finding(error.code, error.path, error.expected, error.found, error.fix))
        return found, wrong

    def pointer(self, document: str, id: str, member: str) -> str:
        """File and pointer of an entry's member, as findings name it: "TARGETS.md targets[0].perception"."""
        registry: EntryRegistry[Target] | EntryRegistry[Skill]
        registry = self._targets.get() if document == TARGETS else self._skills.get()
        index = registry.places.get(id)
        return f"{document} {_LISTS[document]}[{id if index is None else index}].{member}"

    def environment(self) -> Json:
        """The present ENVIRONMENT.md; empty if it is unreadable, which is reported where it is needed."""

        try:
            stored = self._store.get("ENVIRONMENT.md")
            return environment.read(stored.data).value if stored else {}
        except UserError:
            return {}

    def findings(self) -> dict[str, list[Finding]]:
        """The present findings of the registries, by file."""
        from worldfs.sessions.unread_fields import review_skill, review_target

        found: dict[str, list[Finding]] = {}
        for kept in (self._targets, self._skills):
            registry = kept.get()
            found[kept.key] = list(registry.findings)
            if (error := kept.trouble) is not None:
                fix, expected = error.fix or coded("world.correct_registry"), error.expected or coded("world.registry")
                found[kept.key].append(Finding(error.code, kept.key, expected, error.found, fix))
        for target in self.targets().values():
            found[TARGETS] += review_target(target, self.pointer)
        for skill in self.declared_skills().values():
            found[SKILLS] += review_skill(skill, self.pointer)
        return found


def changed_entry(before: Target, now: Target | None) -> Finding | None:
    """What an alert says of a robot's entry that was changed since the robot was made by it; None: it was not. More
    than a warning where the robot is to keep other limits, has its places elsewhere, or is not to be used any more."""
    if now == before:
        return None
    there = {} if now is None else now.config
    names = sorted(name for name in {*before.config, *there} if before.config.get(name) != there.get(name))
    members = [f"config.{name}" for name in names] or [coded("world.target_entry")]
    stricter = now is None or not now.enabled or not {"safety", "places"}.isdisjoint(names)
    found = coded("world.target_limits" if stricter else "world.target_changed", id=before.id, members=members)
    expected, fix = coded("world.target_as_started"), coded("world.start_again")
    return Finding("TARGET_CHANGED", f"{TARGETS} {before.id}", expected, found, fix, warning=not stricter)


class TargetNodes:
    """The nodes of targets in a kernel: made at the start, added and switched when TARGETS.md changes."""

    def __init__(
        self,
        targets: WorkspaceTargets,
        clock: Clock,
        artifacts: Path | None,
        language: str,
        *,
        records: SkillRecords,
        model: Callable[[str], ConfiguredModel | None],
        parts: Plugins | None = None,
        approval: Callable[[str, bool], ApprovalRule] = lambda node, real: MAY_MOVE,
        memory: Callable[[str], DriverMemory],
    ) -> None:
        from worldfs.sessions.plugins import Plugins

        self.targets = targets
        self._clock, self._artifacts, self._language = clock, artifacts, language
        self._parts = parts or Plugins()
        self._approval, self._records, self._model, self._memory = approval, records, model, memory

    def node(self, id: str) -> KernelNode:
        from worldfs.runtime.body_worker import KernelNode
        from worldfs.sessions.plugins import is_simulation
        from worldfs.sessions.session_driver import SessionDocuments, SessionDriver
        from worldfs.sessions.shadow_run import real_of

        targets = self.targets
        registries = SessionDocuments(
            lambda: targets.targets().get(id), targets.skills, targets.environment, targets.pointer,
            self._records.state, self._model, lambda: real_of(id, targets.targets().values()), self._memory(id),
        )  # fmt: skip
        driver = SessionDriver(registries, self._parts, self._clock, self._artifacts, self._language)
        target = targets.targets().get(id)
        simulated, named = target is not None and is_simulation(target), target.adapter if target is not None else ""
        return KernelNode(
            id,
            driver,
            self._artifacts,
            self.enabled(id),
            self._rule(id),
            named=named,
            simulated=simulated,
            sessions=True,
            measured=lambda: driver.measures,
        )

    def _rule(self, id: str) -> ApprovalRule:
        target = self.targets.targets().get(id)
        return self._approval(id, target is not None and target.kind == REAL)

    def enabled(self, id: str) -> bool:
        """Whether the target is enabled; a removed target counts as enabled, so that its sessions fail at once."""
        target = self.targets.targets().get(id)
        return target is None or target.enabled

    def refresh(self, kernel: Kernel, mine: set[str], taken: set[str]) -> list[KernelNode]:
        """TARGETS.md or SKILLS.md changed: enable, disable and add nodes, alert the findings. Returns the new nodes.

        `mine`: nodes that are targets, added to; `taken`: ids of robots, also disabled ones, which no target can have.
        """
        new = []
        for id in self.targets.targets():
            if id not in mine and id not in taken:
                node = self.node(id)
                kernel.add(node)
                mine.add(id)
                new.append(node)
        for id in mine:
            if (there := kernel.nodes.get(id)) is not None:
                there.enabled, there.approval = self.enabled(id), self._rule(id)
        for file, findings in self.targets.findings().items():
            kernel.alert.document(file, findings)
        return new
