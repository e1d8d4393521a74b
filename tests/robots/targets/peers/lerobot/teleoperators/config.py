import abc
from dataclasses import dataclass
from pathlib import Path

from ..choices import ChoiceRegistry


@dataclass(kw_only=True)
class TeleoperatorConfig(ChoiceRegistry, abc.ABC):
    id: str | None = None
    calibration_dir: Path | None = None

    @property
    def type(self):
        return self.get_choice_name(self.__class__)
