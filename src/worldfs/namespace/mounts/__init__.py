"""Mounts: a mount says which store holds a row's bytes, and which names exist."""
