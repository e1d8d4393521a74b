"""The world's hooks around a job: the critic reviews it, its driver observes, a failure becomes a lesson."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.access.roles import CRITIC, WATCHDOG
from worldfs.base.already_so import was_already_so
from worldfs.base.clock import Clock, stamp
from worldfs.base.driver import (
    RECORD_FPS,
    Driver,
    FeelsItsHand,
    RealBody,
    RemoteKernel,
    ReportsItself,
    Run,
    SaysReachable,
    SharesWorld,
    Simulated,
    VideoRecorder,
)
from worldfs.base.errors import MissingRequirement, UserError
from worldfs.base.json_text import compact_json
from worldfs.base.json_values import as_text
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import render_outcome
from worldfs.base.model import (
    Cause,
    Finding,
    Json,
    Lesson,
    Operation,
    Order,
    Outcome,
    Profile,
    RobotState,
    Scene,
    Thing,
)
from worldfs.base.order_parameters import profile_with_declared
from worldfs.base.plugin_calls import CheckedPlugin, plugin_name
from worldfs.base.unknown_effect import NO_REPEAT
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
from worldfs.robots.displacements import not_its_own, with_displacements

from .carried_things import left_to_their_carriers
from .computed_files import film_name
from .edited_things import EditedThing, as_measured, edited_things
from .moved_besides import moved_besides

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
        self.own_profile: Callable[[str], Profile | None] = lambda node: None  # where EMBODIED.md has another robot's
        self._seen: dict[str, tuple[Scene, str]] = {}
        self._looks: dict[str, tuple[Scene, Scene]] = {}  # the observations of each node, before the last and the last
        self._documents: dict[str, Scene] = {}  # as it was when the last was made
        self._told: dict[str, Scene] = {}  # the scene of each node as it was last written
        self._shared = Scene()  # the world that the simulated robots share, as the last of them has observed it
        self._edits: Sequence[EditedThing] = ()  # what was found moved in the document
        self._away: dict[str, str] = {}  # robots that cannot be reached, and why
        self._dropped: dict[str, str] = {}  # robots that lost what they held between their orders, and what
        self.on_dropped: Callable[[str, str, Thing | None], None] = lambda node, id, thing: None  # told of each of them
        self.on_held_again: Callable[[str], None] = lambda node: None  # its next order has ended
        self.on_reach: Callable[[str, str], None] = lambda node, why: None  # called when one can or cannot be any more

    def profile(self, node: str) -> CachedDocument[Profile]:
        if node not in self.profiles:
            self.profiles[node] = CachedDocument(self._critic, f"/nodes/{node}/EMBODIED.md", embodied.read)
        return self.profiles[node]

    def limits(self, node: str) -> Profile:
        """The profile by which its driver keeps its limits: its own, also where EMBODIED.md has another robot's."""
        return self.own_profile(node) or self.profile(node).get()

    def review(self, order: Order, run: Run) -> Sequence[Finding]:
        """The reviewers first, by the documents; then the driver's own review. For a target: its preflight first."""
        if order.node in self.targets:
            findings = list(self.drivers[order.node].review(order))
            if self.reviewer.added and not refuses(findings):
                findings += self.reviewer.review_added(order, self._judged_scene(), None, run)
            return findings
        declared, own = self._declared(order), self.own_profile(order.node)
        profile = profile_with_declared(self.profile(order.node).get(), declared)
        own = None if own is None else profile_with_declared(own, declared)
        findings = list(self.reviewer.review(order, self._judged_scene(), profile, run, own))
        if not refuses(findings):
            findings += self.drivers[order.node].review(order)
        return findings

    def _judged_scene(self) -> Scene:
        return as_measured(self.judged.get().scene, self._edits)

    def observe(self, node: str, driver: Driver | None = None) -> Scene:
        """`driver`: the node's, if it has just been opened and is not in use yet."""
        opening, driver = driver is not None, driver or self.drivers[node]
        earlier = self._seen.get(node)
        self._looks.pop(node, None)
        self._documents.pop(node, None)
        present, revision = self.environment.fetch()
        said = earlier[0].robot(node) if earlier is not None else None
        seen = _with_hand(driver.observe(), node, said)
        self._looks[node] = (earlier[0] if earlier is not None else self.environment.get().scene, seen)
        if seen == Scene():
            return seen  # a driver that is not open has observed nothing
        if isinstance(driver, CheckedPlugin):
            self._documents[node] = self.environment.get().scene
        dropped = self._peers_that_dropped(node, driver)
        if revision and self._seen.get(node) == (seen, revision) and not dropped:
            return seen  # nothing moved, and the document is unchanged
        now = stamp(self.clock.now().replace(microsecond=0))
        built = driver.assumed() if isinstance(driver, Simulated) else None
        if opening and built is not None:
            self._told.pop(node, None)
        # only a simulated scene lists every thing; for other drivers an unobserved thing may still exist
        whole = built is not None

        written, before = seen, Scene()
        kept = opening and node in self.targets and built != Scene() and self._is_beside_real(node)

        def merged(data: bytes) -> bytes:
            nonlocal present, seen, written, before
            before = self._told.get(node) or built or Scene()
            if data != present:  # what another robot wrote meanwhile may be later than what was seen here
                present, seen = data, _with_hand(driver.observe(), node, said)
            written = left_to_their_carriers(seen, lambda: environment.read(data).scene, node)
            earlier = seen if kept else before
            data = environment.merge(
                data, written, robot_id=node, now=now, before=earlier, whole=whole, measured=not kept
            )
            return reduce(with_hand, dropped.items(), data)

        def with_hand(data: bytes, one: tuple[str, tuple[str, RobotState]]) -> bytes:
            peer, (_, robot) = one
            told = Scene(self._told[peer].robots if peer in self._told else ())
            return environment.merge(data, Scene((robot,)), robot_id=peer, now=now, before=told, whole=False)

        self.environment.change(merged)
        self._tell_dropped(node, dropped, seen)
        if whole and _shares(driver):
            self._shared = seen
        if not kept:
            self._told[node] = environment.next_baseline(before, written)
            self._tell_peers(node, driver, seen, written)
        self._seen[node] = (seen, self.environment.fetch().revision)
        return seen

    def _peers_that_dropped(self, node: str, driver: Driver) -> dict[str, tuple[str, RobotState]]:
        """The other robots of the shared world that hold no more what they held when their last order ended."""
        if not _shares(driver):
            return {}
        others = ((id, peer) for id, peer in self.drivers.items() if id != node and _shares(peer))
        lost = {id: peer.lost() for id, peer in others if isinstance(peer, FeelsItsHand)}
        return {id: one for id, one in lost.items() if one is not None and self._dropped.get(id) != one[0]}

    def _tell_dropped(self, node: str, dropped: Mapping[str, tuple[str, RobotState]], seen: Scene) -> None:
        if self._dropped.pop(node, None) is not None:
            self.on_held_again(node)
        for peer, (id, robot) in dropped.items():
            self._dropped[peer] = id
            if peer in self._told:
                self._told[peer] = replace(self._told[peer], robots=(robot,))
            self.on_dropped(peer, id, seen.thing(id))

    def edited(self, document: Scene) -> Sequence[EditedThing]:
        """What a person has moved in the document since: the simulation does not follow."""
        self._edits = edited_things(document, self._shared)
        return self._edits

    def _is_beside_real(self, node: str) -> bool:
        """Whether a robot is here that no simulation of ours moves: the document is of its world, too, and a simulated
        target that is only opened writes nothing of how things came to rest in its own."""
        others = (driver for id, driver in self.drivers.items() if id != node)
        return any(
            isinstance(other, CheckedPlugin) or not isinstance(other, Simulated) or other.assumed() is None
            for other in others
        )

    def _tell_peers(self, node: str, driver: Driver, seen: Scene, written: Scene) -> None:
        """What one body of a shared world has written is the baseline of the others, too: one of them may bring a thing
        back to where it saw the thing last, and the document has it elsewhere meanwhile."""
        if not _shares(driver):
            return
        measured = {thing.id for thing in (*seen.objects, *seen.furniture) if written.thing(thing.id) == thing}
        objects = tuple(thing for thing in written.objects if thing.id in measured)
        furniture = tuple(thing for thing in written.furniture if thing.id in measured)
        for peer, told in tuple(self._told.items()):
            if peer != node and peer in self.drivers and _shares(self.drivers[peer]):
                scene = Scene((), objects, furniture, written.relations, told.perception)
                self._told[peer] = environment.next_baseline(told, scene)

    def look(self, node: str) -> None:
        driver, earlier = self.drivers[node], self._seen.get(node)
        if not isinstance(driver, ReportsItself):
            return
        before, now = earlier[0].robot(node) if earlier is not None else None, driver.reported()
        now = None if now is None else _hand(now, before)
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
        theirs, real = isinstance(driver, CheckedPlugin), isinstance(driver, RealBody) and driver.real
        if theirs:
            said: Json = {"evidence_class": "real" if real else "sim", "said": outcome.evidence}
            said |= {NO_REPEAT: True} if outcome.evidence.get(NO_REPEAT) is True else {}
            outcome = replace(outcome, evidence=said)
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
        if verdict.holds:
            self._note_let_go(node, as_text(verdict.observed.get("object")))
        return self._with_moved(order, outcome, simulated=not real) if theirs else outcome

    def _with_moved(self, order: Order, outcome: Outcome, *, simulated: bool) -> Outcome:
        """The outcome with the things that were moved beside those of the order. It has failed with them where nothing
        else can have moved them: no other robot, and no person."""
        looks, document = self._looks.get(order.node), self._documents.get(order.node)
        if looks is None or document is None or not (lines := moved_besides(order, *looks, document)):
            return outcome
        outcome = with_displacements(outcome, lines)
        return not_its_own(outcome) if simulated and len(self.drivers) == 1 else outcome

    def _note_let_go(self, node: str, thing: str) -> None:
        """A thing that was measured elsewhere is in no gripper of a robot that does not say what it holds."""
        looks, now = self._looks.get(node), stamp(self.clock.now().replace(microsecond=0))
        robot = looks[1].robot(node) if looks is not None else None
        if robot is not None and robot.holding is None and not robot.gripper:
            with suppress(UserError):  # its readers report an unreadable document
                if thing in things_held(self.environment.get().scene, node):
                    self.environment.change(lambda data: release(data, node, now))

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
        tables = (self.profiles, self._seen, self._told, self._looks, self._documents, self._away, self._dropped)
        for table in (self.drivers, *tables):
            table.pop(node, None)
        self.targets.discard(node)
        if not any(map(_shares, self.drivers.values())):
            self._shared = Scene()

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
        if was_already_so(outcome):
            return
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


def _hand(now: RobotState, before: RobotState | None) -> RobotState:
    """A body that does not say what it holds (`None`, without a `gripper`), and has said it before, holds nothing."""
    said = before is not None and before.holding is not None
    return replace(now, holding="") if said and now.holding is None and not now.gripper else now


def _with_hand(seen: Scene, node: str, before: RobotState | None) -> Scene:
    robots = tuple(_hand(robot, before) if robot.robot_id == node else robot for robot in seen.robots)
    return replace(seen, robots=robots) if robots != seen.robots else seen


def _shares(driver: Driver) -> bool:
    """Whether its body is in the world that the simulated robots of a workspace share."""
    return isinstance(driver, SharesWorld) and not isinstance(driver, CheckedPlugin)


def _unmeasured(order: Order, driver: Driver) -> Finding:
    where, expected = f"{plugin_name(driver)} {order.op}", coded("world.an_observation")
    return Finding("UNMEASURED", where, expected, coded("world.no_observation"), coded("world.declare_shows"), order.id)


def _figures(facts: Json) -> str:
    """goal [1, 1, 0], distance 1.41"""
    return ", ".join(f"{name} {compact_json(value).decode()}" for name, value in facts.items())
