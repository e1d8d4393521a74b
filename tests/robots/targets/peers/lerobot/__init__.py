"""Stand-in for lerobot 0.4.4: the names and the behaviour of its robot interface, over a simulated arm."""

__version__ = "0.4.4"
