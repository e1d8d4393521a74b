from .config import TeleoperatorConfig
from .utils import make_teleoperator_from_config

__all__ = ["TeleoperatorConfig", "make_teleoperator_from_config"]
