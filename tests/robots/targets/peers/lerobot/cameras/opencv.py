from dataclasses import dataclass

from . import CameraConfig


@CameraConfig.register_subclass("opencv")
@dataclass
class OpenCVCameraConfig(CameraConfig):
    index_or_path: int | str
