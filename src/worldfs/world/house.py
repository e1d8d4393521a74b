"""The house around a job: the critic judges it, its body observes, what failed becomes a lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.formats import embodied, environment, lessons, task
from worldfs.formats.prose import flat
from worldfs.ground.clock import Clock, stamp
from worldfs.ground.driver import FILM_FPS, Driver, Filming, Reviewer, Simulated
from worldfs.ground.errors import Missing, UserError
from worldfs.ground.model import Cause, Finding, Json, Note, Order, Outcome, Profile, Scene
from worldfs.roles.lessons import note_for, note_for_failure, note_for_lost
from worldfs.roles.wording import localise, localise_outcome
from worldfs.tree.tree import Tree

from .documents import Document
from .files import film_name
from .layout import CRITIC, WATCHDOG

if TYPE_CHECKING:
    from worldfs.roles.task_review import Happened


class Room:
    """What the kernel reads and writes for its nodes, each through the tree and as the role whose file it is."""

    def __init__(self, tree: Tree, project: str, clock: Clock, reviewer: Reviewer, language: Callable[[], str]) -> None:
        self.tree = tree
        self.clock = clock
        self.reviewer = reviewer
        self.language = language
        self.drivers: dict[str, Driver] = {}
        self.targets: set[str] = set()  # nodes whose preflight judges alone: their skills are no ops of a body
        self.films: Path | None = None  # where films of bodies go; None: there is no disk
        base = f"/projects/{project}"
        self.environment = Document(tree, f"{base}/ENVIRONMENT.md", WATCHDOG, environment.read)
        self.judged = Document(tree, f"{base}/ENVIRONMENT.md", CRITIC, environment.read)
        self.lessons = Document(tree, f"{base}/LESSONS.md", CRITIC, lessons.read)
        self.tasks = Document(tree, f"{base}/TASK.md", CRITIC, task.read)
        self.profiles: dict[str, Document[Profile]] = {}
        self._seen: dict[str, tuple[Scene, str | None]] = {}
        self._told: dict[str, Scene] = {}  # what a body took from the document, as it was last written

    def profile(self, node: str) -> Document[Profile]:
        if node not in self.profiles:
            self.profiles[node] = Document(self.tree, f"/nodes/{node}/EMBODIED.md", CRITIC, embodied.read)
        return self.profiles[node]

    def review(self, order: Order) -> Sequence[Finding]:
        """The critic by the files first; the body's own checks only for what passes them. A target: its preflight."""
        if order.node in self.targets:
            return list(self.drivers[order.node].review(order))
        profile = self.profile(order.node).get()
        findings = list(self.reviewer.review(order, self.judged.get().scene, profile))
        if not any(not item.warning for item in findings):
            findings += [localise(item, self.language()) for item in self.drivers[order.node].review(order)]
        return findings

    def settle(self, node: str) -> None:
        driver = self.drivers[node]
        seen = driver.observe()
        if seen == Scene():
            return  # a body that is not taken up has seen nothing
        token = self.tree.probe(self.environment.path, WATCHDOG)
        if token is not None and self._seen.get(node) == (seen, token):
            return  # nothing moved and nobody wrote: nothing to say
        now = stamp(self.clock.now().replace(microsecond=0))
        built = driver.assumed() if isinstance(driver, Simulated) else None
        before = self._told.get(node) or built or Scene()
        # only a body whose world is built knows every thing in it: of others, silence does not say that a thing is gone
        whole = built is not None

        def merged(data: bytes) -> bytes:
            return environment.merge(data, seen, robot_id=node, now=now, before=before, whole=whole)

        self.environment.change(merged)
        self._told[node] = environment.told(before, seen)
        self._seen[node] = (seen, self.tree.probe(self.environment.path, WATCHDOG))

    def stood(self, node: str) -> Json:
        """The robot's own entry as its body sees it now."""
        robot = next((item for item in self.drivers[node].observe().robots if item.robot_id == node), None)
        return {} if robot is None else {name: value for name, value in asdict(robot).items() if value}

    def control(self, node: str, text: str) -> None:
        """Film the body's motion into artifacts/films/, or stop."""
        body, name = self.drivers[node], film_name(text, node)
        if self.films is None or not isinstance(body, Filming):
            raise Missing(
                f"the body of {node} cannot film itself", op="film", fix="use one that can: --driver simulation"
            )
        if not name:
            body.stop_recording()
            return
        self.films.mkdir(parents=True, exist_ok=True)
        body.record(self.films / name, FILM_FPS)

    def review_task(self, happened: Happened) -> bool:
        """TASK.md against the measured world: each claim that is not so becomes a lesson, once.

        Always True: it needs no idle body.
        """
        from worldfs.roles import task_review  # the planner's grammar: only for a page that was written

        try:
            data = self.tasks.fetch()[0]
            present, progress = task.read(data), task.progress(data)
            if any(step.status == "running" for step in present.steps):
                return True  # its author is at work: the page is a step behind the world
            scene, known = self.judged.get().scene, {(n.action, n.reason) for n in self.lessons.get()}
        except UserError:
            return True  # a page that cannot be read is named by who reads it; it stops no kernel
        language = self.language()
        claims = task_review.review(present, scene, progress=progress, happened=happened)
        notes = [task_review.lesson(c, self.clock.now(), language) for c in claims if c.verdict == "false"]
        for note in notes:
            if (flat(note.action), flat(note.reason)) not in known:
                self.lessons.change(lambda data, new=note: lessons.add(data, new, language=language))  # type: ignore[misc]  # the loop's value
        return True

    def remember(self, order: Order, outcome: Outcome) -> None:
        when, language = self.clock.now(), self.language()
        note = self._note(order, localise_outcome(outcome, language), when, language)
        self.lessons.change(lambda data: lessons.add(data, note, language=language))

    def say(self, outcome: Outcome) -> Outcome:
        return localise_outcome(outcome, self.language())

    def _note(self, order: Order, outcome: Outcome, when: datetime, language: str) -> Note:
        if outcome.cause is Cause.REJECTED:
            return note_for(order, outcome.findings, when, language)
        if outcome.cause is Cause.LOST:
            return note_for_lost(order, when, language)
        return note_for_failure(order, outcome, when, language)
