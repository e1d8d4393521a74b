"""From goals to actions: the search over moves, and a placement for every thing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from worldfs.base.drawers import is_shut
from worldfs.base.hollows import opens
from worldfs.base.json_text import parse_json
from worldfs.base.messages import CodedText, coded
from worldfs.base.model import Profile, Scene, Thing, Vec
from worldfs.base.packing import fits

from . import feasible, placement, planned_actions, task_text, thing_names
from .assign import free_volume, into_containers, volume
from .goals import (
    BODY_GOALS,
    POSE_GOALS,
    ApartGoal,
    AreaGoal,
    AtGoal,
    BesideGoal,
    CentreGoal,
    ClearedGoal,
    DownGoal,
    GestureGoal,
    Goal,
    GripperGoal,
    HoldingGoal,
    InGoal,
    OnGoal,
    OperationGoal,
    PlacedGoal,
    PouredGoal,
    SeenGoal,
    TowardGoal,
    UprightGoal,
    VisitGoal,
    former_place,
    held_by,
    holds,
    littering,
    perhaps_littering,
    subject,
)
from .handling_plan import handled
from .plan_constraints import PlanConstraints
from .plan_search import PlacementProblem, PlannedMove, search_moves, unreachable_goals
from .planned_actions import PlannedAction
from .predicted_scene import after_moves, end_of, supports_of, surface_of
from .scene_facts import (
    ThingLocation,
    bears,
    final_support,
    layout,
    movable,
    sanitized_scene,
    settled_at,
    surfaces,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Actions in order, and the unreachable goals, each with the reason."""

    actions: tuple[PlannedAction, ...] = ()
    unmet: tuple[tuple[Goal, str], ...] = ()
    refused: tuple[tuple[PlannedAction, Scene], ...] = ()  # what the critic would refuse, in the predicted scene


def build_plan(
    groups: Sequence[tuple[Goal, ...]],
    scene: Scene,
    *,
    profile: Profile | None = None,
    robot_id: str = "",
    limits: PlanConstraints | None = None,
    first: int = 0,
) -> Plan:
    """A plan for the groups from `first` on, from this scene."""
    limits = limits or PlanConstraints()
    actions: list[PlannedAction] = []
    unmet: list[tuple[Goal, str]] = []
    refused: list[tuple[PlannedAction, Scene]] = []
    now = sanitized_scene(scene)
    for number in range(first, len(groups)):
        kept = held_by(now, robot_id) or ""
        if kept in limits.protected:  # whatever the robot does would move it
            why = coded("planner.hand_kept", name=thing_names.named(kept, now))
            unmet += [(goal, why) for goal in groups[number] if not holds(goal, now, robot_id)]
            continue
        group = _Group(groups[number], number, profile, robot_id, limits)
        part, lost, now = group.solve(now)
        actions += part
        unmet += lost
        refused += group.refused
    return Plan(tuple(actions), tuple(unmet), tuple(refused))


