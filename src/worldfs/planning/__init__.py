"""The critic and the planner. They use ports and formats, never a driver."""
