from ..utils.import_utils import make_device_from_device_class


def make_robot_from_config(config):
    if config.type == "so101_follower":
        from .so_follower import SO101Follower

        return SO101Follower(config)
    try:
        return make_device_from_device_class(config)
    except Exception as error:
        raise ValueError(f"Error creating robot with config {config}: {error}") from error