@dataclass(frozen=True, slots=True)
class _Group:
    """Goals that are met together, and their robot."""

    goals: tuple[Goal, ...]
    stage: int
    profile: Profile | None
    robot_id: str
    limits: PlanConstraints
    refused: list[tuple[PlannedAction, Scene]] = field(default_factory=list)

    def why_not(self, action: PlannedAction, scene: Scene) -> str:
        """The critic's refusal of an action, or of what another robot does meanwhile, in that scene, recorded; "" for
        none. Where there are several robots, it names the one."""
        profile_of = self.limits.profile_of
        for one in (action, *planned_actions.companion(action)):
            robot = one.node or self.robot_id
            if robot == self.robot_id:
                why = feasible.critic_refusal(one, robot, scene, self.profile)
            else:
                why = feasible.partner_refusal(one, scene, profile_of(robot)) if profile_of is not None else ""
            if why:
                self.refused.append((one, scene))
                return coded("planner.of_robot", robot=robot, why=why) if len(scene.robots) > 1 else why
        return ""

    def solve(self, scene: Scene) -> tuple[list[PlannedAction], list[tuple[Goal, str]], Scene]:
        poses = [g for g in self.goals if isinstance(g, POSE_GOALS)]
        if any(isinstance(g, BODY_GOALS) for g in self.goals):
            return self._operated(scene)
        if not poses:
            return _Handling(self, scene).solve()
        actions: list[PlannedAction] = []
        lost: list[tuple[Goal, str]] = []
        robot = scene.robot(self.robot_id)
        for goal in poses:
            if holds(goal, scene, self.robot_id):
                continue
            action = _pose(goal, self.stage, robot.pose if robot is not None else (), self.profile)
            why = self.limits.abandoned.get(str(goal), "")
            if not why and not planned_actions.supports_op(self.profile, action.op):
                why = coded("planner.no_op", what=action.op)
            why = why or self.why_not(action, scene)
            if why:
                lost.append((goal, why))
            else:
                actions.append(action)
        return actions, lost, scene

    def _operated(self, scene: Scene) -> tuple[list[PlannedAction], list[tuple[Goal, str]], Scene]:
        """An operation for each goal. What is to be set upright or poured from, and is in the hand, is put down first:
        it is taken from where it lies."""
        first: list[PlannedAction] = []
        kept = held_by(scene, self.robot_id) or ""
        taken = {subject(g) for g in self.goals if isinstance(g, UprightGoal | PouredGoal)}
        if kept in taken - {*self.limits.abandoned}:
            first, lost, scene = _Handling(replace(self, goals=(DownGoal(kept),)), scene).solve()
            if lost:
                return [], [(goal, why) for goal in self.goals for _, why in lost], scene
        actions, lost, scene = handled(
            self.goals,
            scene,
            self.profile,
            self.robot_id,
            stage=self.stage,
            limits=self.limits,
            refused=self.why_not,
        )
        return [*(replace(one, final=False) for one in first), *actions] if actions else [], lost, scene


def _pose(goal: Goal, stage: int, base: Vec, profile: Profile | None) -> PlannedAction:
    match goal:
        case VisitGoal(object=id):
            return planned_actions.visit_action(id, stage)
        case AtGoal(position=position) if planned_actions.goes_to_places(profile):
            return planned_actions.walk_action(position, stage)
        case SeenGoal(object=id):
            return planned_actions.look_action(id, stage)
        case AtGoal(position=position):
            return planned_actions.move_action(position, base, stage)
        case GripperGoal(state=state):
            return planned_actions.strategy_action("open_gripper" if state == "open" else "close_gripper", stage)
        case GestureGoal(name=name):
            return planned_actions.strategy_action(name, stage)
        case OperationGoal(name=name, params=params):
            return PlannedAction(name, parse_json(params), stage=stage)
        case _:
            return planned_actions.strategy_action("home", stage)


