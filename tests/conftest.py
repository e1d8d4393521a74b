"""For every test: a property is no stopwatch, so a busy machine fails none; and Ctrl-C is heard."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("house"), max_examples=20)
settings.load_profile("house")

# A shell starts what runs in the background deaf to it, and all that a test starts would be so too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
