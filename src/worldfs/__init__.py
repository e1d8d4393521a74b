"""worldfs: an operating system for agents whose whole interface is files."""

__version__ = "0.1.0"
