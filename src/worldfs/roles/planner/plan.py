"""From goals to actions: stages, the search over moves, and a place for every thing that is set down."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...ground.model import Profile, Relation, Scene, Thing, Vec
from . import domain, feasible, say, spots
from .assign import fits, into_containers, room, volume
from .domain import Action
from .facts import Where, fixed, layout, movable, resting, sane, surfaces
from .goals import (
    POSE_GOALS,
    Apart,
    Area,
    At,
    Beside,
    Cleared,
    Down,
    Gesture,
    Goal,
    Gripper,
    Holding,
    Home,
    In,
    On,
    Placed,
    Seen,
    Toward,
    holds,
    littering,
    subject,
)
from .search import Move, Problem, impossible, search


@dataclass(frozen=True, slots=True)
class Plan:
    """Actions in order, and the goals that they cannot bring about, each with the reason."""

    actions: tuple[Action, ...] = ()
    unmet: tuple[tuple[Goal, str], ...] = ()
    refused: tuple[tuple[Action, Scene], ...] = ()  # what the critic would refuse, in the scene as it would be by then


@dataclass(frozen=True, slots=True)
class Limits:
    """What a plan must keep to: `protected` is never touched, `given_up` neither (id → why), `spots` have failed."""

    protected: Collection[str] = ()
    given_up: Mapping[str, str] = field(default_factory=dict)
    spots: Mapping[str, Sequence[Vec]] = field(default_factory=dict)
    late: Sequence[str] = ()  # things tried before without success: after all others
    dig: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # thing in a container → neighbours to lift out first
    language: str = "en"


def stages(goals: Sequence[Goal]) -> list[tuple[Goal, ...]]:
    """Goals that may be met in any order together; a pose of the robot, or a thing's second place, begins another."""
    found: list[list[Goal]] = []
    for goal in goals:
        alone = isinstance(goal, (*POSE_GOALS, Holding, Down))
        last = found[-1] if found else None
        clash = last is None or alone or isinstance(last[0], (*POSE_GOALS, Holding, Down))
        if not clash and last is not None and subject(goal):
            clash = subject(goal) in {subject(g) for g in last}
        if clash or last is None:
            found.append([goal])
        else:
            last.append(goal)
    return [tuple(group) for group in found]


def lasting(goals: Sequence[Goal]) -> list[bool]:
    """Which goals must still hold at the very end: poses and places that a later goal undoes need only have held."""
    found = []
    for n, goal in enumerate(goals):
        later = goals[n + 1 :]
        if isinstance(goal, Cleared):  # what is put there afterwards was asked for
            found.append(not any(isinstance(g, (On, Placed, Area, Beside, Toward, Apart, Down)) for g in later))
        elif isinstance(goal, POSE_GOALS):
            found.append(isinstance(goal, (Home, At, Gripper)) and not later)
        else:
            found.append(not any(subject(g) == subject(goal) and not isinstance(g, POSE_GOALS) for g in later))
    return found


def build(
    groups: Sequence[tuple[Goal, ...]],
    scene: Scene,
    *,
    profile: Profile | None = None,
    robot_id: str = "",
    limits: Limits | None = None,
    first: int = 0,
) -> Plan:
    """A plan for the groups from `first` on, from this scene. Reasons are in `limits.language`."""
    limits = limits or Limits()
    actions: list[Action] = []
    unmet: list[tuple[Goal, str]] = []
    refused: list[tuple[Action, Scene]] = []
    now = sane(scene)
    for number in range(first, len(groups)):
        group = _Group(groups[number], number, profile, robot_id, limits)
        part, lost, now = group.solve(now)
        actions += part
        unmet += lost
        refused += group.refused
    return Plan(tuple(actions), tuple(unmet), tuple(refused))


