"""Agents: minds with a directory of their own, and everything that keeps it (Agent State v1)."""
