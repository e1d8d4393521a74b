"""An instruction: it waits for its turn at a robot, reports whose turn it is, and ends when the robot is stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded, render
from worldfs.base.messages.coded_text import language_of
from worldfs.base.stop_signal import StopSignal
from worldfs.base.stop_words import has_stop_word
from worldfs.planning.planner import Intent, QuestionIntent, RefusedIntent, interpret
from worldfs.planning.planner.scene_facts import sanitized_scene
from worldfs.runtime.instruction_turns import TURNS, InstructionTurn
from worldfs.runtime.stop_log import STOPS
from worldfs.storage.lease import RELEASE_S

from .loss_notices import lease_keys, lost_text
from .stops_followed import stops_followed

if TYPE_CHECKING:
    from worldfs.runtime.stop_log import StopState
    from worldfs.storage.store_interface import StoreChange

    from .world import World

LONGEST: Final = 60  # characters of an instruction in messages to others


class Instruction:
    """`start` before the planner; `check_stopped` before each step sets `stop` once the robot has been stopped."""

    def __init__(
        self,
        world: World,
        node: str,
        text: str,
        stop: StopSignal,
        tell: Callable[[str], None] = lambda line: None,
        *,
        mission: str = "",
        by_model: bool = False,
    ) -> None:
        """`mission`: the mission that gives the instruction. `by_model`: a model may read what the grammar does not."""
        self._mission, self._by_model = mission, by_model
        self.understood = True  # False: it waited for no turn, because it is no instruction
        self._why = ""  # so
        self._world, self._node, self._text, self._stop, self._tell = world, node, text, stop, tell
        self._turn: InstructionTurn | None = None
        self._watched = ExitStack()  # the stops, during the turn
        self._count: int | None = None  # stops of the robot when the turn began
        self.job = ""  # the last that it has ordered
        self.stopped = False  # the robot was stopped before the instruction, or has been since

    @property
    def robot(self) -> str:
        """The robot that carries it out."""
        return self._node

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """The turn is over: another instruction may have the robot."""
        self._watched.close()
        if self._turn is not None:
            self._turn.release()
            self._turn = None

    def start(self) -> str:
        """Wait for the turn. "" once it is acquired, or none is needed; else why the instruction may not go on."""
        now = self._now()
        if now.stopped:
            if self._needs_no_turn():
                return self._why
            self.stopped = True
            return self.stop_text(now)
        what = " ".join(self._text.split())
        short = what if len(what) <= LONGEST else what[: LONGEST - 1] + "…"
        self._turn = InstructionTurn(self._world.store, self._node, short, self._world.clock)
        if not self._first(self._turn):
            if not self.understood:
                return self._why
            return render(coded("runtime.cancelled_waiting"), self.language)
        self._count = self._now().number
        if self._mission:
            self._turn.note(mission=self._mission)
        self._watched.enter_context(stops_followed(self._world.store, self.check_stopped))
        return ""

    def check_stopped(self) -> bool:
        """Set `stop` if the robot was stopped since the turn began, even if it was resumed since."""
        if self._count is not None and not self.stopped and self._now().number != self._count:
            self.stopped = True
            self._stop.set()
        return self.stopped

    def set_job(self, job: str) -> None:
        self.job = job
        if self._turn is not None:
            self._turn.set_job(job)

    def stop_text(self, stop: StopState | None = None, *, wait_s: float = 0.0) -> str:
        """`wait_s`: how long its standstill may still be confirmed."""
        found, stands = stop or self._now(), self._world.robot_stops.await_confirmed(self._node, wait_s)
        if not found.stopped:
            return render(coded("runtime.robot_was_stopped", node=self._node), self.language)
        told = coded("runtime.stop_in_force", said=stands.text, node=self._node, by=found.by, at=found.at)
        return render(told, self.language)

    def _first(self, turn: InstructionTurn) -> bool:
        """Wait for the turn and for a resumed robot; False: asked to stop before. Each change is reported."""
        said: str = ""
        changes: Sequence[StoreChange] = ()
        keys = lease_keys(self._world)
        with self._world.store.watch(TURNS, STOPS, *keys) as watch, self._stop.calling(watch.wake):
            while not self._stop.is_set():
                ahead = turn.try_acquire()
                if ahead is None and not self._now().stopped:
                    return True
                if ahead and not said and self._needs_no_turn():
                    turn.release()
                    self._turn = None
                    return self.understood
                if lost := lost_text(self._world, self._node) if keys else "":
                    told = lost
                elif ahead is None:
                    told = coded("runtime.waiting_stopped", node=self._node)
                else:
                    told = coded("runtime.waiting", node=self._node, what=ahead.get("purpose"), pid=ahead.get("pid"))
                if ahead != {} and said != told:
                    said = told
                    self._tell(render(said, self.language))
                changes = watch.read(RELEASE_S if ahead == {} or changes else None)
        return False

    def _needs_no_turn(self) -> bool:
        """Whether it is a question, or no instruction at all. What was to stop the robot must not wait until it stands.
        What a model may read, and what depends on what moves meanwhile, waits."""
        intent = self._intent()
        if not isinstance(intent, RefusedIntent):
            return isinstance(intent, QuestionIntent)
        meant = intent.kind == "negation" or has_stop_word(self._text)
        if not meant and (intent.kind in ("ambiguous", "impossible") or (self._by_model and intent.kind == "unknown")):
            return False
        self.understood = False
        plain = render(coded("runtime.no_order", why=intent.reason), self.language)
        self._why = intent.reason if intent.names_stop else plain
        return True

    def _intent(self) -> Intent | None:
        """The grammar's reading. None: the scene cannot be read."""
        try:
            port = self._world.planner_port(self._node)
            scene = sanitized_scene(port.scene())
            return interpret(self._text, scene, port.earlier, profile=port.profile(), robot_id=self._node)
        except WorldError:
            return None

    def _now(self) -> StopState:
        return self._world.stops.state(self._node)

    @property
    def language(self) -> str:
        """The language of the instruction."""
        return language_of(self._text)