@dataclass(frozen=True, slots=True)
class _Group:
    """Goals that are met together, and by whom."""

    goals: tuple[Goal, ...]
    stage: int
    profile: Profile | None
    robot_id: str
    limits: Limits
    refused: list[tuple[Action, Scene]] = field(default_factory=list)

    def why_not(self, action: Action, scene: Scene) -> str:
        """The critic's word on an action in that scene, noted if it is a refusal."""
        why = feasible.refusal(action, self.robot_id, scene, self.profile, self.limits.language)
        if why:
            self.refused.append((action, scene))
        return why

    def solve(self, scene: Scene) -> tuple[list[Action], list[tuple[Goal, str]], Scene]:
        poses = [g for g in self.goals if isinstance(g, POSE_GOALS)]
        if not poses:
            return _Handling(self, scene).solve()
        actions: list[Action] = []
        lost: list[tuple[Goal, str]] = []
        robot = scene.robot(self.robot_id)
        for goal in poses:
            if holds(goal, scene, self.robot_id):
                continue
            action = _pose(goal, self.stage, robot.pose if robot is not None else ())
            why = self.limits.given_up.get(str(goal), "")
            if not why and not domain.has(self.profile, action.op):
                why = say.reason("no_op", self.limits.language, what=action.op)
            why = why or self.why_not(action, scene)
            if why:
                lost.append((goal, why))
            else:
                actions.append(action)
        return actions, lost, scene


def _pose(goal: Goal, stage: int, base: Vec) -> Action:
    match goal:
        case Seen(object=id):
            return domain.look(id, stage)
        case At(position=position):
            return domain.go(position, base, stage)
        case Gripper(state=state):
            return domain.strategy("open_gripper" if state == "open" else "close_gripper", stage)
        case Gesture(name=name):
            return domain.strategy(name, stage)
        case _:
            return domain.strategy("home", stage)


