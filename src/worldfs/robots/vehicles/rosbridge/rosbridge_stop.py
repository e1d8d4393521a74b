"""What stops a ROS 2 robot: every goal of its navigation cancelled, and a velocity of nothing. Also for the guard."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Final

from worldfs.base.json_values import as_object, as_text
from worldfs.base.model import Json

from .ros_state import twist

CONNECT_S: Final = 2.0  # real seconds


def stop_operations(action: str, cmd_vel: str, kind: str, goal: str = "") -> Iterator[Json]:
    """Operations of rosbridge. `goal`: the id of the one that is known; `action` "" for a robot without navigation.

    The service of every ROS 2 action server cancels all of its goals when it is given no id and no time.
    """
    if goal:
        yield {"op": "cancel_action_goal", "id": goal, "action": action}
    if action:
        nothing = {"goal_info": {"goal_id": {"uuid": [0] * 16}, "stamp": {"sec": 0, "nanosec": 0}}}
        yield {
            "op": "call_service", "service": f"{action}/_action/cancel_goal", "type": "action_msgs/srv/CancelGoal",
            "args": nothing,
        }  # fmt: skip
    if cmd_vel:
        yield {"op": "publish", "topic": cmd_vel, "msg": twist(0.0, 0.0, 0.0, kind)}


def stopper(settings: Mapping[str, object]) -> Callable[[], None]:
    """For watchdog_process.py: a connection of its own, now; each call stops the robot, over a new one if need be."""
    from websockets.sync.client import connect

    url, headers = as_text(settings["url"]), {k: as_text(v) for k, v in as_object(settings["headers"]).items()}
    topic, kind = as_text(settings["cmd_vel"]), as_text(settings["cmd_vel_type"])

    def reach() -> Callable[[Json], None]:
        opened = connect(url, open_timeout=CONNECT_S, additional_headers=headers, compression=None, proxy=None)
        connection = ExitStack().enter_context(opened)  # for the life of this process
        if topic:
            connection.send(json.dumps({"op": "advertise", "topic": topic, "type": kind}))
        return lambda operation: connection.send(json.dumps(operation))

    send = [reach()]

    def stop() -> None:
        for attempt in range(3):
            try:
                for operation in stop_operations(as_text(settings["action"]), topic, kind):
                    send[0](operation)
                return
            except Exception:  # the connection has ended: another one
                if attempt < 2:
                    send[0] = reach()

    return stop
