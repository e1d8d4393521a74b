"""Sessions of skills: a target, a skill runtime and a policy behind the one port of drivers."""
