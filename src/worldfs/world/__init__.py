"""The world floor: what hangs where, and the one place that assembles it."""
