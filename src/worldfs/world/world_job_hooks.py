"""The world's hooks around a job: the critic reviews it, its driver observes, a failure becomes a lesson."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.roles import CRITIC, WATCHDOG
from worldfs.base.clock import Clock, stamp
from worldfs.base.driver import (
    RECORD_FPS,
    Driver,
    RealBody,
    RemoteKernel,
    ReportsItself,
    Run,
    SaysReachable,
    Simulated,
    VideoRecorder,
)
from worldfs.base.errors import MissingRequirement, UserError
from worldfs.base.json_text import compact_json
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import render_outcome
from worldfs.base.model import Cause, Finding, Json, Lesson, Operation, Order, Outcome, Profile, Scene
from worldfs.base.order_parameters import profile_with_declared
from worldfs.base.plugin_calls import CheckedPlugin, plugin_name
from worldfs.formats import embodied, environment, lessons_file, task
from worldfs.formats.environment_entries import has_moved
from worldfs.formats.environment_release import release, things_held
from worldfs.formats.prose import one_line
from worldfs.namespace.cached_document import CachedDocument
from worldfs.namespace.namespace import Namespace
from worldfs.namespace.tree import Tree
from worldfs.planning.lesson_notes import note_for, note_for_failure, note_for_lost
from worldfs.planning.outcome_judge import UNSEEN, Observed, OutcomeVerdict, judge
from worldfs.planning.reviewers import ReviewerChain, refuses

from .carried_things import left_to_their_carriers
from .computed_files import film_name

if TYPE_CHECKING:
    from worldfs.planning.task_review import RecordedCheck


class WorldJobHooks:
    """Reads and writes of the kernel for its nodes, each through the tree and in the role that owns the file."""

    def __init__(
        self, tree: Tree, project: str, clock: Clock, reviewer: ReviewerChain, language: Callable[[], str]
    ) -> None:
        self._critic = critic = Namespace(tree, CRITIC)
        self.clock = clock
        self.reviewer = reviewer
        self.language = language
        self.drivers: dict[str, Driver] = {}
        self.targets: set[str] = set()  # nodes that only their preflight reviews: skills are no ops of a driver
        self.films: Path | None = None  # directory of films; None: there is no disk
        base = f"/projects/{project}"
        self.environment = CachedDocument(Namespace(tree, WATCHDOG), f"{base}/ENVIRONMENT.md", environment.read)
        self.judged = CachedDocument(critic, f"{base}/ENVIRONMENT.md", environment.read)
        self.lessons = CachedDocument(critic, f"{base}/LESSONS.md", lessons_file.read)
        self.tasks = CachedDocument(critic, f"{base}/TASK.md", task.read)
        self.profiles: dict[str, CachedDocument[Profile]] = {}
        self._seen: dict[str, tuple[Scene, str]] = {}
        self._looks: dict[str, tuple[Scene, Scene]] = {}  # the observations of each node, before the last and the last
        self._told: dict[str, Scene] = {}  # the scene of each node as it was last written
        self._away: dict[str, str] = {}  # robots that cannot be reached, and why
        self.on_reach: Callable[[str, str], None] = lambda node, why: None  # called when one can or cannot be any more

    def profile(self, node: str) -> CachedDocument[Profile]:
        if node not in self.profiles:
            self.profiles[node] = CachedDocument(self._critic, f"/nodes/{node}/EMBODIED.md", embodied.read)
        return self.profiles[node]

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        """The reviewers first, by the documents; then the driver's own review. For a target: its preflight first."""
        if order.node in self.targets:
            findings = list(self.drivers[order.node].review(order))
            if self.reviewer.added and not refuses(findings):
                findings += self.reviewer.review_added(order, self.judged.get().scene, None, run)
            return findings
        profile = profile_with_declared(self.profile(order.node).get(), self._declared(order))
        findings = list(self.reviewer.review(order, self.judged.get().scene, profile, run))
        if not refuses(findings):
            findings += self.drivers[order.node].review(order)
        return findings

    def observe(self, node: str, driver: Driver | None = None) -> Scene:
        """`driver`: the node's, if it is not in use yet."""
        driver = driver or self.drivers[node]
        earlier = self._seen.get(node)
        self._looks.pop(node, None)
        present, revision = self.environment.fetch()
        seen = driver.observe()
        self._looks[node] = (earlier[0] if earlier is not None else self.environment.get().scene, seen)
        if seen == Scene():
            return seen  # a driver that is not open has observed nothing
        if revision and self._seen.get(node) == (seen, revision):
            return seen  # nothing moved, and the document is unchanged
        now = stamp(self.clock.now().replace(microsecond=0))
        built = driver.assumed() if isinstance(driver, Simulated) else None
        before = self._told.get(node) or built or Scene()
        # only a simulated scene lists every thing; for other drivers an unobserved thing may still exist
        whole = built is not None

        written = seen

        def merged(data: bytes) -> bytes:
            nonlocal present, seen, written
            if data != present:  # what another robot wrote meanwhile may be later than what was seen here
                present, seen = data, driver.observe()
            written = left_to_their_carriers(seen, lambda: environment.read(data).scene, node)
            return environment.merge(data, written, robot_id=node, now=now, before=before, whole=whole)

        self.environment.change(merged)
        self._told[node] = environment.next_baseline(before, written)
        self._seen[node] = (seen, self.environment.fetch().revision)
        return seen

    def look(self, node: str) -> None:
        driver, earlier = self.drivers[node], self._seen.get(node)
        if not isinstance(driver, ReportsItself):
            return
        before, now = earlier[0].robot(node) if earlier is not None else None, driver.reported()
        if now is not None and (before is None or has_moved(before, now)):
            self.observe(node)
        why = driver.unreachable() if isinstance(driver, SaysReachable) else ""
        if why != self._away.get(node, ""):
            self._away[node] = why
            self.on_reach(node, why)

    def release(self, served: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Empty, in ENVIRONMENT.md, the grippers of robots that are served no more: no order makes them put down what
        they hold, so it counts as free where it was last measured. Robot → what it held."""
        try:
            scene = self.environment.get().scene
        except UserError:
            return {}  # its readers report an unreadable document
        hands = {robot.robot_id for robot in scene.robots}
        hands |= {edge.object for edge in scene.relations if edge.relation == "held_by"}
        gone = {robot: held for robot in sorted(hands.difference(served)) if (held := things_held(scene, robot))}
        now = stamp(self.clock.now().replace(microsecond=0))
        if gone:
            self.environment.change(lambda data: reduce(lambda kept, robot: release(kept, robot, now), gone, data))
        return gone

    def measured(self, order: Order, outcome: Outcome) -> Outcome:
        """A success that the observation contradicts has failed. That of a package's body counts only if the
        observation shows it; what the body says of itself is kept as `said`. A session is judged by its target."""
        node = order.node
        driver = self.drivers[node]
        if node in self.targets or isinstance(driver, RemoteKernel):
            return outcome
        theirs = isinstance(driver, CheckedPlugin)
        if theirs:
            real = isinstance(driver, RealBody) and driver.real
            outcome = replace(outcome, evidence={"evidence_class": "real" if real else "sim", "said": outcome.evidence})
        if not outcome.ok:
            return outcome
        verdict = self._verdict(order)
        outcome = replace(outcome, evidence={**outcome.evidence, **({"measured": verdict.observed} if theirs else {})})
        if verdict.holds is False:
            facts = {"expected": _figures(verdict.expected), "observed": _figures(verdict.observed)}
            why = coded("world.contradicted", said=outcome.message, **facts)
            evidence = {**outcome.evidence, "expected": verdict.expected, "observed": verdict.observed}
            return Outcome.failure(Cause.ERROR, "CONTRADICTED", why, evidence=evidence)
        if theirs and verdict.holds is None:
            why = coded("world.unmeasured", said=outcome.message)
            evidence, findings = outcome.evidence, (_unmeasured(order, driver),)
            return Outcome.failure(Cause.UNMEASURED, "UNMEASURED", why, evidence=evidence, findings=findings)
        return outcome

    def _verdict(self, order: Order) -> OutcomeVerdict:
        """What the last observation of the order's node says of it."""
        looks, node = self._looks.get(order.node), order.node
        if looks is None:
            return UNSEEN
        try:
            document, profile = self.judged.get().scene, self.profile(node).get()
        except UserError:  # unreadable meanwhile, which an alert says: what was seen is known all the same
            document, profile = looks[1], None
        return judge(order, Observed(*looks, document, profile, self._declared(order)))

    def _declared(self, order: Order) -> Operation | None:
        return next((op for op in self.drivers[order.node].operations if op.name == order.op), None)

    def forget(self, node: str) -> None:
        """The node has been removed."""
        for table in (self.drivers, self.profiles, self._seen, self._told, self._looks, self._away):
            table.pop(node, None)

    def stop_confirmation(self, node: str) -> Json:
        """The robot's own entry as its driver observes it now."""
        robot = next((item for item in self.drivers[node].observe().robots if item.robot_id == node), None)
        return {} if robot is None else {name: value for name, value in asdict(robot).items() if value}

    def control(self, node: str, text: str) -> None:
        """Film the robot into artifacts/films/, or stop."""
        body, name = self.drivers[node], film_name(text, node)
        if self.films is None or not isinstance(body, VideoRecorder):
            raise MissingRequirement(coded("world.no_film", node=node), op="film", fix=coded("world.use_simulation"))
        if not name:
            body.stop_recording()
            return
        self.films.mkdir(parents=True, exist_ok=True)
        body.record(self.films / name, RECORD_FPS)

    def review_task(self, happened: RecordedCheck) -> bool:
        """Compare TASK.md with the observed world: each wrong claim becomes a lesson, once.

        Always True: it needs no idle body.
        """
        from worldfs.planning import task_review  # imports the planner's grammar

        try:
            data = self.tasks.fetch()[0]
            present, progress = task.read(data), task.progress(data)
            if any(step.status == "running" for step in present.steps):
                return True  # a plan is running: the page is behind the world
            scene, known = self.judged.get().scene, {(n.action, n.reason) for n in self.lessons.get()}
        except UserError:
            return True  # its readers report an unreadable page
        language = self.language()
        claims = task_review.review(present, scene, progress=progress, happened=happened)
        notes = [task_review.lesson(c, self.clock.now(), language) for c in claims if c.verdict == "false"]
        for note in notes:
            if (one_line(note.action), one_line(note.reason)) not in known:
                self.lessons.change(lambda data, new=note: lessons_file.add(data, new, language=language))  # type: ignore[misc]  # the loop's value
        return True

    def remember(self, order: Order, outcome: Outcome) -> None:
        when, language = self.clock.now(), self.language()
        note = self._note(order, outcome, when, language)
        self.lessons.change(lambda data: lessons_file.add(data, note, language=language))

    def localise(self, outcome: Outcome) -> Outcome:
        return render_outcome(outcome, self.language())

    def _note(self, order: Order, outcome: Outcome, when: datetime, language: str) -> Lesson:
        if outcome.cause is Cause.REJECTED:
            return note_for(order, outcome.findings, when, language)
        if outcome.cause is Cause.LOST:
            return note_for_lost(order, when, language)
        return note_for_failure(order, outcome, when, language)


def _unmeasured(order: Order, driver: Driver) -> Finding:
    where, expected = f"{plugin_name(driver)} {order.op}", coded("world.an_observation")
    return Finding("UNMEASURED", where, expected, coded("world.no_observation"), coded("world.declare_shows"), order.id)


def _figures(facts: Json) -> str:
    """goal [1, 1, 0], distance 1.41"""
    return ", ".join(f"{name} {compact_json(value).decode()}" for name, value in facts.items())
