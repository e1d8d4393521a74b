from dataclasses import dataclass

from ..choices import ChoiceRegistry


@dataclass(kw_only=True)
class CameraConfig(ChoiceRegistry):
    fps: int | None = None
    width: int | None = None
    height: int | None = None
