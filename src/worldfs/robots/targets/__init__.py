"""Targets: what skills run on. A Gymnasium environment behind an adapter, simulated or real."""
