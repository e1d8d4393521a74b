"""Agents: each has a directory of its own; reading, writing, checking and importing it (Agent State v1)."""
