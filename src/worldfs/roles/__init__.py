"""The minds: critic, planner. They see ports and formats, never a driver."""
