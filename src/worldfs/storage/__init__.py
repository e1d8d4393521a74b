"""Stores: bytes under keys, with revisions, compare-and-swap and a watch. One file a backend."""
