"""Benches: each module's `run()` gives figures by name; `python -m bench` prints and keeps them."""
