"""What became of a stop: for each robot, whether its driver has confirmed that it stands; as JSON over the socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded, read_coded, stored_form


class RobotStop(NamedTuple):
    """`why`: why the standstill is not confirmed; of one that is, by what, "" where its driver says so. `told`: whether
    the stop was delivered: its driver, or a kernel that has one, was told. `stopped`: whether the stop is in force:
    where no driver was told, the next start begins stopped."""

    node: str
    confirmed: bool
    why: str = ""
    told: bool = True
    stopped: bool = True

    @property
    def mood(self) -> str:
        return "good" if self.confirmed else "bad"

    @property
    def text(self) -> str:
        if self.confirmed:
            return self.why or coded("stop.confirmed", node=self.node)
        if self.told:
            return coded("stop.unconfirmed", node=self.node, why=self.why)
        return coded("stop.robot_not_delivered", node=self.node, why=self.why)

    def as_json(self) -> dict[str, object]:
        """Each of the three is true or false, and nothing else."""
        known = {"stopped": self.stopped, "delivered": self.told, "confirmed": self.confirmed}
        return {"node": self.node, **known, "why": self.why}


class StopReport(NamedTuple):
    """`unstored`: why the stop is not in the log yet; "": it is there. `others`: other processes may serve robots that
    it is for."""

    robots: tuple[RobotStop, ...] = ()
    unstored: str = ""
    others: bool = False

    @property
    def nodes(self) -> list[str]:
        return [robot.node for robot in self.robots]

    @property
    def confirmed(self) -> bool:
        return all(robot.confirmed for robot in self.robots)


def read_stop_file(node: str, data: bytes) -> RobotStop:
    """What a robot's `stop` file says of its last stop; what cannot be read confirms nothing."""
    try:
        found = as_object(parse_json(data))
    except ValueError:
        found = {}
    stopped = found.get("stopped") is True
    sure, told = stopped and found.get("confirmed") is True, not stopped or found.get("delivered") is not False
    why = "" if sure else as_text(found.get("why")) or coded("stop.no_measurement")
    return RobotStop(node, sure, why, told, stopped)


def robot_value(robot: RobotStop) -> dict[str, object]:
    value = {"node": robot.node, "confirmed": robot.confirmed, "told": robot.told}
    return {**value, "why": text_value(robot.why)}


def read_robot(value: object) -> RobotStop | None:
    """None for a value that names no robot; whatever is not exactly true confirms nothing."""
    found = as_object(value)
    node = as_text(found.get("node"))
    told = found.get("told") is not False
    return RobotStop(node, found.get("confirmed") is True, read_text(found.get("why")), told) if node else None


def text_value(text: str) -> dict[str, object]:
    return {"text": str(text), "coded": stored_form(text)}


def read_text(value: object) -> str:
    found: Mapping[str, object] = as_object(value)
    return read_coded(as_text(found.get("text")), found.get("coded"))


def hang_field(node: str) -> str:
    """Of the alert that a driver's stop has not returned: also after a resume, as long as that is so."""
    return f"stop call {node}"
