from .config import RobotConfig
from .robot import Robot
from .utils import make_robot_from_config

__all__ = ["Robot", "RobotConfig", "make_robot_from_config"]
