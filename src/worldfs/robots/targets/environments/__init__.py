"""Environments that run in a process and a Python of their own: the parent side, and what runs there."""
