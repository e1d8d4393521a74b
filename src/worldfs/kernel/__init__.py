"""The kernel floor: jobs, schedule, admission, dispatch, recovery. Time passes here and only here."""
