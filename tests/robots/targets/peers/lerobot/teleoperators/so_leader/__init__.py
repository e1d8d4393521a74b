"""A leader has the follower's servos, in no power, and is only read."""

from dataclasses import dataclass, field

from ...robots.so_follower import SO101Follower
from ..config import TeleoperatorConfig


@TeleoperatorConfig.register_subclass("so101_leader")
@dataclass
class SO101LeaderConfig(TeleoperatorConfig):
    port: str
    use_degrees: bool = True
    cameras: dict = field(default_factory=dict, init=False)


class SO101Leader(SO101Follower):
    name = "so_leader"

    def get_action(self):
        return self.get_observation()

    def send_action(self, action):
        raise NotImplementedError
