"""The planner: instruction to goals, goals to actions, one action at a time, and an honest report."""
