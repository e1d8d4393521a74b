"""Vehicles that drive themselves to a goal: the port, the declarations of TARGETS.md, and the protocols behind it."""