class _Handling:
    """Plans the moves of one group of goals about things."""

    def __init__(self, group: _Group, scene: Scene) -> None:
        self.group, self.scene, self.profile, self.robot_id = group, scene, group.profile, group.robot_id
        self.limits, self.stage = group.limits, group.stage
        at = layout(scene)
        self.held_elsewhere = {id: w.of for id, w in at.items() if w.relation == "held" and w.of != group.robot_id}
        self.places = {
            id: ThingLocation() if where.relation == "held" and where.of != self.robot_id else where
            for id, where in at.items()
        }  # what another robot holds is not in this one's hand: it is taken up once that one has put it down
        self.now = {t.id: t for t in movable(scene)}
        self.goals = self._spread(group.goals)
        self.lost: list[tuple[Goal, str]] = []
        self.aside: set[str] = set()  # lifted out of another thing's way
        self.full: set[str] = set()  # containers that had no room for all that was to come
        self.close: frozenset[str] = frozenset()  # those in which things are put side by side
        self.hand = next((id for id, w in self.places.items() if w == ThingLocation("held", self.robot_id)), "")
        for goal in group.goals:
            if isinstance(goal, ClearedGoal) and (unknown := perhaps_littering(goal, scene, at)):
                names = [self.name(id) for id in unknown]
                self.lose(goal, coded("planner.perhaps_there", names=names, where=self.name(goal.surface)))

    def _spread(self, goals: tuple[Goal, ...]) -> list[Goal]:
        """A cleared surface asks a place for all that lies on it, also for what came there meanwhile."""
        found: list[Goal] = [g for g in goals if not isinstance(g, ClearedGoal)]
        named = {subject(g) for g in found}
        for goal in goals:
            if isinstance(goal, ClearedGoal) and goal.into:
                extra = tuple(id for id in littering(goal, self.scene, self.robot_id, self.places) if id not in named)
                found += into_containers(extra, list(goal.into), self.scene)
        return found

    def name(self, id: str) -> str:
        return thing_names.named(id, self.scene)

    def lose(self, goal: Goal, why: CodedText) -> None:
        self.lost.append((goal, why))

    def _unreachable(self, goal: Goal, why: str) -> CodedText:
        """`why`: the id of what lies on it or on its support, of what must be in place before, its own, or `circle`."""
        id = subject(goal)
        if why == "circle":
            return coded("planner.circle")
        if why == id:
            return coded("planner.protected", name=self.name(id))
        if not {id, getattr(goal, "support", "")} & {*supports_of(why, self.places)}:
            return coded("planner.needs_first", other=self.name(why))
        if why in self.limits.abandoned and why not in self.limits.protected:
            return coded("planner.blocked_by", other=self.name(why), why=self.limits.abandoned[why])
        return coded("planner.blocked", other=self.name(why))

    def surface_of(self, id: str) -> str:
        return surface_of(id, self.places, self.scene)

    def solve(self) -> tuple[list[PlannedAction], list[tuple[Goal, str]], Scene]:
        wanted = self._wanted()
        while True:
            problem = self._problem(wanted)
            bad = unreachable_goals(problem)
            lost = [g for g in wanted if subject(g) in bad]
            if not lost:  # also where only what is in the hand cannot be set down
                break
            for goal in lost:
                self.lose(goal, self._unreachable(goal, bad[subject(goal)]))
                wanted.remove(goal)
        try:
            moves = search_moves(problem)
        except ValueError:
            for goal in wanted:
                self.lose(goal, coded("planner.circle"))
            moves = []
        before = len(self.lost), len(self.group.refused)
        found = self._carry(moves, wanted)
        if self.full:  # once more, with the things that go into these boxes side by side
            self.close, self.full = frozenset(self.full), set()
            del self.lost[before[0] :], self.group.refused[before[1] :]
            found = self._carry(moves, wanted)
        return found

    def _wanted(self) -> list[Goal]:
        """Goals still to be met and not abandoned; the rest are lost with their reason."""
        found: list[Goal] = []
        boxes = {g.container for g in self.goals if isinstance(g, InGoal)}
        space = {box: free_volume(t, self.scene) for box in boxes if (t := self.scene.thing(box)) is not None}
        for goal in self.goals:
            id = subject(goal)
            thing = self.now.get(id)
            if thing is None:
                self.lose(goal, coded("planner.gone", name=id))
            elif holds(goal, self.scene, self.robot_id, self.places):
                found.append(goal)
            elif not _is_located(thing) and id != self.hand and self.profile is not None and self.profile.ops:
                self.lose(goal, coded("planner.no_position", where=self.name(id)))
            elif (other := self._in_another_hand(goal)) is not None:
                self.lose(goal, other)
            elif (shut := self._shut_in(id)) is not None:
                self.lose(goal, coded("planner.shut_in", name=self.name(id), where=self.name(shut.id)))
            elif id in self.limits.abandoned:
                self.lost.append((goal, self.limits.abandoned[id]))
            elif not planned_actions.supports_op(self.profile, planned_actions.PICK) and id != self.hand:
                self.lose(goal, coded("planner.no_op", what=planned_actions.PICK))
            elif not isinstance(goal, HoldingGoal) and not planned_actions.supports_op(
                self.profile, planned_actions.PLACE
            ):
                self.lose(goal, coded("planner.no_op", what=planned_actions.PLACE))
            elif isinstance(goal, InGoal) and (box := self.scene.thing(goal.container)) is not None:
                if opens(box) and box.status != "open":
                    self.lose(goal, coded("planner.shut", where=self.name(box.id)))
                elif not fits(thing, box):
                    self.lose(goal, coded("planner.too_large", name=self.name(id), where=self.name(box.id)))
                elif space[box.id] < volume(thing):
                    self.lose(goal, coded("planner.full", name=self.name(id), where=self.name(box.id)))
                else:
                    space[box.id] -= volume(thing)
                    found.append(goal)
            elif isinstance(goal, OnGoal) and (under := self.scene.thing(goal.support)) and not bears(under):
                self.lose(goal, coded("planner.lid_up", where=self.name(under.id)))
            else:
                found.append(goal)
        return self._borne(found)

    def _borne(self, goals: list[Goal]) -> list[Goal]:
        """Without what is to stand on a thing in a container, and without each level of a stack over one that is lost:
        it would be built elsewhere."""
        brought = {subject(g) for g in goals if not isinstance(g, HoldingGoal)}
        missed = {subject(g): g for g, _ in self.lost if isinstance(g, OnGoal)}
        for goal in goals:
            if not isinstance(goal, OnGoal) or holds(goal, self.scene, self.robot_id, self.places):
                continue
            box = final_support(self.places, goal.support)
            if goal.support in missed:
                what = task_text.goal_text(missed[goal.support], self.scene)
                self.lose(goal, coded("planner.not_begun", what=what))
            elif goal.support in self.now and goal.support not in brought and box.relation == "in" and not goal.at:
                self.lose(goal, coded("planner.in_box", name=self.name(goal.support), where=self.name(box.of)))
            else:
                continue
            return self._borne([one for one in goals if one is not goal])
        return goals

    def _shut_in(self, id: str) -> Thing | None:
        """The drawer or chest that a thing is in, if that is not open."""
        spot = final_support(self.places, id)
        box = self.scene.thing(spot.of) if spot.relation == "in" else None
        return box if box is not None and opens(box) and is_shut(box) else None

    def _in_another_hand(self, goal: Goal) -> CodedText | None:
        """Why a thing cannot be brought to what this goal names: another robot holds that."""
        if isinstance(goal, BesideGoal | TowardGoal | ApartGoal):
            to = goal.other
        else:
            to = goal.support if isinstance(goal, OnGoal) else ""
        robot = self.held_elsewhere.get(to)
        return coded("planner.other_holds", name=self.name(to), robot=robot) if robot else None

    def _problem(self, wanted: list[Goal]) -> PlacementProblem:
        want = {subject(g): end_of(g, self.places, self.scene) for g in wanted if not isinstance(g, HoldingGoal)}
        met = {id for g in wanted if (id := subject(g)) in want and holds(g, self.scene, self.robot_id, self.places)}
        free = tuple(subject(g) for g in wanted if isinstance(g, HoldingGoal))
        if self.hand and self.hand not in want and self.hand not in free and self.lost:
            want[self.hand] = ThingLocation(
                "on", self.surface_of(self.hand)
            )  # an abandoned thing is not kept in the gripper
        after: dict[str, tuple[str, ...]] = {
            g.object: (g.other,)
            for g in wanted
            if isinstance(g, (BesideGoal, TowardGoal, ApartGoal)) and want.get(g.other, ThingLocation()).of != g.object
        }
        for goal in wanted:
            if isinstance(goal, CentreGoal):  # once what is put away from there is gone
                after[goal.object] = self._leaving(goal, wanted)
        beside = frozenset(subject(g) for g in wanted if former_place(g))
        for goal in wanted:
            if at := former_place(goal):  # once what came there meanwhile is put back as well
                bench = self._bench(self.now, self.places)
                there = placement.in_place_of(self.now[subject(goal)], at, bench, want[subject(goal)])
                left = [one for one in there if one in {*want} - met and subject(goal) not in after.get(one, ())]
                after[subject(goal)] = (*after.get(subject(goal), ()), *left)
        self._dig(wanted, want, met, after)
        order = [*(subject(g) for g in wanted if subject(g) not in self.limits.late), *self.limits.late]
        stop = frozenset(self.limits.protected) | (frozenset(self.limits.abandoned) & set(self.places)) - {self.hand}
        aside = next((s.id for s in surfaces(self.scene)), "")
        return PlacementProblem(
            self.places, want, frozenset(met), free, stop, aside, tuple(dict.fromkeys(order)), after, beside
        )

    def _leaving(self, goal: CentreGoal, wanted: list[Goal]) -> tuple[str, ...]:
        """What goes into a container from the surface, but for what the thing rests on."""
        here, under = ThingLocation("on", goal.support), set[str]()
        spot = self.places[goal.object]
        while spot.relation == "on" and spot.of in self.places and spot.of not in under:
            under.add(spot.of)
            spot = self.places[spot.of]
        boxed = [g.object for g in wanted if isinstance(g, InGoal)]
        return tuple(id for id in boxed if id not in under and final_support(self.places, id) == here)

    def _dig(
        self, wanted: list[Goal], want: dict[str, ThingLocation], met: set[str], after: dict[str, tuple[str, ...]]
    ) -> None:
        """Neighbours out of the container first, back only when what they were lifted for is where it should be."""
        asked = {subject(g) for g in wanted} - met
        for id, others in self.limits.dig.items():
            box = final_support(self.places, id)
            for other in others if id in asked and box.relation == "in" else ():
                if other in self.limits.abandoned or other not in self.places:
                    continue
                if final_support(self.places, other) == box:
                    want[other] = ThingLocation("on", self.surface_of(other))
                    self.aside.add(other)
                    met.discard(other)
                    after[id] = (*after.get(id, ()), other)
                elif other in want:
                    after[other] = (*after.get(other, ()), id)

    def _carry(
        self, moves: list[PlannedMove], wanted: list[Goal]
    ) -> tuple[list[PlannedAction], list[tuple[Goal, str]], Scene]:
        """Moves to actions, each with a place found in the scene as it will be then."""
        goal_of = {subject(g): g for g in wanted}
        actions: list[PlannedAction] = []
        places, now = dict(self.places), dict(self.now)
        stuck: set[str] = set()
        no_room: set[tuple[object, ...]] = set()  # what found none where it was to lie; its like finds none either
        for move in moves:
            if move.object in stuck or move.to.of in stuck:
                stuck.add(move.object)
                continue
            bench = self._bench(now, places)
            final = move.final and move.object not in self.aside
            goal = goal_of.get(move.object) if final else None
            spot = self._spot(move, goal, bench, no_room)
            if spot is None or not all(map(math.isfinite, spot)):
                stuck.add(move.object)
                name, where = self.name(move.object), self.name(move.to.of)
                point = goal.position if isinstance(goal, PlacedGoal) else former_place(goal)
                no_spot = coded("planner.no_room", name=name, where=where)
                if spot is not None:
                    no_spot = coded("planner.no_position", where=where)
                elif point:
                    at = ", ".join(f"{v:g}" for v in point)
                    no_spot = coded("planner.place_far", name=name, where=at)
                    if bench.can_reach(*point[:2]):
                        there = placement.in_place_of(bench.now[move.object], point, bench, move.to)
                        others = [self.name(id) for id in there if id not in bench.now or _is_located(bench.now[id])]
                        no_spot = coded("planner.place_taken", name=name, where=at, others=others)
                        if there and not others:
                            lost = [self.name(id) for id in there]
                            no_spot = coded("planner.room_unknown", names=lost, where=where)
                        elif not others and placement.is_bare(point[0], point[1], bench):
                            no_spot = coded("planner.place_bare", name=name, where=at)
                elif move.to.relation == "in":
                    self.full.add(move.to.of)
                    box = self.scene.thing(move.to.of)
                    far = box is not None and not placement.comes_into(box, bench)
                    no_spot = coded("planner.far" if far else "planner.full", name=name, where=where)
                    if box is not None and not _is_located(box):
                        no_spot = coded("planner.no_position", where=where)
                elif lost := [self.name(t.id) for t in bench.obstacles(move.object) if not _is_located(t)]:
                    no_spot = coded("planner.room_unknown", names=lost, where=where)
                self.lose(goal or goal_of.get(move.object) or DownGoal(move.object), no_spot)
                continue
            # a free spot on furniture is sent as a position only: with the name the driver would choose another
            named = move.to.of in places or move.to.relation == "in"
            steps = [
                planned_actions.place_action(move.object, spot, move.to, final=final, named=named, stage=self.stage)
            ]
            if places[move.object].relation != "held":
                steps.insert(0, planned_actions.pick_action(move.object, self.robot_id, self.profile, self.stage))
            if why := self._refused(steps, places, now):
                stuck.add(move.object)
                self.lost.append((goal or goal_of.get(move.object) or DownGoal(move.object), why))
                continue
            actions += steps
            left = settled_at(places, move.object).of
            no_room = {like for like in no_room if like[0] != left}
            places[move.object] = move.to
            now[move.object] = replace(now[move.object], position=spot)
        for goal in wanted:
            if isinstance(goal, HoldingGoal) and goal.object not in stuck and places[goal.object].relation != "held":
                if stuck and self.hand:
                    continue
                step = planned_actions.pick_action(goal.object, self.robot_id, self.profile, self.stage)
                if why := self._refused([step], places, now):
                    self.lost.append((goal, why))
                    continue
                actions.append(step)
                places[goal.object] = ThingLocation("held", self.robot_id)
        return actions, self.lost, after_moves(self.scene, places, now, self.robot_id)

    def _bench(self, now: dict[str, Thing], places: dict[str, ThingLocation]) -> placement.PlacementScene:
        return placement.PlacementScene(self.scene, self.scene.robot(self.robot_id), self.profile, now, places)

    def _refused(
        self, steps: Sequence[PlannedAction], places: Mapping[str, ThingLocation], now: Mapping[str, Thing]
    ) -> str:
        """Why one of the steps cannot be carried out once those before it are; "" for nothing."""
        then = dict(places)
        for step in steps:
            scene = after_moves(self.scene, then, now, self.robot_id)
            if why := self.group.why_not(step, scene):
                return why
            then[step.object] = step.to
        return ""

    def _spot(
        self, move: PlannedMove, goal: Goal | None, bench: placement.PlacementScene, no_room: set[tuple[object, ...]]
    ) -> Vec | None:
        thing, avoid = bench.now[move.object], self.limits.spots.get(move.object, ())
        if isinstance(goal, PlacedGoal):
            return placement.at_position(thing, goal.position, bench)
        if at := former_place(goal):
            return placement.at_position(thing, at[:2], bench, move.to)
        if isinstance(goal, (BesideGoal, TowardGoal)):
            return placement.beside(thing, goal, bench, avoid)
        if move.to.of in bench.now:
            return placement.on_thing(thing, bench.now[move.to.of])
        support = self.scene.thing(move.to.of)
        if support is None:
            return None
        if move.to.relation == "in":
            like = (support.id, thing.shape, thing.size, thing.orientation, tuple(avoid))
            if like in no_room:
                return None
            spot = placement.in_container(thing, support, bench, avoid, close=support.id in self.close)
            if spot is None:
                no_room.add(like)
            return spot
        if isinstance(goal, CentreGoal):
            return placement.in_the_middle(thing, support, bench, avoid)
        return placement.on_surface(
            thing, support, bench, avoid, goal if isinstance(goal, (AreaGoal, ApartGoal)) else None
        )


def _is_located(thing: Thing) -> bool:
    return len(thing.position) >= 2 and all(map(math.isfinite, thing.position[:2]))
