"""Skill runtimes: how a skill is carried out on a target: scripted, by constraints, by a policy."""
