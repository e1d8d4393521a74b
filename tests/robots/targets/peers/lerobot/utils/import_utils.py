import importlib
import importlib.metadata
import logging


def make_device_from_device_class(config):
    """The class called as its configuration without `Config`, from the module or package that has it."""
    name = type(config).__name__.removesuffix("Config")
    module = type(config).__module__
    for candidate in (module, module.rpartition(".")[0]):
        made = getattr(importlib.import_module(candidate), name, None) if candidate else None
        if made is not None:
            return made(config)
    raise ImportError(f"Could not locate device class '{name}'")


def register_third_party_plugins():
    prefixes = ("lerobot_robot_", "lerobot_camera_", "lerobot_teleoperator_", "lerobot_policy_")
    for dist in importlib.metadata.distributions():
        name = dist.metadata.get("Name")
        if name and name.startswith(prefixes):
            try:
                importlib.import_module(name)
            except Exception:
                logging.exception("Could not import third-party plugin: %s", name)
