"""For every test: a property is no stopwatch, so a busy machine fails none."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("house"), max_examples=20)
settings.load_profile("house")
