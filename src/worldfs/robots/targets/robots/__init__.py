"""Robots behind the safety layer, each driven by the library that its makers or users maintain."""
