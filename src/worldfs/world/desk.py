"""The planner's desk: what a planner reads, submits and writes, through the tree, with the planner's rights."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from worldfs.formats import embodied, environment, lessons, task
from worldfs.ground.errors import BadInput
from worldfs.ground.model import JobStatus, Note, Order, Profile, Scene, Task
from worldfs.roles.lessons import avoid

from .documents import Document
from .layout import PLANNER

if TYPE_CHECKING:
    from .instruction import Instruction
    from .world import World


PATIENCE_S = 2.0  # after so long without an end, look whether anybody is there to bring it about


class Desk:
    """One node's desk (`worldfs.roles.planner.desk.Desk`)."""

    def __init__(
        self,
        world: World,
        project: str,
        node: str,
        tell: Callable[[str], None] = lambda text: None,
        instruction: Instruction | None = None,
    ) -> None:
        self.robot_id = node
        self.instruction = instruction
        self.world = world
        self.tell = tell
        base = f"/projects/{project}"
        self._environment = Document(world.tree, f"{base}/ENVIRONMENT.md", PLANNER, environment.read)
        self._lessons = Document(world.tree, f"{base}/LESSONS.md", PLANNER, lessons.read)
        self._profile = Document(world.tree, f"/nodes/{node}/EMBODIED.md", PLANNER, embodied.read)
        self._task = Document(world.tree, f"{base}/TASK.md", PLANNER, task.read)

    def scene(self) -> Scene:
        if self.instruction is not None:
            self.instruction.look()  # the planner reads the scene before each step: a stop ends it there
        return self._environment.get().scene

    def profile(self) -> Profile | None:
        try:
            profile = self._profile.get()
        except BadInput:
            return None
        return profile if profile.ops else None

    def language(self) -> str:
        return self.world.language()

    def lessons(self) -> Sequence[Note]:
        try:
            return self._lessons.get()
        except BadInput:
            return ()  # a broken memory does not stop the hands; `paos check` names it

    def avoid(self, order: Order) -> Note | None:
        return avoid(self.lessons(), order, self.scene())

    def submit(self, order: Order) -> str:
        order = replace(order, id=order.id or self.world.new_id(), node=order.node or self.robot_id)
        if self.instruction is not None:
            self.instruction.carries(order.id)
        return self.world.submit(order, PLANNER)

    def wait(self, job_id: str, stop: threading.Event) -> JobStatus:
        while True:
            status = self.world.wait_job(job_id, timeout=PATIENCE_S, stop=stop)
            if self.instruction is not None:
                self.instruction.look()
            if status.state.terminal or stop.is_set():
                return status
            self.world.carried()

    def cancel(self, job_id: str) -> None:
        self.world.cancel(job_id, PLANNER)

    def write_task(self, value: Task) -> None:
        self._task.change(lambda data: task.write(data or None, value, language=self.language()))

    def progress(self, text: str) -> None:
        self.tell(text)

    def now(self) -> datetime:
        return self.world.clock.now()