class _Handling:
    """One group of goals about things, on its way to moves."""

    def __init__(self, group: _Group, scene: Scene) -> None:
        self.group, self.scene, self.profile, self.robot_id = group, scene, group.profile, group.robot_id
        self.limits, self.stage = group.limits, group.stage
        self.places = layout(scene)
        self.now = {t.id: t for t in movable(scene)}
        self.goals = self._spread(group.goals)
        self.lost: list[tuple[Goal, str]] = []
        self.aside: set[str] = set()  # lifted out for another's sake
        self.hand = next((id for id, w in self.places.items() if w == Where("held", self.robot_id)), "")

    def _spread(self, goals: tuple[Goal, ...]) -> list[Goal]:
        """A cleared surface asks a place for all that lies on it, also for what came there meanwhile."""
        found: list[Goal] = [g for g in goals if not isinstance(g, Cleared)]
        named = {subject(g) for g in found}
        for goal in goals:
            if isinstance(goal, Cleared) and goal.into:
                extra = tuple(id for id in littering(goal, self.scene, self.places) if id not in named)
                found += into_containers(extra, list(goal.into), self.scene)
        return found

    def name(self, id: str) -> str:
        return say.name(self.scene.thing(id), self.limits.language, self.scene, id)

    def lose(self, goal: Goal, key: str, **facts: str) -> None:
        self.lost.append((goal, say.reason(key, self.limits.language, **facts)))

    def surface_of(self, id: str) -> str:
        """Where a thing is set aside: the table that it is on, else the first there is."""
        seen, spot = set(), self.places.get(id, Where())
        while spot.relation == "on" and spot.of in self.places and spot.of not in seen:
            seen.add(spot.of)
            spot = self.places[spot.of]
        flat = [s.id for s in surfaces(self.scene)]
        return spot.of if spot.of in flat else (flat[0] if flat else "")

    def solve(self) -> tuple[list[Action], list[tuple[Goal, str]], Scene]:
        wanted = self._wanted()
        while True:
            problem = self._problem(wanted)
            bad = impossible(problem)
            if not bad:
                break
            for goal in [g for g in wanted if subject(g) in bad]:
                why = bad[subject(goal)]
                key = "circle" if why == "circle" else "protected" if why == subject(goal) else "blocked"
                self.lose(goal, key, name=self.name(subject(goal)), other=self.name(why))
                wanted.remove(goal)
        try:
            moves = search(problem)
        except ValueError:
            for goal in wanted:
                self.lose(goal, "circle")
            moves = []
        return self._carry(moves, wanted)

    def _wanted(self) -> list[Goal]:
        """Goals still to be met and not given up; the rest are lost with their reason."""
        found: list[Goal] = []
        boxes = {g.container for g in self.goals if isinstance(g, In)}
        space = {box: room(t, self.scene) for box in boxes if (t := self.scene.thing(box)) is not None}
        for goal in self.goals:
            id = subject(goal)
            thing = self.now.get(id)
            if thing is None:
                self.lose(goal, "gone", name=id)
            elif holds(goal, self.scene, self.robot_id, self.places):
                found.append(goal)
            elif id in self.limits.given_up:
                self.lost.append((goal, self.limits.given_up[id]))
            elif not domain.has(self.profile, domain.PICK) and id != self.hand:
                self.lose(goal, "no_op", what=domain.PICK)
            elif not isinstance(goal, Holding) and not domain.has(self.profile, domain.PLACE):
                self.lose(goal, "no_op", what=domain.PLACE)
            elif isinstance(goal, In) and (box := self.scene.thing(goal.container)) is not None:
                if not fits(thing, box):
                    self.lose(goal, "too_large", name=self.name(id), where=self.name(box.id))
                elif space[box.id] < volume(thing):
                    self.lose(goal, "full", name=self.name(id), where=self.name(box.id))
                else:
                    space[box.id] -= volume(thing)
                    found.append(goal)
            else:
                found.append(goal)
        return found

    def _problem(self, wanted: list[Goal]) -> Problem:
        want = {subject(g): self._where(g) for g in wanted if not isinstance(g, Holding)}
        met = {id for g in wanted if (id := subject(g)) in want and holds(g, self.scene, self.robot_id, self.places)}
        free = tuple(subject(g) for g in wanted if isinstance(g, Holding))
        if self.hand and self.hand not in want and self.hand not in free and self.lost:
            want[self.hand] = Where("on", self.surface_of(self.hand))  # what was given up is not kept in the gripper
        after: dict[str, tuple[str, ...]] = {
            g.object: (g.other,)
            for g in wanted
            if isinstance(g, (Beside, Toward, Apart)) and want.get(g.other, Where()).of != g.object
        }
        self._dig(wanted, want, met, after)
        order = [*(subject(g) for g in wanted if subject(g) not in self.limits.late), *self.limits.late]
        stop = frozenset(self.limits.protected) | (frozenset(self.limits.given_up) & set(self.places)) - {self.hand}
        aside = next((s.id for s in surfaces(self.scene)), "")
        return Problem(self.places, want, frozenset(met), free, stop, aside, tuple(dict.fromkeys(order)), after)

    def _dig(
        self, wanted: list[Goal], want: dict[str, Where], met: set[str], after: dict[str, tuple[str, ...]]
    ) -> None:
        """Neighbours out of the container first, back only when what they were lifted for is where it should be."""
        asked = {subject(g) for g in wanted} - met
        for id, others in self.limits.dig.items():
            box = self.places.get(id, Where())
            for other in others if id in asked and box.relation == "in" else ():
                if other in self.limits.given_up or other not in self.places:
                    continue
                if resting(self.places, other) == box:
                    want[other] = Where("on", self.surface_of(other))
                    self.aside.add(other)
                    met.discard(other)
                    after[id] = (*after.get(id, ()), other)
                elif other in want:
                    after[other] = (*after.get(other, ()), id)

    def _where(self, goal: Goal) -> Where:
        match goal:
            case In(container=box):
                return Where("in", box)
            case On(support=under) | Area(support=under) | Apart(support=under):
                return Where("on", under)
            case Beside(object=id, other=other) | Toward(object=id, other=other):
                spot = self.places.get(other)
                return (
                    spot
                    if spot is not None and spot.of in fixed(self.scene) and spot.relation != "held"
                    else Where("on", self.surface_of(id))
                )
            case _:
                return Where("on", self.surface_of(subject(goal)))

    def _carry(self, moves: list[Move], wanted: list[Goal]) -> tuple[list[Action], list[tuple[Goal, str]], Scene]:
        """Moves to actions, each with a place found in the scene as it will be then."""
        goal_of = {subject(g): g for g in wanted}
        actions: list[Action] = []
        places, now = dict(self.places), dict(self.now)
        stuck: set[str] = set()
        for move in moves:
            if move.object in stuck or move.to.of in stuck:
                stuck.add(move.object)
                continue
            bench = spots.Bench(self.scene, self.scene.robot(self.robot_id), self.profile, now, places)
            final = move.final and move.object not in self.aside
            goal = goal_of.get(move.object) if final else None
            spot = self._spot(move, goal, bench)
            if spot is None or not all(map(math.isfinite, spot)):
                stuck.add(move.object)
                key, where = "no_room" if spot is None else "no_position", self.name(move.to.of)
                if spot is None and isinstance(goal, Placed):
                    key, where = "no_place_at", ", ".join(f"{v:g}" for v in goal.position)
                self.lose(
                    goal or goal_of.get(move.object) or Down(move.object), key, name=self.name(move.object), where=where
                )
                continue
            # a free spot on furniture is a position and no more: the body would choose another
            named = move.to.of in places or move.to.relation == "in"
            steps = [domain.put(move.object, spot, move.to, final=final, named=named, stage=self.stage)]
            if places[move.object].relation != "held":
                steps.insert(0, domain.pick(move.object, self.robot_id, self.profile, self.stage))
            if why := self._refused(steps, places, now):
                stuck.add(move.object)
                self.lost.append((goal or goal_of.get(move.object) or Down(move.object), why))
                continue
            actions += steps
            places[move.object] = move.to
            now[move.object] = replace(now[move.object], position=spot)
        for goal in wanted:
            if isinstance(goal, Holding) and goal.object not in stuck and places[goal.object].relation != "held":
                if stuck and self.hand:
                    continue
                step = domain.pick(goal.object, self.robot_id, self.profile, self.stage)
                if why := self._refused([step], places, now):
                    self.lost.append((goal, why))
                    continue
                actions.append(step)
                places[goal.object] = Where("held", self.robot_id)
        return actions, self.lost, _after(self.scene, places, now, self.robot_id)

    def _refused(self, steps: Sequence[Action], places: Mapping[str, Where], now: Mapping[str, Thing]) -> str:
        """Why one of the steps cannot be carried out once those before it are; "" for nothing."""
        then = dict(places)
        for step in steps:
            scene = _after(self.scene, then, now, self.robot_id)
            if why := self.group.why_not(step, scene):
                return why
            then[step.object] = step.to
        return ""

    def _spot(self, move: Move, goal: Goal | None, bench: spots.Bench) -> Vec | None:
        thing, avoid = bench.now[move.object], self.limits.spots.get(move.object, ())
        if isinstance(goal, Placed):
            return spots.at_position(thing, goal, bench)
        if isinstance(goal, (Beside, Toward)):
            return spots.beside(thing, goal, bench, avoid)
        if move.to.of in bench.now:
            return spots.on_thing(thing, bench.now[move.to.of])
        support = self.scene.thing(move.to.of)
        if support is None:
            return None
        if move.to.relation == "in":
            return spots.in_container(thing, support, bench, avoid)
        return spots.on_surface(thing, support, bench, avoid, goal if isinstance(goal, (Area, Apart)) else None)


def _after(scene: Scene, places: Mapping[str, Where], now: Mapping[str, object], robot_id: str) -> Scene:
    """The scene as it will be: poses, relations and what is held."""
    held = next((id for id, w in places.items() if w == Where("held", robot_id)), None)
    objects = tuple(
        replace(t, position=getattr(now.get(t.id, t), "position", t.position), status="") for t in scene.objects
    )
    others = tuple(r for r in scene.relations if r.subject not in places)
    stated = tuple(Relation(id, w.relation, w.of) for id, w in places.items() if w.relation in ("in", "on"))
    robots = tuple(replace(r, holding=held) if r.robot_id == robot_id else r for r in scene.robots)
    return replace(scene, objects=objects, relations=(*others, *stated), robots=robots)
