import abc


class Robot(abc.ABC):
    def __init__(self, config):
        self.robot_type = self.name
        self.id = config.id
        self.calibration = {}

    @property
    @abc.abstractmethod
    def observation_features(self): ...

    @property
    @abc.abstractmethod
    def action_features(self): ...

    @property
    @abc.abstractmethod
    def is_connected(self): ...

    @abc.abstractmethod
    def connect(self, calibrate=True): ...

    @property
    @abc.abstractmethod
    def is_calibrated(self): ...

    @abc.abstractmethod
    def calibrate(self): ...

    @abc.abstractmethod
    def configure(self): ...

    @abc.abstractmethod
    def get_observation(self): ...

    @abc.abstractmethod
    def send_action(self, action): ...

    @abc.abstractmethod
    def disconnect(self): ...
