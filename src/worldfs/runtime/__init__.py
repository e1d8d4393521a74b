"""The kernel layer: jobs, schedule, admission, dispatch, recovery. It alone waits for the time to pass."""
